//! Effects of instructions: the changes that passes may make.

/// The changes that passes may make to an instruction; each kind of pass asks for one of the four. They do not depend on the readers of
/// its results.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Effect {
    /// Whether it may go when nothing reads its results.
    pub removable: bool,
    /// Whether one may stand for several that are equal: op, attributes, operands.
    pub mergeable: bool,
    /// Whether its results may be computed elsewhere: in advance, as constants, or before or after other instructions than now.
    pub movable: bool,
    /// Whether it keeps its place among all that are ordered.
    pub ordered: bool,
}

impl Effect {
    /// All may be done: the results follow from the operands.
    pub const NONE: Self = Self { removable: true, mergeable: true, movable: true, ordered: false };

    /// The results follow from the operands and from what only the running program has, as the number of its rank or the
    /// generator of a backend.
    pub const RANDOM: Self = Self { movable: false, ..Self::NONE };

    /// Every rank takes part, in the same order. All ranks run one program, without branches, so that what is removed or merged
    /// is so on all of them: none is left waiting.
    pub const COLLECTIVE: Self = Self { movable: false, ordered: true, ..Self::NONE };

    /// It holds apart what is before it and after it: two are not one, as what they hold apart would be, and nothing is folded
    /// across. One that nothing reads holds nothing apart.
    pub const BARRIER: Self = Self { mergeable: false, movable: false, ..Self::NONE };

    /// The effect of a function, or of any other unit, that has instructions of both effects.
    #[must_use]
    pub const fn join(self, other: Self) -> Self {
        Self {
            removable: self.removable && other.removable,
            mergeable: self.mergeable && other.mergeable,
            movable: self.movable && other.movable,
            ordered: self.ordered || other.ordered,
        }
    }
}

impl Default for Effect {
    fn default() -> Self {
        Self::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_for_a_part_holds_for_the_whole() {
        let both = Effect::COLLECTIVE.join(Effect::BARRIER);
        assert_eq!(both, Effect { removable: true, mergeable: false, movable: false, ordered: true });
        assert_eq!(both, Effect::BARRIER.join(Effect::COLLECTIVE));
        let kept = Effect { removable: false, ..Effect::NONE };
        assert_eq!(kept.join(Effect::RANDOM), Effect { removable: false, movable: false, ..Effect::NONE });
        assert_eq!(kept.join(Effect::NONE), kept);
    }
}
