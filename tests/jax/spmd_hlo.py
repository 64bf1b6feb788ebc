"""The HLO of one rank: read from what XLA dumps, changed in one place, and run on all ranks."""

import re

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxlib import _hlo, _jax, xla_client

#: Fields of HloModuleProto that its text does not have: how parameters and results are sharded.
SHARDINGS = (14, 15)


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value, at, shift = value | (byte & 127) << shift, at + 1, shift + 7
        if byte < 128:
            return value, at


def _fields(data):
    """The fields of a message of protobuf: number, content, and all its bytes."""
    at = 0
    while at < len(data):
        start = at
        key, at = _varint(data, at)
        kind, content = key & 7, b""
        if kind == 0:
            _, at = _varint(data, at)
        elif kind == 2:
            size, at = _varint(data, at)
            content, at = data[at : at + size], at + size
        else:
            at += 8 if kind == 1 else 4
        yield key >> 3, content, data[start:at]


def module_of(dump):
    """The HloModuleProto in what XLA dumps."""
    return next(content for number, content, _ in _fields(dump) if number == 1)


def text_of(module):
    return _hlo.HloModule.from_serialized_hlo_module_proto(module).to_string()


def module_from(text, like):
    """The module of a text, sharded as another module."""
    made = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    return made + b"".join(whole for number, _, whole in _fields(like) if number in SHARDINGS)


def run(text, arguments):
    """What each rank answers to its arguments, which are lists by rank. Ranks are run as replicas."""
    text = re.sub(r", sharding=\{[^}]*\}", "", text)
    text = GROUPS.sub(lambda found: f"replica_groups={_written(found[1])}", text)
    text = re.sub(r", (channel_id=\d+|use_global_device_ids=true)", "", text).replace("partition-id(", "replica-id(")
    module = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    devices = jax.devices()
    options = xla_client.CompileOptions()
    options.num_replicas = len(devices)
    options.device_assignment = xla_client.DeviceAssignment.create(np.arange(len(devices))[:, None])
    program = _jax.mlir.hlo_to_stablehlo(module)
    executable = devices[0].client.compile_and_load(program, _jax.DeviceList(tuple(devices)), options)
    held = [_on_devices([jax.device_put(shard, device) for shard, device in zip(shards, devices)]) for shards in arguments]
    answers = executable.execute_sharded(held).disassemble_into_single_device_arrays()
    return [[np.asarray(shard) for shard in shards] for shards in answers]


def _on_devices(shards):
    lies = NamedSharding(Mesh(np.array(jax.devices()), "rank"), PartitionSpec("rank" if shards[0].ndim else None))
    shape = (len(shards) * shards[0].shape[0], *shards[0].shape[1:]) if shards[0].ndim else ()
    return jax.make_array_from_single_device_arrays(shape, lies, shards)


COLLECTIVE = re.compile(r"^  (ROOT )?%(\S+) = (\S+) (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)\(%([^,()]+)\)")
TABLE = re.compile(r"^  %\S+ = [su]32\[8\]\{0\} constant\(\{([^}]*)\}\)")


LISTED = r"\{\{.*?\}\}|\[\d+,\d+\]<=\[[\d,]*\](?:T\([\d,]*\))?"
ALONG_AXES = r"mesh\[[^\]]*\](?:, device_ids=\((?:[^()]|\([^()]*\))*\))? \{[^}]*\}"
GROUPS = re.compile(f"replica_groups=({LISTED}|{ALONG_AXES})")


