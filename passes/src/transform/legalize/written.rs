//! State that is replaced and not read.

use super::unread::{read_values, replaces};
use halite_ir::ops::Direction;
use halite_ir::{Function, Module, Param, ParamRole, Registry, Rewriter, Value};
use halite_support::{Name, Result};
use halite_tensor::{DType, STEP};
use rustc_hash::{FxHashMap, FxHashSet};

/// Has the entry read the state that it only replaces, such as a weight that is rounded from its master copy where other programs of an
/// update compute with it. A compiler may drop a parameter that nothing reads, and the replacement needs its buffer. The counter of
/// updates is never below 0, which no compiler knows:
///
/// ```text
/// return %new as state "w"     =>     %never = compare %step, 0, lt
///                                     %kept = select %never, %w, %new
///                                     return %kept as state "w"
/// ```
///
/// Without a counter the entry stays as it is.
///
/// # Errors
/// A bug when the entry cannot be copied.
pub(super) fn read_what_is_replaced(module: &mut Module, registry: &Registry) -> Result<()> {
    let Some(entry) = module.functions.pop() else { return Ok(()) };
    let unread = only_replaced(&entry);
    let Some(counter) = entry.params.iter().find(|param| is_counter(param)).filter(|_| !unread.is_empty()) else {
        module.functions.push(entry);
        return Ok(());
    };
    let mut b = Rewriter::new(module, registry, &entry);
    entry.insts.iter().try_for_each(|inst| b.copy(&entry, inst))?;
    let counter = b.value(counter.value)?;
    let zero = b.splat(DType::S32, [], 0.0)?;
    let never = b.compare(counter, zero, Direction::Lt)?;
    for result in &entry.results {
        let mut value = b.value(result.value)?;
        if let Some(&old) = replaces(result).and_then(|of| unread.get(of)) {
            let old = b.value(old)?;
            value = b.select(never, old, value)?;
        }
        b.named_result(value, result.name.clone(), result.role.clone());
    }
    b.into_builder().finish();
    Ok(())
}

fn is_counter(param: &Param) -> bool {
    matches!(&param.role, ParamRole::State(spec) if spec.kind == STEP)
}

/// The parameters that a result replaces, and that neither an instruction nor a result names, by name.
fn only_replaced(entry: &Function) -> FxHashMap<&Name, Value> {
    let replaced: FxHashSet<&Name> = entry.results.iter().filter_map(replaces).collect();
    let read = read_values(entry);
    let unread = |param: &&Param| !read[param.value.index()] && replaced.contains(&param.name);
    entry.params.iter().filter(unread).map(|param| (&param.name, param.value)).collect()
}
