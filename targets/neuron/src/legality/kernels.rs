//! Calls of kernels.

use super::describe::describe;
use super::{Broken, Checker};
use crate::tables::{KernelConfig, KernelResult, KernelSchema};
use halite_hlo::proto::{HloInstructionProto, ShapeProto};
use halite_support::nearest::nearest;

impl Checker<'_, '_> {
    /// The row of the kernel that an instruction calls, if the target has it.
    fn kernel(&self, at: usize) -> Option<&'static KernelSchema> {
        let row = KernelSchema::named(&self.graph.inst(at).custom_call_target)?;
        let has = row.targets.contains(&self.profile.target) && row.compiler.contains(&self.profile.version);
        has.then_some(row)
    }

    /// The target does not have the kernel.
    pub(super) fn unknown_kernel(&self, at: usize) -> Option<String> {
        if self.kernel(at).is_some() {
            return None;
        }
        let name = &self.graph.inst(at).custom_call_target;
        let known = KernelSchema::builtin().iter().filter(|row| row.targets.contains(&self.profile.target));
        let near = nearest(name, known.map(|row| row.name.as_str())).filter(|near| near != name);
        let near = near.map_or_else(String::new, |near| format!("; near is `{near}`"));
        Some(format!("{} has no kernel `{name}`{near}", self.profile.target))
    }

    /// The documentation does not list the kernel.
    pub(super) fn unlisted_kernel(&self, at: usize) -> Option<Broken> {
        let row = self.kernel(at).filter(|row| !row.listed)?;
        let found = format!("the kernel `{}` is not listed", row.name);
        Some(Broken { found, code: None, provenance: Some(&row.provenance) })
    }

    /// The kernel is called in another way than its row says.
    pub(super) fn kernel_schema(&self, at: usize) -> Option<Broken> {
        let row = self.kernel(at)?;
        let operands: Option<Vec<&ShapeProto>> =
            (0..self.graph.inst(at).operand_ids.len()).map(|number| self.graph.operand_shape(at, number)).collect();
        if self.tuple_operand(at).is_some() {
            return None;
        }
        let call = CalledKernel { inst: self.graph.inst(at), operands: operands?, row };
        let wrong = call.arity().or_else(|| call.element_type()).or_else(|| call.config()).or_else(|| call.result())?;
        let found = format!("`{}` {wrong}", row.name);
        Some(Broken { found, code: None, provenance: Some(&row.provenance) })
    }

    /// An operand of the kernel is a tuple.
    pub(super) fn tuple_operand(&self, at: usize) -> Option<String> {
        let inst = self.graph.inst(at);
        let is_tuple = |number: &usize| self.graph.operand_shape(at, *number).is_some_and(ShapeProto::is_tuple);
        let number = (0..inst.operand_ids.len()).find(is_tuple)?;
        Some(format!("operand {number} of `{}` is a tuple", inst.custom_call_target))
    }
}

/// A call beside what is known of the kernel.
struct CalledKernel<'a> {
    inst: &'a HloInstructionProto,
    operands: Vec<&'a ShapeProto>,
    row: &'static KernelSchema,
}

impl CalledKernel<'_> {
    fn arity(&self) -> Option<String> {
        let names = self.row.operands.as_ref()?;
        let (found, least) = (self.operands.len(), names.len());
        let repeats = names.last().is_some_and(|name| name.ends_with("..."));
        let fits = found == least || repeats && found > least;
        (!fits).then(|| format!("takes {} ({}), found {found}", least, names.join(", ")))
    }

    fn element_type(&self) -> Option<String> {
        let taken = self.row.element_types.as_ref()?;
        let found = self.operands.first()?.element_name();
        (!taken.iter().any(|taken| taken == found)).then(|| format!("takes {}, found `{found}`", taken.join(", ")))
    }

    /// The configuration as a number, where it is one.
    fn number(&self) -> Option<usize> {
        std::str::from_utf8(&self.inst.backend_config).ok()?.parse().ok()
    }

    fn config(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.inst.backend_config);
        let rank = self.operands.first().map_or(0, |shape| shape.dimensions.len());
        let wrong = |expected: String| Some(format!("takes {expected} as its configuration, found `{text}`"));
        match self.row.config? {
            KernelConfig::Empty if !text.is_empty() => wrong("nothing".to_owned()),
            KernelConfig::Dimension if self.number().is_none_or(|dim| dim >= rank) => {
                wrong(format!("a dimension below {rank}"))
            }
            KernelConfig::Count { at_most }
                if self.number().is_none_or(|count| count == 0 || count as u64 > at_most) =>
            {
                wrong(format!("a count up to {at_most}"))
            }
            KernelConfig::Pairs if !text.contains('=') => wrong("pairs `key=value`".to_owned()),
            KernelConfig::Json if text.is_empty() => wrong("JSON".to_owned()),
            _ => None,
        }
    }

    fn result(&self) -> Option<String> {
        let (result, first) = (self.inst.shape.as_ref()?, self.operands.first()?);
        let elements = result.tuple_shapes.as_slice();
        let fits = match self.row.result? {
            KernelResult::LikeFirst => same(result, first),
            KernelResult::LikeOperands => match self.operands.as_slice() {
                [only] => same(result, only),
                operands => elements.len() == operands.len() && elements.iter().zip(operands).all(|(a, b)| same(a, b)),
            },
            KernelResult::Positions => {
                let mut sizes = first.dimensions.clone();
                let dim = self.number().filter(|&dim| dim < sizes.len());
                dim.map(|dim| sizes.remove(dim)).is_some() && is_position(result) && result.dimensions == sizes
            }
            KernelResult::Top => {
                let mut sizes = first.dimensions.clone();
                if let (Some(last), Some(count)) = (sizes.last_mut(), self.number()) {
                    *last = count as i64;
                }
                let fits = |values: &ShapeProto, positions: &ShapeProto| {
                    let typed = values.element_type == first.element_type && is_position(positions);
                    typed && values.dimensions == sizes && positions.dimensions == sizes
                };
                matches!(elements, [values, positions] if fits(values, positions))
            }
            KernelResult::GradientPair => {
                let third = self.operands.get(2);
                matches!(elements, [a, b] if same(a, first) && third.is_some_and(|third| same(b, third)))
            }
        };
        (!fits).then(|| format!("does not give `{}` for `{}`", describe(Some(result)), describe(Some(first))))
    }
}

fn same(a: &ShapeProto, b: &ShapeProto) -> bool {
    a.element_type == b.element_type && a.dimensions == b.dimensions
}

fn is_position(shape: &ShapeProto) -> bool {
    ["u32", "s32", "s64"].contains(&shape.element_name())
}
