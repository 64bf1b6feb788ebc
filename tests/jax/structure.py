"""What two modules of MLIR compute, operation by operation.

Each operation gets a key: its name, types, attributes, and the keys of what it reads, after the rules of `spellings.py`. Operations have one
key where everything that leads to them is the same. Modules are the same where their functions are: by interface and by how often
each key occurs, those that are not read among them.
"""

import collections

from jaxlib.mlir import ir
from operations import Interface, Operation, attributes
from spellings import INTERFACES, OPERATIONS


class Keys:
    """A number for each thing that is different from those before."""

    def __init__(self):
        self.numbers, self.things = {}, []

    def of(self, *thing):
        if thing not in self.numbers:
            self.numbers[thing] = len(self.things)
            self.things.append(thing)
        return self.numbers[thing]


class Structure:
    """The keys of a module's operations and functions, those that are not called left out."""

    def __init__(self, module, keys):
        self.keys, self.count, self.functions = keys, collections.Counter(), {}
        self.sources = {ir.StringAttr(op.attributes["sym_name"]).value: op for op in module.body.operations}
        self.module = attributes(module.operation.attributes)
        self.main = self.function("main")

    def function(self, name):
        if name not in self.functions:
            source = self.sources[name]
            interface = interface_of(source, self.module if name == "main" else {})
            self.functions[name] = self.keys.of("function", interface.key(), self.block(source.regions[0].blocks[0], "argument", {}))
        return self.functions[name]

    def block(self, block, kind, outer):
        """How often each key occurs in a block, whose arguments are of a kind."""
        values, found = dict(outer), collections.Counter()
        for number, argument in enumerate(block.arguments):
            values[argument] = (self.keys.of(kind, number, str(argument.type)), 0)
        for source in block.operations:
            results = self.enter(self.operation(source, values), found)
            values.update(zip(source.results, results))
        self.count.update(found)
        return tuple(sorted(found.items()))

    def operation(self, source, values):
        said = attributes(source.attributes)
        inner = [self.block(block, "inner argument", values) for region in source.regions for block in region.blocks]
        if "callee" in said:
            inner.append(self.function(said.pop("callee").removeprefix("@").strip('"')))
        operands = [values[operand] for operand in source.operands]
        kinds = [str(operand.type) for operand in source.operands]
        return Operation(source.operation.name, operands, kinds, [str(result.type) for result in source.results], said, tuple(inner))

    def enter(self, op, found):
        """The values that an operation gives."""
        for _, _, rule in OPERATIONS:
            values = rule(op, lambda new: self.enter(new, found))
            if values is not None:
                return values
        key = self.keys.of(op.name, tuple(op.operands), tuple(op.types), tuple(sorted(op.attributes.items())), op.inner)
        found[key] += 1
        return [(key, number) for number in range(len(op.types))]


def interface_of(function, module):
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    each = lambda kinds, name: [(str(kind), said) for kind, said in zip(kinds, said_of(function, name, len(kinds)))]
    interface = Interface(each(kind.inputs, "arg_attrs"), each(kind.results, "res_attrs"), dict(module))
    for _, _, rule in INTERFACES:
        rule(interface)
    return interface


def said_of(function, name, count):
    if name not in function.attributes:
        return [{} for _ in range(count)]
    return [{named.name: str(named.attr) for named in ir.DictAttr(said)} for said in ir.ArrayAttr(function.attributes[name])]


def first(own, other):
    """The operations of one side alone that read only what both have, each with its number: with these it begins."""
    keys = own.keys
    alone = own.count - other.count
    begins = lambda key: all(read not in alone for read, _ in keys.things[key][1])
    return [(number, shown(keys.things[key])) for key, number in alone.items() if begins(key)]


def shown(thing):
    name, operands, types, said, _ = thing
    said = ", ".join(f"{name} = {value[:80]}" for name, value in said)
    return f"{name} of {len(operands)} {{{said}}} -> {', '.join(types)}"


def compared(own, other):
    """How many operations the first module has, and in what the two differ."""
    keys = Keys()
    own, other = Structure(own, keys), Structure(other, keys)
    wrong = [f"only {side}: {count} x {op}" for side, pair in (("ours", (own, other)), ("theirs", (other, own))) for count, op in first(*pair)]
    if own.main != other.main and not wrong:
        wrong = ["the operations are the same, interfaces or functions are not: " + interfaces(own, other)]
    return own.count.total(), wrong


def interfaces(own, other):
    said = [side.keys.things[side.main][1] for side in (own, other)]
    parts = zip(("arguments", "results", "module", "aliases"), *said)
    return "; ".join(f"{part} {str(found)[:200]}, theirs {str(expected)[:200]}" for part, found, expected in parts if found != expected) or "functions"
