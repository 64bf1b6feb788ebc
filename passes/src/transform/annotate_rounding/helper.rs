//! Functions that the entry calls.

use halite_analysis::check_exact_integers;
use halite_ir::ops::Call;
use halite_ir::{Attr, Builder, Composite, FuncId, ParamRole, Rewriter, TensorType, Value};
use halite_support::Result;

/// Adds a function of one result, called `name` if nothing else is, whose integer arithmetic is exact on Trainium; one that `rounds` gives its
/// first parameter rounded.
pub(super) fn add_helper(
    b: &mut Rewriter<'_>,
    name: &str,
    params: &[(&str, TensorType)],
    rounds: bool,
    body: impl FnOnce(&mut Builder<'_>, &[Value]) -> Result<Value>,
) -> Result<FuncId> {
    let (name, registry) = (b.module().unused_name(name), b.registry());
    let mut inner = b.nested(name);
    inner.set_rounds(rounds);
    let param = |(name, ty): &(&str, TensorType)| inner.param(*name, ty.clone(), ParamRole::Argument);
    let params: Vec<Value> = params.iter().map(param).collect();
    let result = body(&mut inner, &params)?;
    inner.result(result);
    let helper = inner.finish();
    check_exact_integers(b.module().function(helper), registry)?;
    Ok(helper)
}

/// Adds a helper that is called once, and calls it.
pub(super) fn call_helper(
    b: &mut Rewriter<'_>,
    name: &str,
    args: &[(&str, Value)],
    body: impl FnOnce(&mut Builder<'_>, &[Value]) -> Result<Value>,
) -> Result<Value> {
    let params: Vec<_> = args.iter().map(|&(name, arg)| (name, b.ty(arg).clone())).collect();
    let callee = add_helper(b, name, &params, false, body)?;
    let args: Vec<_> = args.iter().map(|&(_, arg)| arg).collect();
    let result = b.emit(Call { callee }, &args)?;
    b.name_value(result, name);
    Ok(result)
}

/// The decomposition of a composite of one result, in place.
pub(super) fn expanded(b: &mut Builder<'_>, name: &str, attrs: &[(&str, Attr)], args: &[Value]) -> Result<Value> {
    let composite = Composite::new(b.registry(), name, attrs)?;
    Ok(b.expand(&composite, args)?[0])
}
