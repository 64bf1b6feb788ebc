//! Instructions of operations.

use super::attribute::{Attribute, Attributes, Value};
use super::body::{Val, tuple_of};
use super::op::Op;
use super::reader::Reader;
use super::types::TypeId;
use halite_hlo::proto::{FrontendAttributes, HloInstructionProto};
use halite_support::{Result, codes};

/// The frontend attribute that keeps how a value is sharded, in the words of GSPMD.
const SHARDING: &str = "mhlo.sharding";

/// That in the words of Shardy, by the name that XLA gives it.
const SHARDY: &str = "xla.sdy.sharding";

impl<'t> Reader<'t> {
    /// Adds the instruction of an operation; the values of its results. All attributes that the operation has must be read by now.
    pub(crate) fn emit(&mut self, mut op: Op<'t>, fill: impl FnOnce(&mut HloInstructionProto)) -> Result<Vec<Val>> {
        let frontend = self.rest_of(&mut op)?;
        let operands: Vec<u32> = op.operands.iter().map(|operand| operand.inst).collect();
        let shape = match op.results[..] {
            [only] => self.types.shape(only),
            _ => tuple_of(op.results.iter().map(|&ty| self.types.shape(ty))),
        };
        let body = &mut self.frame().body;
        let inst = body.push(op.opcode, &operands, shape, op.place);
        let made = body.inst(inst);
        made.frontend_attributes = frontend.map(Box::new);
        fill(made);
        Ok(self.values_of(inst, &op.results, &op))
    }

    /// The values of an instruction: itself, or the elements of the tuple that it gives.
    pub(crate) fn values_of(&mut self, inst: u32, results: &[TypeId], op: &Op<'t>) -> Vec<Val> {
        if let [ty] = *results {
            return vec![Val { inst, ty }];
        }
        let element = |(index, &ty): (usize, &TypeId)| {
            let shape = self.types.shape(ty);
            Val { inst: self.frame().body.element(inst, index, shape, op.place), ty }
        };
        results.iter().enumerate().map(element).collect()
    }

    /// Deals with attributes that no reader of the operation took: those for the frontend and claims of shardings are kept, those of other dialects are
    /// theirs, and any other is a fault.
    pub(crate) fn rest_of(&mut self, op: &mut Op<'t>) -> Result<Option<FrontendAttributes>> {
        let mut frontend = FrontendAttributes::default();
        for (name, attribute) in std::mem::take(&mut op.attributes.0) {
            let is_claim = self.claim(name, &attribute, &mut frontend)?;
            if is_claim || name.contains('.') || is_default(name, &attribute, self) {
                continue;
            }
            let fault = self.fault_of(op, codes::FOREIGN, &format!("has an attribute `{name}` that is not read"));
            return Err(fault.help("leave the attribute out, if the program means the same without it"));
        }
        Ok((!frontend.map.is_empty()).then_some(frontend))
    }

    /// The attributes for the frontend and the claims among attributes.
    pub(crate) fn claims(&self, attributes: &Attributes<'t>) -> Result<Option<FrontendAttributes>> {
        let mut frontend = FrontendAttributes::default();
        for (name, attribute) in &attributes.0 {
            self.claim(name, attribute, &mut frontend)?;
        }
        Ok((!frontend.map.is_empty()).then_some(frontend))
    }

    /// Keeps an attribute that HLO keeps for its frontend. Whether it is one.
    pub(crate) fn claim(
        &self,
        name: &str,
        attribute: &Attribute<'t>,
        frontend: &mut FrontendAttributes,
    ) -> Result<bool> {
        match (name, &attribute.value) {
            ("mhlo.frontend_attributes", Value::Dictionary(entries)) => {
                for (key, value) in &entries.0 {
                    let text = value.text().unwrap_or_else(|| value.written(&self.cursor).to_owned());
                    frontend.map.insert(super::string::unescaped(key), text);
                }
            }
            ("mhlo.sharding", _) => {
                let text = attribute.text().unwrap_or_else(|| attribute.written(&self.cursor).to_owned());
                frontend.map.insert(SHARDING.to_owned(), text);
            }
            ("sdy.sharding", _) => {
                frontend.map.insert(SHARDY.to_owned(), attribute.written(&self.cursor).to_owned());
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Whether an attribute says what holds without it.
fn is_default(name: &str, attribute: &Attribute<'_>, reader: &Reader<'_>) -> bool {
    name == "result_accuracy" && attribute.written(&reader.cursor).contains("DEFAULT")
}
