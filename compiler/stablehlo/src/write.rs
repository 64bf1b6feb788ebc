//! The text of operations.

use crate::op::{Op, Value};
use crate::quoted::string;
use crate::types;
use halite_hlo::proto::FrontendAttributes;

/// `%sum.3 = "stablehlo.reduce"(%x.0, %zero.1) <{dimensions = array<i64: 0>}>`: an operation up to its regions.
pub(crate) fn head(op: &Op, name: &str) -> String {
    let defined = match op.results.len() {
        0 => String::new(),
        1 => format!("{name} = "),
        count => format!("{name}:{count} = "),
    };
    format!("{defined}\"{}\"({}){}", op.name, names(&op.operands), properties(&op.properties))
}

/// ` : (tensor<2xf32>) -> tensor<2xf32>`: what follows the regions and other attributes of an operation.
pub(crate) fn signature(operands: &[Value], results: &[halite_hlo::ArrayType]) -> String {
    let operands: Vec<_> = operands.iter().map(|operand| operand.ty.clone()).collect();
    format!(" : {} -> {}", types::listed(&operands), types::results(results))
}

/// The values that an operation of this name gives.
pub(crate) fn results(op: &Op, name: &str) -> Vec<Value> {
    let number = |index: usize| if op.results.len() == 1 { name.to_owned() } else { format!("{name}#{index}") };
    let value = |(index, ty): (usize, &halite_hlo::ArrayType)| Value { name: number(index), ty: ty.clone() };
    op.results.iter().enumerate().map(value).collect()
}

/// `%a, %b`.
pub(crate) fn names(values: &[Value]) -> String {
    values.iter().map(|value| value.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// `mhlo.frontend_attributes = {"key" = "value"}`, which XLA reads back into the HLO; `None` where there are none.
pub(crate) fn frontend(attributes: Option<&FrontendAttributes>) -> Option<String> {
    let map = attributes.map(|attributes| &attributes.map).filter(|map| !map.is_empty())?;
    let pair = |(key, value): (&String, &String)| format!("{} = {}", string(key.as_bytes()), string(value.as_bytes()));
    Some(format!("mhlo.frontend_attributes = {{{}}}", map.iter().map(pair).collect::<Vec<_>>().join(", ")))
}

fn properties(properties: &[(&str, String)]) -> String {
    let property = |(key, value): &(&str, String)| format!("{key} = {value}");
    match properties {
        [] => String::new(),
        some => format!(" <{{{}}}>", some.iter().map(property).collect::<Vec<_>>().join(", ")),
    }
}
