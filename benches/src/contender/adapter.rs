//! The macros that make a type a contender.

/// Makes a type a contender: its traits that differ from the default, and an expression per method.
macro_rules! contender {
    (
        $filter:ty, $name:expr,
        $([$($trait:ident = $value:expr),+],)?
        $($method:ident = |$($argument:ident),+| $expression:expr,)+
    ) => {
        impl Filter for $filter {
            const TRAITS: Traits = Traits { $($($trait: $value,)+)? ..Traits::of($name) };

            $(method!($method |$($argument),+| $expression);)+
        }
    };
}

/// Defines a method of an adapter. Always inlined: the adapter would be measured too.
macro_rules! method {
    (new |$items:ident, $rate:ident| $new:expr) => {
        fn new($items: u64, $rate: f64) -> Option<Self> {
            $new
        }
    };
    (bytes |$it:ident| $bytes:expr) => {
        fn bytes(&self) -> u64 {
            let $it = self;
            $bytes as u64
        }
    };
    (load |$it:ident| $load:expr) => {
        fn load(&self) -> Option<f64> {
            let $it = self;
            Some($load)
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
        fn insert(&mut self, $item: &u64) -> bool {
            let $it = self;
            $new
        }
    };
    (remove |$it:ident, $item:ident| $found:expr) => {
        #[inline]
        fn remove(&mut self, $item: &u64) -> bool {
            let $it = self;
            $found
        }
    };
    // Batches: the expression calls `verdict` for the index of each item.
    (insert_many |$it:ident, $items:ident, $verdict:ident| $all:expr) => {
        #[inline]
        fn insert_many_with(&mut self, $items: &[u64], mut $verdict: impl FnMut(usize, bool)) {
            let $it = self;
            $all;
        }
    };
    (contains_many |$it:ident, $items:ident, $verdict:ident| $all:expr) => {
        #[inline]
        fn contains_many_with(&self, $items: &[u64], $verdict: impl FnMut(usize, bool)) {
            let $it = self;
            $all;
        }
    };
    // The methods that take `&self`.
    ($shared:ident |$it:ident, $item:ident| $answer:expr) => {
        #[inline(always)]
        fn $shared(&self, $item: &u64) -> bool {
            let $it = self;
            $answer
        }
    };
}
