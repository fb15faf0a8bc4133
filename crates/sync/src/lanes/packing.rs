//! How fields are packed into a number of 128 bits.

/// The bit of a number at which its tag begins.
pub(super) const TAG_BIT: u32 = 126;

/// How fields are packed into a number of 128 bits: one after the other, from the lowest bit. The
/// two highest bits are the tag.
///
/// # Examples
///
/// See [`Lanes`](crate::Lanes).
#[derive(Clone, Copy, Debug)]
pub struct Packing {
    /// The number of fields.
    pub count: u32,
    /// The bits of a field.
    pub width: u32,
    /// What the tag must be, below 4.
    pub tag: u32,
}

impl Packing {
    /// Panics if there is no field or more than `max_count`, if fields are empty or wider than
    /// `max_width`, or if they do not fit beside the tag.
    pub(super) const fn check(self, max_count: u32, max_width: u32) {
        let Self { count, width, tag } = self;
        assert!(count != 0 && count <= max_count, "no field, or too many");
        assert!(width != 0 && width <= max_width, "an empty field, or too wide a one");
        assert!(count * width <= TAG_BIT && tag < 4, "fields and tag do not fit");
    }
}
