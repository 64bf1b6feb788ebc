//! The learning rate over time.

use crate::schema::{Key, Kind, Named, fill};
use crate::table;
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use serde::de::DeserializeOwned;

table! {
    /// Linear warm-up, then a fall from the peak to a floor, then the floor.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Schedule {
        /// Updates until the peak; update k of them uses `peak * k / warmup`.
        pub warmup: u32 = 0,
        /// The update at which the floor is reached; 0 keeps the peak for ever.
        pub steps: u32 = 0,
        /// The floor as a share of the peak.
        pub floor: f64 as Kind::SHARE = 0.0,
        /// How the rate falls.
        // The known shapes are those of `Extension::shapes`.
        pub shape: String = Schedule::COSINE.to_owned(),
        ..
        /// The shape's own settings; those that are left out have its defaults, which are added where a recipe is read.
        pub settings: toml::Table,
    }
}

impl Schedule {
    /// The shape of a schedule that names none: a cosine.
    pub const COSINE: &'static str = "cosine";

    /// Adds the defaults of its shape to the shape's settings.
    pub(crate) fn fill(&mut self, shapes: &[Named]) {
        if let Some(shape) = shapes.iter().find(|shape| shape.name == self.shape) {
            fill(&mut self.settings, shape.keys);
        }
    }

    /// The settings of its shape as a value of the shape's type.
    ///
    /// # Errors
    /// When they are no settings of that type.
    pub fn settings<T: DeserializeOwned>(&self) -> Result<T> {
        self.settings.clone().try_into().map_err(|error: toml::de::Error| {
            Diagnostic::error(
                codes::RECIPE_TYPE,
                format!("the settings of the shape `{}`: {}", self.shape, error.message()),
            )
            .key("schedule")
            .help("write them as the shape takes them")
        })
    }

    /// Checks the settings of a shape, where it is the shape. The diagnostics say that they are no settings of type `T`, or are those
    /// of `wrong`.
    pub fn check_settings<T: DeserializeOwned>(&self, shape: &str, wrong: impl Fn(&T) -> Diagnostics) -> Diagnostics {
        if self.shape != shape {
            return Diagnostics::new();
        }
        self.settings().map_or_else(Diagnostics::from, |settings| wrong(&settings))
    }

    /// Returns the schema kind of `[schedule]`, given the shapes whose settings it may hold.
    pub(crate) fn kind(shapes: &[Named]) -> Kind {
        let mut keys: Vec<Key> = Self::KEYS.to_vec();
        for key in shapes.iter().flat_map(|shape| shape.keys) {
            if keys.iter().all(|known| known.name != key.name) {
                // A key that only some shapes need may be absent where the shape is not known.
                keys.push(Key { required: key.required && shapes.len() == 1, ..key.clone() });
            }
        }
        Kind::Table(keys.into())
    }
}
