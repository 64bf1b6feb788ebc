"""What may differ between StableHLO as Halite writes it and as XLA's converter does. `OPERATIONS` and `INTERFACES` are the whole table.

A rule takes both sides to one spelling, and changes nothing else: what it does not know stays, and is a difference. Beside these, names of
values and of private functions, locations, and the order of operations that do not read each other are no part of what is compared.
"""

import re

from operations import Operation, element

DEFAULT_PRECISION = "[#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]"
COLLECTIVES = {f"stablehlo.{name}" for name in ("all_gather", "all_reduce", "all_to_all", "collective_permute", "reduce_scatter")}
TUPLE = re.compile(r"tuple<(.*)>")
LAYOUT = re.compile(r"\{([\d,]*)\}")
ALIAS = re.compile(
    r'\{alias = \{kind = "must_alias", parameter_index = array<i64>, parameter_number = (\d+) : i64\}, output_index = array<i64(?:: (\d+))?>\}'
)


def without(op, name, default):
    if op.attributes.get(name) == default:
        del op.attributes[name]


def copies(op, _):
    return op.operands if op.name == "mhlo.copy" else None


def erf(op, _):
    if op.name == "mhlo.erf":
        op.name = "chlo.erf"


def precision(op, _):
    without(op, "precision_config", DEFAULT_PRECISION)


def comparison(op, _):
    if op.name == "stablehlo.compare":
        kind = element(op.operand_types[0])
        usual = "FLOAT" if "f" in kind else "UNSIGNED" if kind == "i1" or kind.startswith("ui") else "SIGNED"
        without(op, "compare_type", f"#stablehlo<comparison_type {usual}>")


def configuration(op, _):
    without(op, "backend_config", '""')


def channels(op, _):
    said = op.attributes.get("channel_handle")
    if said and op.name in COLLECTIVES:
        op.attributes["channel_handle"] = said.replace("type = 0>", "type = 1>")


def is_row_major(shape):
    layouts = [[int(number) for number in layout.split(",") if number] for layout in LAYOUT.findall(shape)]
    return all(layout == list(range(len(layout)))[::-1] for layout in layouts)


def tuples(op, _):
    if op.name == "stablehlo.get_tuple_element":
        [(key, _)] = op.operands
        return [(key, int(op.attributes["index"].split()[0]))]
    match = TUPLE.fullmatch(op.types[0]) if len(op.types) == 1 else None
    if op.name == "stablehlo.custom_call" and match:
        op.types = match[1].split(", ")
        if is_row_major(op.attributes.get("xla_shape", "")):
            op.attributes.pop("xla_shape", None)


def products(op, _):
    if op.name == "stablehlo.dot":
        last = op.operand_types[0].count("x") - 1
        numbers = f"lhs_contracting_dimensions = [{last}], rhs_contracting_dimensions = [0]"
        op.name, op.attributes["dot_dimension_numbers"] = "stablehlo.dot_general", f"#stablehlo.dot<{numbers}>"


def truth(op, enter):
    [*kinds] = op.operand_types
    if op.name == "stablehlo.convert" and element(op.types[0]) == "i1" and element(kinds[0]) != "i1":
        zero = "0.000000e+00" if "f" in element(kinds[0]) else "0"
        zeros = Operation("stablehlo.constant", [], [], kinds, {"value": f"dense<{zero}> : {kinds[0]}"})
        op.name, op.operands, op.operand_types = "stablehlo.compare", op.operands + enter(zeros), kinds * 2
        op.attributes["comparison_direction"] = "#stablehlo<comparison_direction NE>"


OPERATIONS = [
    ("a copy is its operand", "HLO's `copy` is about buffers; StableHLO has none, so that the converter stays in MHLO", copies),
    ("`mhlo.erf` is `chlo.erf`", "StableHLO has no `erf`; the converter stays in MHLO, JAX and we write that of CHLO", erf),
    ("a `precision_config` of defaults is none", "the attribute is optional, and the specification says so of its absence", precision),
    ("the usual `compare_type` is none", "the converter leaves out the type that follows from the elements", comparison),
    ("an empty `backend_config` is none", "the converter writes what is not set, too", configuration),
    ("a collective's channel is between devices", "HLO has its number alone; the converter writes no type, JAX and we type 1", channels),
    ("a `dot` is a `dot_general`", "the converter writes the shorter one, since withdrawn, for a product of plain matrices or vectors", products),
    ("a tuple is its elements", "the converter keeps tuples of custom calls, with their row-major layouts in `xla_shape`", tuples),
    ("a number becomes truth by comparison with zero", "the converter writes this for HLO's `convert` to `pred`, which is the same", truth),
]


def defaults(interface):
    usual = {"mhlo.cross_program_prefetches": "[]", "mhlo.is_dynamic": "false", "mhlo.use_auto_spmd_partitioning": "false"}
    interface.module = {name: said for name, said in interface.module.items() if usual.get(name) != said}


def ranks(interface):
    for name in ("mhlo.num_replicas", "mhlo.num_partitions"):
        interface.module.pop(name, None)


def module_name(interface):
    if "sym_name" in interface.module:
        interface.module["sym_name"] = re.sub(r"[^\w.\-]", "_", interface.module["sym_name"].strip('"'))


def aliases(interface):
    said = interface.module.get("mhlo.input_output_alias", "[]")
    if not ALIAS.sub("", said).strip("[], "):
        interface.module.pop("mhlo.input_output_alias", None)
        interface.aliases = {int(parameter): int(result or 0) for parameter, result in ALIAS.findall(said)}
    for parameter, (_, own) in enumerate(interface.arguments):
        if "tf.aliasing_output" in own:
            interface.aliases[parameter] = int(own.pop("tf.aliasing_output").split()[0])


def result_names(interface):
    for _, said in interface.results:
        said.pop("jax.result_info", None)


INTERFACES = [
    ("what the module says by default is nothing", "the converter writes fields of HLO that nobody set", defaults),
    ("the number of ranks is no part of it", "HLO does not say it: it is given when a plugin compiles", ranks),
    ("a module's name has `_` for what is no letter or number", "the converter writes names so, we keep them", module_name),
    ("an alias is one, wherever it stands", "the converter keeps HLO's table, we write it on arguments as JAX does", aliases),
    ("names of results are left out", "they stand on the tuple at the root of the HLO, with which the converter drops them", result_names),
]
