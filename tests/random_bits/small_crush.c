/* SmallCrush of TestU01 (L'Ecuyer and Simard, 2007) on words of 32 bits, little-endian, from standard input. */
#include <bbattery.h>
#include <stdio.h>
#include <stdlib.h>
#include <unif01.h>

static unsigned int next(void) {
    unsigned char bytes[4];
    if (fread(bytes, 1, 4, stdin) != 4) {
        fprintf(stderr, "the words have ended\n");
        exit(2);
    }
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (unsigned int) bytes[3] << 24;
}

int main(void) {
    unif01_Gen *gen = unif01_CreateExternGenBits("interleaved streams", next);
    bbattery_SmallCrush(gen);
    unif01_DeleteExternGenBits(gen);
    return 0;
}
