"""Runs one command from a small process and prints its wall seconds and peak resident bytes as JSON.

    python -I -S measure.py COMMAND ARGUMENT...

On Linux a process starts with the peak of the one that started it, so the bench, which is large, must not start it itself.
The smallest peak that can be seen is that of this process, about 10 MB. The command's output goes to stderr.
"""

import os
import sys
import time

start = time.perf_counter()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, 2, 1)])
_, status, usage = os.wait4(child, 0)
seconds = time.perf_counter() - start
print(f'{{"seconds": {seconds}, "peak_bytes": {usage.ru_maxrss * 1024}}}')
sys.exit(os.waitstatus_to_exitcode(status))
