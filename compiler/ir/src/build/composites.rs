//! Applying composites, and writing their decompositions.

use super::{Builder, Values};
use crate::attr::Attr;
use crate::composite::Composite;
use crate::syntax::Value;
use halite_support::Result;

impl Builder<'_> {
    /// Applies a composite to operands by position, optional ones behind the required ones; attributes left out take their defaults.
    ///
    /// # Errors
    /// When the name or an attribute is unknown or the operands do not fit.
    pub fn composite(&mut self, name: &str, attrs: &[(&str, Attr)], args: &[Value]) -> Result<Values> {
        self.composite_with(name, attrs, args, &[])
    }

    /// The same with further operands by name.
    ///
    /// # Errors
    /// As [`composite`](Self::composite), and when an operand is unknown or given twice.
    pub fn composite_with(
        &mut self,
        name: &str,
        attrs: &[(&str, Attr)],
        args: &[Value],
        named: &[(&str, Value)],
    ) -> Result<Values> {
        let composite = Composite::new(self.registry, name, attrs).map_err(|diagnostic| self.locate(diagnostic))?;
        self.apply(composite, args, named)
    }

    /// Applies a composite to operands by position and by name, which tell what optional ones it is given.
    ///
    /// # Errors
    /// When the operands do not fit.
    pub fn apply(&mut self, composite: Composite, args: &[Value], named: &[(&str, Value)]) -> Result<Values> {
        let operands = self.registry.composite(&composite.name)?.operands();
        let bound = operands.bind(&composite.name, args, named);
        let (given, args) = bound.map_err(|diagnostic| self.locate(diagnostic))?;
        self.emit_all(Composite { given, ..composite }, &args)
    }

    /// Writes the decomposition of a composite in place.
    ///
    /// # Errors
    /// As [`composite`](Self::composite).
    pub fn expand(&mut self, composite: &Composite, args: &[Value]) -> Result<Values> {
        let def = self.registry.composite(&composite.name)?;
        self.within_cast(composite, args, |b, args| {
            let args = composite.args(b.registry, args)?;
            def.expand(b, &composite.attrs, args)
        })
    }

    /// Puts the conversions that mixed precision asks for around what `compute` writes for a composite: operands before
    /// it, results after it.
    ///
    /// # Errors
    /// Those of `compute`.
    pub fn within_cast(
        &mut self,
        composite: &Composite,
        args: &[Value],
        compute: impl FnOnce(&mut Self, &[Value]) -> Result<Values>,
    ) -> Result<Values> {
        let Some(cast) = composite.attrs.cast() else { return compute(self, args) };
        let def = self.registry.composite(&composite.name)?;
        let inner = if cast.converts_operands(def.policy().class) {
            self.convert_floats(args, cast.compute)?
        } else {
            Values::from_slice(args)
        };
        let mut results = compute(self, &inner)?;
        for (result, &dtype) in results.iter_mut().zip(&cast.results) {
            *result = self.convert(*result, dtype)?;
        }
        Ok(results)
    }
}
