//! The items in the filters, integers and URLs, and the order in which they are queried.

use core::hash::Hash;

use rand::SeedableRng;
use rand::distr::Distribution as _;
use rand::rngs::SmallRng;
use rand_distr::Zipf;

/// A kind of item, with one for each number.
pub trait Item: Hash + Eq + Clone + Send + Sync + 'static {
    /// The name in records.
    const KIND: &'static str;
    /// The number of items that are made, then timed: enough that the clock's own time does not
    /// count, and few enough that they stay in a cache near the core. A multiple of ten, for the
    /// mixed operation.
    const CHUNK: u64;

    /// Returns the `n`th item.
    fn nth(n: u64) -> Self;
}

/// Integers as they are: hashed, they fall on random lines.
impl Item for u64 {
    const KIND: &'static str = "u64";
    const CHUNK: u64 = 32_000;

    #[inline]
    fn nth(n: u64) -> Self {
        n
    }
}

/// A URL of 64 bytes, about the mean length in a crawl.
impl Item for String {
    const KIND: &'static str = "url";
    const CHUNK: u64 = 4_000;

    fn nth(n: u64) -> Self {
        let host = n % 10_000;
        format!("https://www.site-{host:04}.example.org/articles/{n:016x}.html")
    }
}

/// How often each item is queried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Each equally often: one after the other.
    Uniform,
    /// The `r`th most frequent in proportion to `1 / r`.
    Zipf,
    /// Only the first item.
    Hot,
}

impl Distribution {
    /// Returns the name in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Zipf => "zipf",
            Self::Hot => "hot",
        }
    }

    /// Returns an endless sequence of numbers below `items`.
    ///
    /// # Panics
    ///
    /// If there are no items.
    #[must_use]
    pub fn draws(self, items: u64) -> Box<dyn Iterator<Item = u64>> {
        match self {
            Self::Uniform => Box::new((0..items).cycle()),
            Self::Zipf => {
                let zipf = Zipf::new(items as f64, 1.0).expect("a positive number of items");
                let random = SmallRng::seed_from_u64(1);
                Box::new(zipf.sample_iter(random).map(|rank| rank as u64 - 1))
            }
            Self::Hot => Box::new(core::iter::repeat(0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zipf_queries_each_item_in_proportion_to_its_rank() {
        const ITEMS: u64 = 1000;
        const DRAWS: usize = 1_000_000;
        let mut counts = [0.0; ITEMS as usize];
        for item in Distribution::Zipf.draws(ITEMS).take(DRAWS) {
            counts[item as usize] += 1.0;
        }
        let sum: f64 = (1..=ITEMS).map(|rank| 1.0 / rank as f64).sum();
        for rank in [1, 2, 3, 10, 100, 1000] {
            let expected = DRAWS as f64 / (rank as f64 * sum);
            // Five standard deviations.
            let far = (counts[rank - 1] - expected).abs() > 5.0 * expected.sqrt();
            assert!(!far, "rank {rank}: {} draws, not {expected}", counts[rank - 1]);
        }
    }

    #[test]
    fn urls_differ_and_have_one_length() {
        let urls = [0, 1, 10_000, u64::MAX].map(String::nth);
        assert!(urls.iter().all(|url| url.len() == 64), "{urls:?}");
        assert!((1..urls.len()).all(|at| !urls[..at].contains(&urls[at])));
    }
}
