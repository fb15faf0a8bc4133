//! The macros that make a type of another crate a contender.

/// Makes a type a contender: its traits that differ from the default, and an expression per method.
macro_rules! peer {
    (
        $filter:ty, $name:literal,
        $([$($trait:ident = $value:literal),+],)?
        $($method:ident = |$($argument:ident),+| $expression:expr,)+
    ) => {
        impl<K: Item> Filter<K> for $filter {
            const TRAITS: Traits = Traits { $($($trait: $value,)+)? ..Traits::of($name) };

            $(method!($method |$($argument),+| $expression);)+
        }
    };
}

/// Defines a method of an adapter.
macro_rules! method {
    (new |$items:ident, $rate:ident| $new:expr) => {
        fn new($items: u64, $rate: f64) -> Option<Self> {
            $new
        }
    };
    (with_bits |$items:ident, $bits:ident| $new:expr) => {
        fn with_bits($items: u64, $bits: f64) -> Option<Self> {
            $new
        }
    };
    (bytes |$it:ident| $bytes:expr) => {
        fn bytes(&self) -> u64 {
            let $it = self;
            $bytes as u64
        }
    };
    (clear |$it:ident| $clear:expr) => {
        fn clear(&mut self) -> bool {
            let $it = self;
            $clear;
            true
        }
    };
    (insert |$it:ident, $item:ident| $new:expr) => {
        #[inline]
        fn insert(&mut self, $item: &K) -> bool {
            let $it = self;
            $new
        }
    };
    (remove |$it:ident, $item:ident| $found:expr) => {
        #[inline]
        fn remove(&mut self, $item: &K) -> bool {
            let $it = self;
            $found
        }
    };
    // The methods that take `&self`.
    ($shared:ident |$it:ident, $item:ident| $answer:expr) => {
        #[inline(always)]
        fn $shared(&self, $item: &K) -> bool {
            let $it = self;
            $answer
        }
    };
}
