//! Reductions, sorts, calls, and what gives several values as they are.

use crate::read::attribute::Value;
use crate::read::body::Val;
use crate::read::op::Op;
use crate::read::reader::Reader;
use halite_hlo::proto::{HloInstructionProto, Numbers};
use halite_support::{Result, codes};

pub(super) fn reduce<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let dimensions = reader.list(&mut op, ["dimensions"; 2])?;
    let combiners = reader.combiners(&mut op, 1)?;
    reader.emit(op, |inst| {
        inst.dimensions = Numbers::from_slice(&dimensions);
        inst.called_computation_ids = combiners;
    })
}

pub(super) fn sort<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let is_stable = reader.flag(&mut op, "is_stable")?;
    let rank = op.operands.first().map_or(0, |operand| reader.types.array(operand.ty).rank() as i64);
    let dimension = match op.attributes.get("dimension") {
        Some(_) => reader.int(&mut op, ["dimension"; 2])?,
        None => -1,
    };
    let dimension = if dimension < 0 { dimension + rank } else { dimension };
    if !(0..rank.max(1)).contains(&dimension) {
        return Err(reader.fault_of(&op, codes::ATTRIBUTE, "sorts along a dimension that there is not"));
    }
    let combiners = reader.combiners(&mut op, 1)?;
    reader.emit(op, |inst| {
        inst.dimensions = Numbers::from_slice(&[dimension]);
        inst.is_stable = is_stable;
        inst.called_computation_ids = combiners;
    })
}

/// A barrier of one value is of the value, of several of their tuple.
pub(super) fn barrier<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    if op.operands.len() != op.results.len() {
        return Err(reader.fault_of(&op, codes::ARITY, "gives as many values as it takes"));
    }
    if let [first, _, ..] = op.operands[..] {
        let types = std::mem::take(&mut reader.types);
        let operands = std::mem::take(&mut op.operands);
        let inst = reader.frame().body.tuple(&operands, &types, op.place);
        reader.types = types;
        op.operands = vec![Val { inst, ..first }];
    }
    reader.emit(op, |_| {})
}

pub(super) fn call<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let callee = callee(reader, &mut op, "callee")?;
    reader.emit(op, |inst| inst.called_computation_ids = Numbers::from_slice(&[callee]))
}

/// The number of the function that an attribute names.
fn callee<'t>(reader: &mut Reader<'t>, op: &mut Op<'t>, name: &str) -> Result<i64> {
    let attribute = op.attributes.take(name).ok_or_else(|| reader.missing(op, name))?;
    let Value::Symbol(symbol) = &attribute.value else {
        return Err(reader.misfit(&attribute, "the name of a function"));
    };
    Ok(reader.program.of_name(symbol, attribute.place) as i64)
}

/// A call of its decomposition. Its name, attributes and version are kept as XLA does.
pub(super) fn composite<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let callee = callee(reader, &mut op, "decomposition")?;
    let name = op.attributes.take("name").and_then(|name| name.text()).unwrap_or_default();
    let attributes = op.attributes.take("composite_attributes");
    let attributes = attributes.map_or("{}", |attributes| attributes.written(&reader.cursor)).to_owned();
    let version = match op.attributes.get("version") {
        Some(_) => reader.int(&mut op, ["version"; 2])?,
        None => 0,
    };
    let said =
        [("composite.name", name), ("composite.attributes", attributes), ("composite.version", version.to_string())];
    named_call(reader, op, callee, said)
}

/// A call that says by attributes for the frontend what it stands for.
pub(super) fn named_call<'t>(
    reader: &mut Reader<'t>,
    op: Op<'t>,
    callee: i64,
    said: impl IntoIterator<Item = (&'static str, String)>,
) -> Result<Vec<Val>> {
    reader.emit(op, |inst| {
        inst.called_computation_ids = Numbers::from_slice(&[callee]);
        let frontend = inst.frontend_attributes.get_or_insert_default();
        frontend.map.extend(said.into_iter().map(|(key, text)| (key.to_owned(), text)));
    })
}

