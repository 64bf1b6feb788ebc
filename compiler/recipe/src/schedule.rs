//! The learning rate over time.

use crate::schema::{Key, Kind, Named, fill};
use crate::table;

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
        /// How the rate falls. Which shapes there are, whoever compiles knows: `Extension::shapes`.
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
        if let Some((_, keys)) = shapes.iter().find(|(name, _)| *name == self.shape) {
            fill(&mut self.settings, keys);
        }
    }

    /// What the schema knows of it, given the shapes whose settings it may hold.
    pub(crate) fn kind(shapes: &[Named]) -> Kind {
        let mut keys: Vec<Key> = Self::KEYS.to_vec();
        for key in shapes.iter().flat_map(|(_, keys)| *keys) {
            if keys.iter().all(|known| known.name != key.name) {
                keys.push(key.clone());
            }
        }
        Kind::Table(keys.into())
    }
}