def _written(groups):
    """Groups along axes of a mesh, or parts of axes, device by device."""
    if not groups.startswith("mesh"):
        return groups
    mesh, along = groups.split(" {")
    mesh, _, order = mesh.partition("], device_ids=")
    sizes = [(name, int(size)) for name, size in re.findall(r"'([^']+)'=(\d+)", mesh)]
    parts = {}
    for name, before, size in re.findall(r"'([^']+)'(?::\((\d+)\)(\d+))?", along):
        parts.setdefault(name, []).append((int(before or 1), int(size or dict(sizes)[name])))
    digits, grouped = [], []
    for name, whole in sizes:
        at = 1
        for before, size in sorted(parts.get(name, [])):
            digits += [before // at, size]
            grouped.append(len(digits) - 1)
            at = before * size
        digits.append(whole // at)
    others = [at for at in range(len(digits)) if at not in grouped]
    ranks = _devices(order).reshape(digits).transpose(*others, *grouped)
    return _text(ranks.reshape(-1, int(np.prod([digits[at] for at in grouped]))))


def _devices(order):
    """The devices of a mesh in order: `([2,4]T(1,0))`, `(0,4,1,5,..)` or nothing."""
    if iota := re.match(r"\(?\[([\d,]*)\](?:T\(([\d,]*)\))?", order):
        ranks = np.arange(8).reshape([*map(int, iota[1].split(","))])
        return ranks.transpose([*map(int, iota[2].split(","))]) if iota[2] else ranks
    return np.array([*map(int, order.strip("()").split(","))]) if order else np.arange(8)


def _listed(groups):
    """Groups by an iota, device by device."""
    sizes, order = groups.split("<=")
    return _text(_devices(order).reshape([*map(int, sizes.strip("[]").split(","))]))


def _text(groups):
    return "{" + ",".join("{" + ",".join(map(str, group)) + "}" for group in groups.tolist()) + "}"


def _dropped(match, line):
    """A reduction that is not made."""
    if match[4] == "all-reduce":
        return [f"  {match[1] or ''}%{match[2]} = {match[3]} copy(%{match[5]})"]
    return None


def _twice(match, line):
    """A sum that is summed again."""
    if match[4] != "all-reduce":
        return None
    first = line.replace(match[1] or "\0", "").replace(f"%{match[2]} =", f"%{match[2]}.first =", 1)
    return [first, line.replace(f"(%{match[5]})", f"(%{match[2]}.first)", 1)]


def _grouped(match, line):
    """Groups of other ranks, or of half of them."""
    found = GROUPS.search(line)
    if not found:
        return None
    own = _written(found[1])
    own = own if own.startswith("{") else _listed(own)
    size = own[2:].split("}")[0].count(",") + 1
    if size == 8:
        other = np.arange(8).reshape(2, 4) if match[4] == "all-reduce" else None
    else:
        near, far = np.arange(8).reshape(-1, size), np.arange(8).reshape(size, -1).T
        other = far if own == _text(near) else near
    return None if other is None or size == 1 else [line.replace(found[1], _text(other))]


def _permuted(match, line):
    """A permutation that goes one rank further."""
    found = re.search(r"source_target_pairs=\{(\{.*?\})\}", line)
    if match[4] != "collective-permute" or not found:
        return None
    pairs = [pair.split(",") for pair in re.findall(r"\{([\d,]+)\}", found[1])]
    targets = [target for _, target in pairs]
    moved = ",".join(f"{{{source},{target}}}" for (source, _), target in zip(pairs, targets[1:] + targets[:1]))
    return [line.replace(found[1], moved)]


def _tabled(match, line):
    """A table by rank, such as one of offsets, that is off by one rank."""
    values = [value.strip() for value in match[1].split(",")]
    if len(set(values)) == 1:
        return None
    return [line.replace(match[1], ", ".join(values[-1:] + values[:-1]), 1)]


EDITS = {
    "reduction left out": (COLLECTIVE, _dropped),
    "reduction twice": (COLLECTIVE, _twice),
    "wrong groups": (COLLECTIVE, _grouped),
    "permutation shifted": (COLLECTIVE, _permuted),
    "table off by a rank": (TABLE, _tabled),
}


def edits(text):
    """Texts of the module with one fault each: a name and what makes the text."""
    lines = text.split("\n")
    found = []
    for at, line in enumerate(lines):
        for name, (pattern, edit) in EDITS.items():
            match = pattern.match(line)
            changed = edit(match, line) if match else None
            if changed and changed != [line]:
                found.append((name, "\n".join([*lines[:at], *changed, *lines[at + 1 :]])))
    return found