/// Attributes of kernels that say nothing of values: which buffers results may take.
const ASIDE: [&str; 1] = ["output_operand_aliases"];

pub(super) fn custom_call<'t>(reader: &mut Reader<'t>, mut op: Op<'t>) -> Result<Vec<Val>> {
    let target = op.take(["call_target_name", "callee"]).ok_or_else(|| reader.missing(&op, "call_target_name"))?;
    let target = match &target.value {
        Value::Symbol(name) => name.clone(),
        _ => target.text().ok_or_else(|| reader.misfit(&target, "a name"))?,
    };
    for name in ["operand_layouts", "result_layouts"] {
        if let Some(layouts) = op.attributes.take(name)
            && !is_row_major(reader, &layouts.value)?
        {
            return Err(reader.fault_of(&op, codes::FOREIGN, "asks for layouts"));
        }
    }
    if let Some(Value::List(called)) = op.attributes.take("called_computations").map(|called| called.value)
        && !called.is_empty()
    {
        return Err(reader.fault_of(&op, codes::FOREIGN, "calls computations"));
    }
    ASIDE.iter().for_each(|name| drop(op.attributes.take(name)));
    let has_side_effect = reader.flag(&mut op, "has_side_effect")?;
    let version = match op.attributes.get("api_version") {
        Some(_) => i32::try_from(reader.int(&mut op, ["api_version"; 2])?).unwrap_or(-1),
        None => 0,
    };
    let config = config(reader, &mut op)?;
    reader.emit(op, |inst: &mut HloInstructionProto| {
        inst.custom_call_target = target;
        inst.custom_call_has_side_effect = has_side_effect;
        inst.custom_call_api_version = version;
        inst.backend_config = config;
    })
}

/// The configuration of a kernel: the bytes of a string, or a dictionary as it is written.
fn config<'t>(reader: &Reader<'t>, op: &mut Op<'t>) -> Result<Vec<u8>> {
    let typed = op.attributes.take("mhlo.backend_config");
    match op.attributes.take("backend_config").filter(|config| config.value != Value::Text("")).or(typed) {
        None => Ok(Vec::new()),
        Some(config) => match config.value {
            Value::Text(raw) => Ok(crate::read::string::unescaped_bytes(raw)),
            Value::Dictionary(_) => Ok(config.written(&reader.cursor).as_bytes().to_vec()),
            _ => Err(reader.misfit(&config, "a string or a dictionary")),
        },
    }
}

/// Whether layouts have the last dimension first, as all values have.
fn is_row_major<'t>(reader: &Reader<'t>, layouts: &Value<'t>) -> Result<bool> {
    let Value::List(list) = layouts else { return Ok(false) };
    for layout in list {
        let order = reader.ints(layout)?;
        if !order.iter().copied().eq((0..order.len() as i64).rev()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `%a <@mesh, [..]> : type` of Shardy.
pub(super) fn claimed<'t>(reader: &mut Reader<'t>, op: &mut Op<'t>, _: usize) -> Result<()> {
    op.is_whole = reader.values(&mut op.operands)?;
    reader.cursor.at_next();
    reader.cursor.group()?;
    reader.cursor.expect(b':')?;
    reader.types_of(op)
}

/// The operand as it is.
pub(super) fn same<'t>(_: &mut Reader<'t>, op: Op<'t>) -> Result<Vec<Val>> {
    Ok(op.operands)
}

impl<'t> Reader<'t> {
    /// The computations of the regions of an operation, of which it has so many.
    pub(crate) fn combiners(&mut self, op: &mut Op<'t>, count: usize) -> Result<Numbers> {
        let regions = std::mem::take(&mut op.regions);
        if regions.len() != count {
            let reason = format!("has {count} regions, found {}", regions.len());
            return Err(self.fault_of(op, codes::ARITY, &reason));
        }
        Ok(regions.into_iter().filter_map(|region| self.sealed(region)).map(|number| number as i64).collect())
    }
}
