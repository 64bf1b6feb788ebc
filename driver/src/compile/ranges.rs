//! The ranges of the integers that the batch inputs of a module may hold, as far as the model tells.

mod computed;
mod filled;

use crate::roles::Role;
use halite_bundle::IndexRange;
use halite_ir::{Function, Inst, LocKind, Module, Op, Param, ParamRole, Registry, Value};
use halite_support::{Name, Result, Span};
use indexmap::IndexMap;
use std::rc::Rc;

/// Ranges by the name of an input.
pub type Ranges = IndexMap<String, Vec<IndexRange>>;

/// The ranges of the operands of those composites that a role needs, and of look-ups that give NaN for what is out of range, carried back
/// to the batch inputs that the operands are moved from, or computed from by integer arithmetic.
///
/// # Errors
/// A bug when a composite is unknown.
pub fn ranges(built: &Module, role: &Role, registry: &Registry) -> Result<Ranges> {
    let mut ranges = Ranges::new();
    for Taken { input, range, .. } in taken(built, role, registry)? {
        let of = ranges.entry(input).or_default();
        if !of.contains(&range) {
            of.push(range);
        }
    }
    Ok(ranges)
}

/// A range that an instruction requires of a batch input.
pub(crate) struct Taken {
    /// The name of the input.
    pub(crate) input: String,
    pub(crate) range: IndexRange,
    /// The name of its op.
    pub(crate) op: Name,
    /// The places in texts that it comes from, the innermost first.
    pub(crate) places: Vec<Span>,
}

/// As [`ranges`], one by one, each with the instruction that requires it.
///
/// # Errors
/// As [`ranges`].
pub(crate) fn taken(built: &Module, role: &Role, registry: &Registry) -> Result<Vec<Taken>> {
    let mut ranges = Vec::new();
    let inlined = filled::inlined(built, registry)?;
    let module = inlined.as_ref().unwrap_or(built);
    let Some(entry) = module.entry() else { return Ok(ranges) };
    let span = |kind: &LocKind| if let LocKind::Source(span) = kind { Some(*span) } else { None };
    let mut parts: Vec<Option<Part>> = vec![None; entry.values.len()];
    for (position, param) in entry.params.iter().enumerate().filter(|(_, param)| is_whole_batch(entry, param)) {
        parts[param.value.index()] = Some(Part::whole(position, entry.ty(param.value).shape()));
    }
    let needed = needed(entry, role);
    for (inst, _) in entry.insts.iter().zip(needed).filter(|(_, needed)| *needed) {
        for Domain { operand, size, except } in domains(entry, inst, registry)? {
            let (param, part, computed) = match &parts[operand.index()] {
                Some(part) => (part.param, part.bounds.to_vec(), None),
                None => {
                    let Some((param, computed)) = computed::computed(entry, operand) else { continue };
                    (param, entry.ty(operand).shape().iter().map(|&size| [0, size]).collect(), Some(computed))
                }
            };
            let input = entry.params[param].name.to_string();
            let range = IndexRange { part, below: size as u64, except, computed };
            let places = module.locs.chain(inst.loc).filter_map(span).collect();
            ranges.push(Taken { input, range, op: inst.op.name().into(), places });
        }
        if let ([arg], [result]) = (&inst.args[..], &inst.results[..]) {
            parts[result.index()] = parts[arg.index()].as_ref().and_then(|part| part.moved(entry, inst));
        }
    }
    Ok(ranges)
}

/// The whole numbers that an instruction takes: below a size, or one that stands for none.
struct Domain {
    operand: Value,
    size: usize,
    except: Option<i64>,
}

/// The domains of the operands of an instruction.
fn domains(entry: &Function, inst: &Inst, registry: &Registry) -> Result<Vec<Domain>> {
    let Op::Composite(composite) = &inst.op else {
        let found = filled::looked_up(entry, inst);
        return Ok(found.map(|(operand, size)| Domain { operand, size, except: None }).into_iter().collect());
    };
    let types: Vec<_> = inst.args.iter().map(|&arg| entry.ty(arg)).collect();
    let own = composite.domains(registry, &types)?.into_iter();
    Ok(own.map(|own| Domain { operand: inst.args[own.operand], size: own.size, except: own.except }).collect())
}

