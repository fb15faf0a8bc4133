//! The macro that makes a type of another crate a contender.

/// Makes a type a contender: an expression for each capability, those in `$(…)?` optional.
macro_rules! peer {
    (
        $filter:ty, $name:literal,
        $(EXACT = $exact:literal,)? $(LOWEST = $lowest:literal,)?
        $(REMOVES = $removes:literal,)? $(COPIES = $copies:literal,)? $(SURE = $sure:literal,)?
        new = |$items:ident, $rate:ident| $new:expr,
        $(with_bits = |$bit_items:ident, $bits:ident| $with_bits:expr,)?
        bytes = |$sized:ident| $bytes:expr,
        contains = |$asked:ident, $query:ident| $contains:expr,
        $(insert = |$taker:ident, $new_item:ident| $insert:expr,)?
        $(insert_shared = |$shared:ident, $shared_item:ident| $insert_shared:expr,)?
        $(remove = |$giver:ident, $old_item:ident| $remove:expr,)?
        $(remove_shared = |$shared_giver:ident, $shared_old:ident| $remove_shared:expr,)?
        $(clear = |$full:ident| $clear:expr,)?
    ) => {
        impl<K: Item> Filter<K> for $filter {
            const NAME: &'static str = $name;
            $(const EXACT: bool = $exact;)?
            $(const LOWEST: f64 = $lowest;)?
            $(const REMOVES: bool = $removes;)?
            $(const COPIES: bool = $copies;)?
            $(const SURE: bool = $sure;)?

            fn new($items: u64, $rate: f64) -> Option<Self> {
                $new
            }

            $(fn with_bits($bit_items: u64, $bits: f64) -> Option<Self> {
                $with_bits
            })?

            fn bytes(&self) -> u64 {
                let $sized = self;
                $bytes as u64
            }

            #[inline]
            fn contains(&self, $query: &K) -> bool {
                let $asked = self;
                $contains
            }

            $(#[inline]
            fn insert(&mut self, $new_item: &K) -> bool {
                let $taker = self;
                $insert
            })?

            $(#[inline]
            fn insert_shared(&self, $shared_item: &K) -> bool {
                let $shared = self;
                $insert_shared
            })?

            $(#[inline]
            fn remove(&mut self, $old_item: &K) -> bool {
                let $giver = self;
                $remove
            })?

            $(#[inline]
            fn remove_shared(&self, $shared_old: &K) -> bool {
                let $shared_giver = self;
                $remove_shared
            })?

            $(fn clear(&mut self) -> bool {
                let $full = self;
                $clear;
                true
            })?
        }
    };
}
