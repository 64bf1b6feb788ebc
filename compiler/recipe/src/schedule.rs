//! The learning rate over time.

use crate::schema::{Key, Kind, fill};
use crate::{Section, table};

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
        /// How the rate falls. Which shapes there are, whoever compiles knows ([`Extension::shapes`](crate::Extension::shapes)).
        pub shape: String = Schedule::COSINE.to_owned(),
        ..
        /// The shape's own settings; those that are left out have its defaults, which [`load`](crate::load) adds.
        pub settings: toml::Table,
    }
}

impl Schedule {
    /// The shape of a schedule that names none: a cosine.
    pub const COSINE: &'static str = "cosine";

    /// Adds the defaults of its shape to the shape's settings.
    pub(crate) fn fill(&mut self, shapes: &[&'static Section]) {
        if let Some(section) = shapes.iter().find(|section| section.name == self.shape) {
            fill(&mut self.settings, section.keys);
        }
    }

    /// What the schema knows of it, given the shapes whose settings it may hold.
    pub(crate) fn kind(shapes: &[&'static Section]) -> Kind {
        let mut keys: Vec<Key> = Self::KEYS.to_vec();
        for key in shapes.iter().flat_map(|shape| shape.keys) {
            if keys.iter().all(|known| known.name != key.name) {
                keys.push(key.clone());
            }
        }
        Kind::Table(keys.into())
    }
}
