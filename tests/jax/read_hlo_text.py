"""HLO texts that JAX's own XLA prints, read by Halite and held to the bytes that XLA gives of the same modules.

    pip install -r requirements.txt absl-py
    cargo build --release -p halite-hlo --example text
    python read_hlo_text.py ../../target/release/examples/text              # one in ten of JAX's harnesses, seeded
    python read_hlo_text.py ../../target/release/examples/text --every 1    # all of them

Programs are those of `read_stablehlo.py`. Each is printed four times: before it is compiled, for people and as XLA parses it again, and compiled,
with and without types of operands and call stacks. Modules are compared by the names of instructions: every field that Halite knows. And what XLA prints
of the bytes that Halite made is held to what it prints of its own, without the fields that Halite does not know. Refused ones are counted by the first fault; what differs is printed, and the
exit code is 1.
"""

import argparse
import collections
import subprocess
import sys
import tempfile
from pathlib import Path

import jax
from jaxlib import _hlo
from read_stablehlo import lowered


def options(**said):
    """XLA's options of printing; constants are whole."""
    made = _hlo.HloPrintOptions()
    made.print_large_constants = True
    for name, value in said.items():
        setattr(made, name, value)
    return made


PARSABLE = dict(print_percent=False, print_operand_shape=False, print_program_shape=False)
FORMS = {"lowered": {}, "short": PARSABLE, "compiled": {}, "wide": dict(print_operand_shape=True, print_control_dependencies=True)}


def modules(program):
    """The modules of a program by what they are called, as bytes of XLA."""
    yield "lowered", program.compiler_ir("hlo").as_serialized_hlo_module_proto()
    yield "short", program.compiler_ir("hlo").as_serialized_hlo_module_proto()
    compiled = program.compile().runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto()
    yield "compiled", compiled
    yield "wide", compiled


def texts(folder, every, seed):
    """The files of texts, with their forms."""
    for harness, _, program, file in lowered(folder, every, seed):
        for form, module in modules(program):
            own = Path(f"{file}.{form}.txt")
            read = _hlo.HloModule.from_serialized_hlo_module_proto(module)
            own.write_text(read.to_string(options(**FORMS[form])))
            # The form that XLA keeps of it, in which what older ones said is written as now.
            Path(f"{own}.pb").write_bytes(read.as_serialized_hlo_module_proto())
            yield own, form, harness.fullname


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reader", help="the example `text` of halite-hlo")
    parser.add_argument("--every", type=int, default=10, help="one harness of so many")
    parser.add_argument("--seed", type=int, default=0)
    said = parser.parse_args()
    counts, reasons, wrong = collections.Counter(), collections.Counter(), {}
    with tempfile.TemporaryDirectory() as folder:
        cases = list(texts(Path(folder), said.every, said.seed))
        faults = {}
        for start in range(0, len(cases), 200):
            files = [str(file) for file, *_ in cases[start : start + 200]]
            lines = subprocess.run([said.reader, *files], check=True, capture_output=True, text=True).stderr.splitlines()
            for line in lines:
                file, message = line.split("\t", 1)
                faults.setdefault(file, message)
        for file, form, name in cases:
            fault = faults.get(str(file))
            if fault is None:
                print_ = lambda kind: printed(Path(f"{file}.{kind}.pb"), FORMS[form])
                fault = first_difference(print_("hlo"), print_("kept"))
            kind = (fault or "equal").split(":", 1)[0]
            counts[form, kind] += 1
            if kind == "refused":
                reasons[fault] += 1
            elif fault:
                wrong.setdefault(fault, f"{form}, {name[:60]}")
    print(f"jax {jax.__version__}, {len(cases)} texts")
    for (form, kind), count in sorted(counts.items()):
        print(f"{count:>6}  {form}, {kind}")
    print("\n".join(f"{count:>6}  {what}" for what, count in reasons.most_common()))
    print("\n".join(f"{name}: {fault}" for fault, name in list(wrong.items())[:20]))
    return bool(wrong)


def printed(file, form):
    """The lines that XLA prints of bytes, or the reason why it does not. It prints instructions in the order that the root needs them."""
    try:
        module = _hlo.HloModule.from_serialized_hlo_module_proto(file.read_bytes())
    except jax.errors.JaxRuntimeError as refused:  # As where elements are complex, for which Halite has no field.
        return [str(refused).splitlines()[0]]
    return sorted(module.to_string(options(**form)).splitlines())


def first_difference(own, other):
    return next((f"prints: {pair}" for pair in zip(own, other) if pair[0] != pair[1]), None)


if __name__ == "__main__":
    sys.exit(main())
