//! The kinds of filters that a file can hold.

use core::fmt;

/// The number of the layout of cuckoo filters that grow.
pub(crate) const GROWING: u32 = 7;

/// Defines the kinds: each with its number and its layout in a file, its name, and its page.
macro_rules! kinds {
    ($($kind:ident = $code:literal, $layout:literal, $name:literal, $page:literal;)*) => {
        /// The type of filter in a file.
        ///
        /// # Examples
        ///
        /// ```
        /// # use tamis_formats as tamis;
        /// assert_eq!(tamis::formats::Kind::OnceBloom.to_string(), "OnceBloomFilter");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Kind {
            $(#[doc = $page] $kind,)*
        }

        impl Kind {
            /// All kinds.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_formats as tamis;
            /// use tamis::formats::Kind;
            /// assert!(Kind::ALL.contains(&Kind::Cuckoo));
            /// ```
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Returns the number of the kind in a file.
            pub(crate) const fn code(self) -> u32 {
                match self {
                    $(Self::$kind => $code,)*
                }
            }

            /// Returns the number of the layout in a file, if the filter is no cuckoo filter that
            /// grows.
            pub(crate) const fn layout(self) -> u32 {
                match self {
                    $(Self::$kind => $layout,)*
                }
            }
        }

        /// Writes the name of the type of filter.
        impl fmt::Display for Kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self {
                    $(Self::$kind => $name,)*
                })
            }
        }
    };
}

kinds! {
    Bloom = 1, 1, "BloomFilter", "`BloomFilter`.";
    BlockedBloom = 2, 2, "BlockedBloomFilter", "`BlockedBloomFilter`.";
    OnceBloom = 3, 2, "OnceBloomFilter", "`OnceBloomFilter`.";
    Cuckoo = 4, 3, "CuckooFilter", "`CuckooFilter`.";
    OnceCuckoo = 5, 3, "OnceCuckooFilter", "`OnceCuckooFilter`.";
    ScalableBloom = 6, 4, "ScalableBloomFilter", "`ScalableBloomFilter`.";
    OnceScalableBloom = 7, 4, "OnceScalableBloomFilter", "`OnceScalableBloomFilter`.";
    CountingBloom = 8, 5, "CountingBloomFilter", "`CountingBloomFilter`.";
    RotatingBloom = 9, 6, "RotatingBloomFilter", "`RotatingBloomFilter`.";
    Table = 16, 16, "table", "The growing table of the program `tamis`.";
    Foreign = 32, 32, "foreign filter", "A filter of another system: see [`foreign`](crate::foreign).";
}

impl Kind {
    /// Returns whether a file of this kind can be used in place, if its filter does not grow. The
    /// others have several arrays, or locks, or counters that a killed process would leave half
    /// changed.
    pub(crate) const fn is_mappable(self) -> bool {
        matches!(
            self,
            Self::Bloom | Self::BlockedBloom | Self::OnceBloom | Self::Cuckoo | Self::OnceCuckoo
        )
    }

    pub(crate) fn of_code(code: u32) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.code() == code)
    }

    /// Returns whether a filter of this kind may have the layout [`GROWING`].
    pub(crate) const fn may_grow(self) -> bool {
        matches!(self, Self::Cuckoo | Self::OnceCuckoo)
    }
}
