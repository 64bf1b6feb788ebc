//! Projections of one value by weights that nothing else reads.

use super::{Body, PARAM_BOUND, SIZES};
use halite_ir::{ParamRole, Value};
use halite_support::Result;

impl Body<'_, '_> {
    /// Two or three projections of an argument, in any form and often with a bias, by parameters of this role, which join no pool.
    pub(super) fn projections(&mut self, role: &ParamRole) -> Result<()> {
        let Some(x) = self.pick_ranked(1) else { return Ok(()) };
        let last = x.ty.rank() - 1;
        let inner = x.ty.shape()[last];
        let biased = self.random.coin();
        for index in 0..2 + self.random.below(2) {
            let out = SIZES[self.random.below(SIZES.len())];
            let by_columns = self.random.coin();
            let shape = if by_columns { [inner, out] } else { [out, inner] };
            let weight = self.b.param(format!("p{index}"), x.ty.with_shape(shape), role.clone());
            let biased = biased && self.random.below(8) > 0;
            let bias = biased.then(|| self.b.param(format!("b{index}"), x.ty.with_shape([out]), role.clone()));
            let contracted = usize::from(!by_columns);
            let value = match self.random.below(3) {
                0 if !by_columns => {
                    let args = [Some(x.value), Some(weight), bias];
                    self.b.composite("linear", &[], &args.into_iter().flatten().collect::<Vec<_>>())?[0]
                }
                1 => {
                    let product = self.b.dot_general(weight, x.value, (&[], &[]), (&[contracted], &[last]))?;
                    self.shifted(product, bias, 0)?
                }
                _ => {
                    let product = self.b.dot_general(x.value, weight, (&[], &[]), (&[last], &[contracted]))?;
                    self.shifted(product, bias, last)?
                }
            };
            let count = inner as f64;
            let bound = PARAM_BOUND * (x.bound * count + 1.0);
            let error = count * x.error * PARAM_BOUND;
            self.keep(value, bound, error + 4.0 * x.ty.dtype().unit_roundoff() * bound * (2.0 + count))?;
        }
        Ok(())
    }

    /// A product and a vector along one dimension of it.
    fn shifted(&mut self, product: Value, bias: Option<Value>, dim: usize) -> Result<Value> {
        let Some(bias) = bias else { return Ok(product) };
        let shape = self.b.shape(product).clone();
        let spread = self.b.broadcast_in_dim(bias, &[dim], shape)?;
        if self.random.coin() { self.b.add(product, spread) } else { self.b.add(spread, product) }
    }
}
