//! The bits of a filter in each of the three layouts: from a hash to the bits it means.

use tamis_hash::split;
use tamis_sync::AllocError;

use crate::bits::{Bits, Free, Writer};
use crate::geometry::{Geometry, Kind};
use crate::probe::classic;
use crate::probe::line::Shape;

/// A filter without its hasher.
pub(crate) trait Array: Sized {
    const KIND: Kind;
    type Writer: Writer;

    /// Zeros, for a geometry of this kind.
    fn zeroed(geometry: Geometry) -> Result<Self, AllocError>;
    /// Asks for the lines of the hash ahead of the access to them.
    fn prefetch(&self, hash: u64);
    /// Whether all bits of the hash are set.
    fn has(&self, hash: u64) -> bool;
    /// Sets the bits of the hash; whether one was missing.
    fn set(&self, hash: u64) -> bool;
    /// The same by plain stores.
    fn set_alone(&mut self, hash: u64) -> bool;
    /// A copy while others may write.
    fn copy(&self) -> Result<Self, AllocError>;
    fn bits(&self) -> &Bits<Self::Writer>;
    fn bits_mut(&mut self) -> &mut Bits<Self::Writer>;
}

/// Bits anywhere in the array.
#[derive(Debug)]
pub(crate) struct Classic {
    bits: Bits<Free>,
    size: u64,
    probes: u32,
}

impl Classic {
    #[inline]
    fn probes(&self, hash: u64) -> impl Iterator<Item = (u64, usize, u64)> + use<> {
        classic::probes(hash, self.size, self.probes)
    }
}

impl Array for Classic {
    const KIND: Kind = Kind::Classic;
    type Writer = Free;

    fn zeroed(geometry: Geometry) -> Result<Self, AllocError> {
        let bits = Bits::zeroed(geometry.lines())?;
        Ok(Self { bits, size: geometry.bits(), probes: geometry.probes() })
    }

    #[inline]
    fn prefetch(&self, hash: u64) {
        self.probes(hash).for_each(|(line, ..)| self.bits.prefetch(line));
    }

    #[inline]
    fn has(&self, hash: u64) -> bool {
        self.probes(hash).all(|(line, index, mask)| self.bits.has(line, index, mask))
    }

    #[inline]
    fn set(&self, hash: u64) -> bool {
        // Every bit must be set, whatever the first ones said: no short cut.
        self.probes(hash)
            .fold(false, |new, (line, index, mask)| self.bits.set(line, index, mask) | new)
    }

    #[inline]
    fn set_alone(&mut self, hash: u64) -> bool {
        self.probes(hash)
            .fold(false, |new, (line, index, mask)| self.bits.set_alone(line, index, mask) | new)
    }

    fn copy(&self) -> Result<Self, AllocError> {
        Ok(Self { bits: self.bits.copy()?, ..*self })
    }

    fn bits(&self) -> &Bits<Self::Writer> {
        &self.bits
    }

    fn bits_mut(&mut self) -> &mut Bits<Self::Writer> {
        &mut self.bits
    }
}

/// Bits in one line of the array.
#[derive(Debug)]
pub(crate) struct InLine<W> {
    bits: Bits<W>,
    lines: u64,
    shape: Shape,
}

impl<W: Writer> Array for InLine<W> {
    const KIND: Kind = Kind::Line { locked: W::LOCKED };
    type Writer = W;

    fn zeroed(geometry: Geometry) -> Result<Self, AllocError> {
        let (lines, shape) = (geometry.lines(), geometry.shape());
        Ok(Self { bits: Bits::zeroed(lines)?, lines, shape })
    }

    #[inline]
    fn prefetch(&self, hash: u64) {
        self.bits.prefetch(split::place(hash, self.lines));
    }

    #[inline]
    fn has(&self, hash: u64) -> bool {
        let line = split::place(hash, self.lines);
        self.shape.unrolled(|shape| self.bits.has_all(line, shape.pattern(hash)))
    }

    #[inline]
    fn set(&self, hash: u64) -> bool {
        let line = split::place(hash, self.lines);
        self.shape.unrolled(|shape| self.bits.insert(line, shape.pattern(hash)))
    }

    #[inline]
    fn set_alone(&mut self, hash: u64) -> bool {
        let line = split::place(hash, self.lines);
        let bits = &mut self.bits;
        self.shape.unrolled(|shape| {
            shape
                .pattern(hash)
                .fold(false, |new, (index, mask)| bits.set_alone(line, index, mask) | new)
        })
    }

    fn copy(&self) -> Result<Self, AllocError> {
        Ok(Self { bits: self.bits.copy()?, ..*self })
    }

    fn bits(&self) -> &Bits<Self::Writer> {
        &self.bits
    }

    fn bits_mut(&mut self) -> &mut Bits<Self::Writer> {
        &mut self.bits
    }
}
