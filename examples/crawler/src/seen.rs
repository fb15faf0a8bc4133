//! The memory of known URLs: in this process, in a file, or in Redis.

use core::fmt::Display;
use core::time::Duration;
use core::{error, iter};
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Instant;

use tamis::formats::{Live, MapFile, Normalization, Options, Parts, SaveError};
use tamis::hash::Xxh3;
use tamis::{DynFilter, OnceBloomFilter, OnceCuckooFilter};
use tamis_redis::{AsyncRedisBloomFilter, Error};

use crate::Failure;
use crate::args::{Args, Where};
use crate::urls::NORMAL_FORM;

/// The rate where growth allows it, and that of a file, which has one word per URL.
const RATE: f64 = 1e-9;
const FILE_RATE: f64 = 1e-4;

/// How often a memory must be able to double its capacity, and how often it is made to.
const LEAST_DOUBLINGS: u32 = 4;
const MOST_DOUBLINGS: u32 = 12;

type Shared = OnceBloomFilter<str, Xxh3>;

/// A memory of URLs.
pub(crate) struct Seen {
    filter: Filter,
    /// The false-positive rate of a full memory.
    rate: f64,
    /// The time of all calls.
    pub(crate) time: Duration,
    /// The number of claims whose answer was lost, and which count as won.
    pub(crate) unknown: u64,
}

enum Filter {
    Memory(OnceCuckooFilter<str>),
    File(Live<Shared>),
    Redis(AsyncRedisBloomFilter<str>),
}

/// A filter by the way to use it.
enum Place<'a> {
    Here(&'a (dyn DynFilter<str> + Sync)),
    Away(&'a AsyncRedisBloomFilter<str>),
}

impl Filter {
    fn place(&self) -> Place<'_> {
        match self {
            Self::Memory(filter) => Place::Here(filter),
            Self::File(filter) => Place::Here(&**filter),
            Self::Redis(filter) => Place::Away(filter),
        }
    }
}

impl Seen {
    /// Opens the memory, or creates it for at least `known` URLs.
    pub(crate) async fn open(args: &Args, known: usize) -> Result<Self, Failure> {
        let (capacity, rate) = (usize::try_from(args.capacity)?, args.rate.unwrap_or(RATE));
        let (filter, rate) = match &args.seen {
            Where::Memory => {
                let filter = in_memory(capacity.max(known), rate)?;
                let rate = filter.geometry().false_positive_rate_at(filter.capacity());
                (Filter::Memory(filter), rate)
            }
            Where::File(path) => {
                let filter = in_file(path, capacity, args.rate.unwrap_or(FILE_RATE))?;
                let rate = filter.geometry().false_positive_rate_at(filter.capacity());
                (Filter::File(filter), rate)
            }
            Where::Redis { server, name } => {
                let builder = AsyncRedisBloomFilter::builder(server, name)
                    .capacity(args.capacity)
                    .false_positive_rate(rate)
                    .normalization(Normalization::new(NORMAL_FORM)?);
                (Filter::Redis(builder.open_or_create().await?), rate)
            }
        };
        Ok(Self { filter, rate, time: Duration::ZERO, unknown: 0 })
    }

    /// Returns of each URL whether it may be in the memory. Nobody wins such a URL any more.
    pub(crate) async fn contains(&mut self, urls: &[&str]) -> Result<Vec<bool>, Failure> {
        let start = Instant::now();
        let found = match self.filter.place() {
            Place::Here(filter) => filter.contains_many(urls),
            Place::Away(filter) => filter.contains_many(urls.iter().copied()).await?,
        };
        self.time += start.elapsed();
        Ok(found)
    }

