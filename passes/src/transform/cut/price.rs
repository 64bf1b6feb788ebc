//! The costs of keeping values and of computing them again.

/// The bytes that are kept for backwards at a time, and the floating-point operations that backwards repeat.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Totals {
    pub(super) bytes: u64,
    pub(super) flops: u64,
}

impl Totals {
    pub(super) fn add(&mut self, other: Self, times: usize) {
        let times = times as u64;
        self.bytes = self.bytes.saturating_add(other.bytes.saturating_mul(times));
        self.flops = self.flops.saturating_add(other.flops.saturating_mul(times));
    }
}

/// The price of a byte that is kept, and that of an operation that is repeated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Price {
    pub(super) byte: u64,
    pub(super) flop: u64,
}

impl Price {
    /// The fewest bytes, whatever is computed again.
    pub(super) const MEMORY: Self = Self { byte: 1, flop: 0 };

    /// The fewest operations, and of choices with as many the fewest bytes.
    pub(super) const SPEED: Self = Self { byte: 1, flop: 1 << 40 };

    /// The price of bytes and operations together.
    pub(super) fn of(self, Totals { bytes, flops }: Totals) -> u128 {
        let product = |count: u64, price: u64| u128::from(count) * u128::from(price);
        product(bytes, self.byte) + product(flops, self.flop)
    }
}
