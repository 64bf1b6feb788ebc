//! Instructions that the IR has no op for.

use crate::composites;
use crate::site::Site;
use halite_hlo::graph::Graph;
use halite_ir::ops::{Constant, ReplicaId};
use halite_ir::{Builder, FuncId, ParamRole, TensorType, Value, Values};
use halite_support::Name;
use rustc_hash::FxHashMap;

/// The functions that stand for ops that cannot be followed, by name and types.
#[derive(Default, Debug)]
pub(crate) struct Opaque {
    functions: FxHashMap<(Name, Vec<TensorType>, Vec<TensorType>), FuncId>,
}

impl Opaque {
    /// The results of an instruction that the IR has no op for: those of a kernel of its name. Its decomposition gives zeros, and says
    /// no more than the types. If the instruction depends on the rank, the kernel takes the rank's number too.
    pub(crate) fn lifted(&mut self, site: &mut Site<'_, '_>) -> Option<Values> {
        let mut args = site.args.to_vec();
        if site.ranks.tells_apart(site.graph, site.at) {
            args.push(site.emit(ReplicaId, &[])?);
        }
        let name: Name = stated_name(site.graph, site.at).into();
        let types = args.iter().map(|&arg| site.b.ty(arg).clone()).collect();
        let key = (name.clone(), types, site.types.to_vec());
        let next = self.functions.len();
        let function = match self.functions.get(&key) {
            Some(&function) => function,
            None => {
                let function = zeros(site.b, format!("{name} {next}").into(), &key.1, &key.2)?;
                self.functions.insert(key, function);
                function
            }
        };
        site.b.kernel_call(&name, "", function, &args).ok()
    }
}

/// The name of what an instruction does: the target of a custom call, the composite that a call stands for, or the opcode.
pub fn stated_name(graph: &Graph, at: usize) -> &str {
    let inst = graph.inst(at);
    match inst.custom_call_target.as_str() {
        "" => composites::name(inst).unwrap_or_else(|| graph.opcode(at)),
        target => target,
    }
}

fn zeros(b: &mut Builder<'_>, name: Name, args: &[TensorType], results: &[TensorType]) -> Option<FuncId> {
    let mut b = b.nested(name);
    for (at, ty) in args.iter().enumerate() {
        b.param(format!("arg{at}"), ty.clone(), ParamRole::Argument);
    }
    for ty in results {
        let zero = Constant::splat(ty.dtype(), ty.shape().clone(), 0.0);
        let zero: Value = b.emit(zero, &[]).ok()?;
        b.result(zero);
    }
    Some(b.finish())
}