    /// Claims URLs. Returns of each whether this process has won it: it is the first of all.
    pub(crate) async fn claim(&mut self, urls: &[&str]) -> Result<Vec<bool>, Failure> {
        let start = Instant::now();
        let mut won = Vec::with_capacity(urls.len());
        match self.filter.place() {
            Place::Here(filter) => {
                for verdict in filter.insert_many(urls) {
                    // Only this task inserts, so a memory that cannot insert is full.
                    won.push(verdict.map_err(|full| format!("{full}: give a larger --capacity"))?);
                }
            }
            Place::Away(filter) => {
                for verdict in filter.insert_many(urls.iter().copied()).await {
                    // If the answer was lost, it may have been the first, which nobody else is.
                    let is_unknown = matches!(verdict, Err(Error::VerdictUnknown { .. }));
                    self.unknown += u64::from(is_unknown);
                    won.push(is_unknown || verdict?);
                }
            }
        }
        self.time += start.elapsed();
        Ok(won)
    }

    /// Returns the number of URLs of all processes, the bytes of the memory, and the
    /// false-positive rate now.
    pub(crate) async fn fill(&self) -> Result<(f64, u64, f64), Failure> {
        let (figures, bytes) = match self.filter.place() {
            Place::Here(filter) => (filter.figures_sampled(u64::MAX), filter.size_in_bytes()),
            Place::Away(filter) => (filter.figures().await?, filter.storage().await?.size_in_bytes),
        };
        Ok((figures.items.value, bytes, figures.false_positive_rate.value))
    }

    /// Writes the claims to the disk, where they are in a file.
    pub(crate) fn flush(&self) -> Result<(), Failure> {
        if let Filter::File(filter) = &self.filter { Ok(filter.flush()?) } else { Ok(()) }
    }

    /// Returns what a user should know of this memory before a crawl.
    pub(crate) fn describe(&self) -> String {
        let (what, capacity) = match &self.filter {
            Filter::Memory(filter) => ("in memory, which grows to", filter.capacity() as u64),
            Filter::File(filter) => {
                ("in a file, which does not grow, for", filter.capacity() as u64)
            }
            Filter::Redis(filter) => ("in Redis, and grow; at first for", filter.capacity()),
        };
        let (rate, lost) = (self.rate, self.rate * capacity as f64);
        format!("known URLs are {what} {capacity}: at most {rate:.1e} are lost, {lost:.2} of all")
    }
}

/// Returns a filter of the lowest rate, from `rate`, at which it can grow; and of the largest bound.
fn in_memory(capacity: usize, rate: f64) -> Result<OnceCuckooFilter<str>, Failure> {
    let rates = iter::successors(Some(rate), |rate| Some(rate * 10.0));
    let mut refused = None;
    for rate in rates.take_while(|next| *next <= rate.max(1e-3)) {
        for doublings in (LEAST_DOUBLINGS..=MOST_DOUBLINGS).rev() {
            let builder = OnceCuckooFilter::<str>::builder().capacity(capacity);
            let builder = builder.max_capacity(capacity.saturating_mul(1 << doublings));
            match builder.false_positive_rate(rate).build() {
                Ok(filter) => return Ok(filter),
                Err(error) => refused = Some(error),
            }
        }
    }
    Err(refused.map_or_else(|| "the rate is no number".into(), Failure::from))
}

/// Opens the file of a filter, or creates it.
fn in_file(path: &Path, capacity: usize, rate: f64) -> Result<Live<Shared>, Failure> {
    let options = Options::new().normalization(Normalization::new(NORMAL_FORM)?);
    let builder = OnceBloomFilter::<str>::builder().capacity(capacity).false_positive_rate(rate);
    let hasher = Xxh3::with_seed(getrandom::u64()?);
    let parts = Parts { geometry: builder.words(1).geometry()?, capacity, hasher };
    match Live::<Shared>::create_file(path, &parts, &options) {
        // The file has its own sizes and seed.
        Err(SaveError::Io(error)) if error.kind() == ErrorKind::AlreadyExists => {}
        created => drop(created.map_err(|error| at(path, &error))?),
    }
    let file = File::options().read(true).write(true).open(path);
    // SAFETY: no process makes the file shorter. Crawlers only map it.
    let file = unsafe { MapFile::new(file.map_err(|error| at(path, &error))?) };
    options.open_live(file).map_err(|error| at(path, &error))
}

/// Names the file of an error.
fn at(path: &Path, error: &(impl error::Error + Display)) -> Failure {
    format!("{}: {error}", path.display()).into()
}
