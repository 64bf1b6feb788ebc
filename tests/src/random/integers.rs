//! Moves on integers and predicates, conversions, random bits.

use super::{Body, Known};
use halite_ir::{Op, ops};
use halite_support::Result;
use halite_tensor::DType;

impl Body<'_, '_> {
    /// Keeps an integer or predicate, which every implementation computes exactly.
    fn keep_exact(&mut self, value: halite_ir::Value) {
        let ty = self.b.ty(value).clone();
        let (low, high) = ty.dtype().int_range().unwrap_or((0, 0));
        let bound = (low.unsigned_abs()).max(high.unsigned_abs()) as f64;
        self.pool.push(Known { value, ty, bound, error: 0.0 });
    }

    pub(super) fn integer(&mut self) -> Result<()> {
        let Some(x) = self.pick(|known| known.ty.dtype().is_int()) else { return Ok(()) };
        let Some(y) = self.pick(|known| known.ty == x.ty) else { return Ok(()) };
        let binary: [fn() -> Op; 7] = [
            || ops::Add.into(),
            || ops::Subtract.into(),
            || ops::Multiply.into(),
            || ops::Divide.into(),
            || ops::Remainder.into(),
            || ops::Maximum.into(),
            || ops::Minimum.into(),
        ];
        let op = binary[self.random.below(binary.len())]();
        let value = self.b.emit(op, &[x.value, y.value])?;
        self.keep_exact(value);
        Ok(())
    }

    pub(super) fn bitwise(&mut self) -> Result<()> {
        let Some(x) = self.pick(|known| !known.ty.dtype().is_float()) else { return Ok(()) };
        let Some(y) = self.pick(|known| known.ty == x.ty) else { return Ok(()) };
        let predicate = x.ty.dtype() == DType::Pred;
        let value = match self.random.below(if predicate { 4 } else { 7 }) {
            0 => self.b.and(x.value, y.value)?,
            1 => self.b.or(x.value, y.value)?,
            2 => self.b.xor(x.value, y.value)?,
            3 => self.b.not(x.value)?,
            4 => self.b.shift_left(x.value, y.value)?,
            5 => self.b.shift_right_logical(x.value, y.value)?,
            _ => self.b.shift_right_arithmetic(x.value, y.value)?,
        };
        self.keep_exact(value);
        Ok(())
    }

    /// A change of element type that keeps values small.
    pub(super) fn converted(&mut self) -> Result<()> {
        let Some(x) = self.pick(|known| known.bound <= 64.0) else { return Ok(()) };
        let (from, float) = (x.ty.dtype(), self.options.float);
        if !from.is_float() {
            let value = self.b.convert(x.value, if self.random.coin() { float } else { DType::S64 })?;
            return self.keep(value, x.bound, 0.0);
        }
        let to = [DType::Bf16, DType::F16, DType::F32, DType::F64][self.random.below(4)];
        let narrower = to.significand_bits() < from.significand_bits();
        if self.options.smooth && (narrower || from != float) {
            return Ok(());
        }
        let value = self.b.convert(x.value, to)?;
        // A narrowing of values that differ a little may round them apart by a whole unit.
        let jump = if narrower && x.error > 0.0 { 2.0 * to.unit_roundoff() * x.bound } else { 0.0 };
        let rounding = if narrower { x.bound * (1.0 + 2.0 * to.unit_roundoff()) } else { x.bound };
        self.keep(value, rounding, x.error + jump)
    }

    pub(super) fn random_bits(&mut self) -> Result<()> {
        let key = halite_tensor::HostTensor::from_ints(DType::U64, [2], [7, self.random.below(100) as i128]);
        let key = self.b.constant(key)?;
        let (_, bits) = self.b.rng_bit_generator(key, DType::U32, [2, 3])?;
        self.keep_exact(bits);
        Ok(())
    }
}