/// The ranges of an entry whose inputs hold `micro_batches` micro-batches one after another.
pub(super) fn repeated(mut ranges: Ranges, entry: &Function, micro_batches: usize) -> Ranges {
    if micro_batches <= 1 {
        return ranges;
    }
    for (name, ranges) in &mut ranges {
        let param = entry.params.iter().find(|param| *param.name == **name);
        let Some(&whole) = param.and_then(|param| entry.ty(param.value).shape().first()) else { continue };
        let size = whole / micro_batches;
        let each = |range: &IndexRange| match range.part.first() {
            // What is computed is looked at batch by batch.
            _ if range.computed.is_some() => vec![range.clone()],
            Some([0, end]) if *end == size => {
                vec![IndexRange { part: along(&range.part, [0, whole]), ..range.clone() }]
            }
            Some(&[start, end]) => {
                let at = |batch: usize| along(&range.part, [start + batch * size, end + batch * size]);
                (0..micro_batches).map(|batch| IndexRange { part: at(batch), ..range.clone() }).collect()
            }
            None => vec![range.clone()],
        };
        *ranges = ranges.iter().flat_map(each).collect();
    }
    ranges
}

/// A part with other bounds along its first dimension.
fn along(part: &[[usize; 2]], first: [usize; 2]) -> Vec<[usize; 2]> {
    std::iter::once(first).chain(part.iter().skip(1).copied()).collect()
}

fn is_whole_batch(entry: &Function, param: &Param) -> bool {
    param.role == ParamRole::Batch && entry.ty(param.value).dtype().is_int()
}

/// For each instruction, whether a result of the role depends on it.
fn needed(entry: &Function, role: &Role) -> Vec<bool> {
    let mut values = vec![false; entry.values.len()];
    for result in entry.results.iter().filter(|result| role.returns(result)) {
        values[result.value.index()] = true;
    }
    let mut needed = vec![false; entry.insts.len()];
    for (needed, inst) in needed.iter_mut().zip(&entry.insts).rev() {
        *needed = inst.results.iter().any(|result| values[result.index()]);
        if *needed {
            inst.args.iter().for_each(|arg| values[arg.index()] = true);
        }
    }
    needed
}

/// The part of an input that a value holds, each element of it at least once and nothing else.
#[derive(Clone)]
struct Part {
    /// The position of the input.
    param: usize,
    /// The part: the first position along each dimension of the input, and the one after the last.
    bounds: Rc<[[usize; 2]]>,
    /// Whether the value has the dimensions of the input.
    is_in_place: bool,
}

impl Part {
    fn whole(param: usize, shape: &[usize]) -> Self {
        Self { param, bounds: shape.iter().map(|&size| [0, size]).collect(), is_in_place: true }
    }

    /// The part that the result of an instruction holds whose operand holds this part; `None` where the result is computed.
    fn moved(&self, entry: &Function, inst: &Inst) -> Option<Self> {
        match &inst.op {
            Op::Slice(slice) if self.is_in_place && slice.stride.iter().all(|&stride| stride == 1) => {
                let taken = slice.start.iter().zip(&slice.limit);
                let within = |([first, _], (start, limit)): (&[usize; 2], _)| [first + start, first + limit];
                Some(Self { bounds: self.bounds.iter().zip(taken).map(within).collect(), ..self.clone() })
            }
            Op::Reshape(_) | Op::Transpose(_) | Op::BroadcastInDim(_) | Op::Reverse(_) => {
                Some(Self { is_in_place: false, ..self.clone() })
            }
            Op::Convert(_) if entry.ty(inst.results[0]).dtype().is_int() => Some(self.clone()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Session;
    use halite_bundle::ModuleRole;

    fn ranges_of(role: &ModuleRole) -> Vec<IndexRange> {
        let mut session = Session::new();
        let source = session.load("tiny", &[]).unwrap();
        let built = session.elaborate(&source).unwrap().module;
        let role = session.roles.get(role).unwrap();
        let mut ranges = ranges(&built, role, &session.registry).unwrap();
        assert_eq!(ranges.len(), 1);
        ranges.swap_remove("tokens").unwrap()
    }

    /// `tokens s32[8, 65]`: all but the last are looked up, all but the first are labels.
    #[test]
    fn ids_and_labels_have_ranges_of_their_own() {
        let range = |part, except| IndexRange { part: vec![[0, 8], part], below: 256, except, computed: None };
        let (ids, labels) = (range([0, 64], None), range([1, 65], Some(-100)));
        assert_eq!(ranges_of(&ModuleRole::TRAIN_STEP), [ids.clone(), labels]);
        assert_eq!(ranges_of(&ModuleRole::FORWARD), [ids]);
    }
}
