//! The list of the targets that Halite comes with. A target is a crate and a line here.

use halite_target::{Target, Targets};
use std::sync::Arc;

/// The targets that Halite comes with.
pub fn builtin() -> Targets {
    let all: [Arc<dyn Target>; 2] = [Arc::new(halite_cpu::CpuTarget), Arc::new(halite_neuron::NeuronTarget)];
    let mut targets = Targets::default();
    for target in all {
        targets.register(target).expect("a test registers them");
    }
    targets
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_unique() {
        assert_eq!(super::builtin().iter().count(), 2);
    }
}
