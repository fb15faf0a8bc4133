//! The memory of known URLs: in this process, in a file, or in Redis.

use core::time::Duration;
use std::fs::File;
use std::path::Path;
use std::thread;
use std::time::Instant;

use tamis::cuckoo::Builder;
use tamis::formats::{Live, MapFile, Normalization, Options, Parts, SaveError};
use tamis::hash::Xxh3;
use tamis::{InsertError, OnceBloomFilter, OnceCuckooFilter};
use tamis_redis::{AsyncRedisBloomFilter, Error};

use crate::Failure;
use crate::args::{Args, Place};
use crate::urls::NORMAL_FORM;

/// The rate where growth allows it, and that of a file, which has one word per URL.
const RATE: f64 = 1e-9;
const FILE_RATE: f64 = 1e-4;

/// The most and the fewest doublings of the capacity in memory that are tried.
const DOUBLINGS: (u32, u32) = (12, 4);

type Shared = OnceBloomFilter<str, Xxh3>;

/// A memory of URLs, and the time spent in it.
#[derive(Debug)]
pub(crate) struct Seen {
    filter: Filter,
    /// The time of all calls.
    pub(crate) time: Duration,
    /// The claims whose answer was lost, and which count as won.
    pub(crate) unknown: u64,
}

enum Filter {
    Memory(OnceCuckooFilter<str>),
    File(Live<Shared>),
    Redis(AsyncRedisBloomFilter<str>),
}

impl core::fmt::Debug for Filter {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Filter")
    }
}

/// How full the memory is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    /// The URLs of all processes.
    pub(crate) urls: f64,
    pub(crate) bytes: u64,
    /// The false-positive rate now.
    pub(crate) rate: f64,
}

impl Seen {
    /// Opens the memory, or creates it for at least `known` URLs.
    pub(crate) async fn open(args: &Args, known: usize) -> Result<Self, Failure> {
        let filter = match &args.seen {
            Place::Memory => {
                let capacity = usize::try_from(args.capacity)?.max(known);
                Filter::Memory(in_memory(capacity, args.rate.unwrap_or(RATE))?)
            }
            Place::File(path) => Filter::File(in_file(path, args)?),
            Place::Redis { server, name } => {
                let builder = AsyncRedisBloomFilter::builder(server, name)
                    .capacity(args.capacity)
                    .false_positive_rate(args.rate.unwrap_or(RATE))
                    .normalization(Normalization::new(NORMAL_FORM)?);
                Filter::Redis(builder.open_or_create().await?)
            }
        };
        Ok(Self { filter, time: Duration::ZERO, unknown: 0 })
    }

    /// Returns of each URL whether it may be in the memory. Nobody wins such a URL any more.
    pub(crate) async fn contains(&mut self, urls: &[String]) -> Result<Vec<bool>, Failure> {
        let start = Instant::now();
        let urls = urls.iter().map(String::as_str);
        let found = match &self.filter {
            Filter::Memory(filter) => filter.contains_many(urls),
            Filter::File(filter) => filter.contains_many(urls),
            Filter::Redis(filter) => filter.contains_many(urls).await?,
        };
        self.time += start.elapsed();
        Ok(found)
    }

    /// Claims URLs. Returns of each whether this process has won it: it is the first of all.
    pub(crate) async fn claim(&mut self, urls: &[String]) -> Result<Vec<bool>, Failure> {
        let start = Instant::now();
        let each = urls.iter().map(String::as_str);
        let won = match &self.filter {
            Filter::Memory(filter) => each.map(|url| insert(filter, url)).collect::<Result<_, _>>(),
            Filter::File(filter) => Ok(filter.insert_many(each)),
            Filter::Redis(filter) => {
                let verdicts = filter.insert_many(each).await.into_iter();
                let unknown = &mut self.unknown;
                let verdicts = verdicts.map(|verdict| match verdict {
                    // Perhaps it was the first, and nobody else will be told so.
                    Err(Error::VerdictUnknown { .. }) => {
                        *unknown += 1;
                        Ok(true)
                    }
                    verdict => verdict.map_err(Failure::from),
                });
                verdicts.collect()
            }
        };
        self.time += start.elapsed();
        won
    }

    pub(crate) async fn fill(&self) -> Result<Fill, Failure> {
        let (figures, bytes) = match &self.filter {
            Filter::Memory(filter) => (filter.figures(), filter.size_in_bytes()),
            Filter::File(filter) => (filter.figures(), filter.size_in_bytes()),
            Filter::Redis(filter) => {
                (filter.figures().await?, filter.storage().await?.size_in_bytes)
            }
        };
        let (urls, rate) = (figures.items.value, figures.false_positive_rate.value);
        Ok(Fill { urls, bytes, rate })
    }

    /// Writes the claims to the disk, where they are in a file.
    pub(crate) fn flush(&self) -> Result<(), Failure> {
        if let Filter::File(filter) = &self.filter { Ok(filter.flush()?) } else { Ok(()) }
    }

    /// Returns what the user should know of this memory.
    pub(crate) fn describe(&self) -> String {
        match &self.filter {
            Filter::Memory(filter) => {
                let (capacity, geometry) = (filter.capacity(), filter.geometry());
                let rate = geometry.false_positive_rate_at(capacity);
                format!("memory for at most {capacity} URLs, where the rate is {rate:.1e}")
            }
            Filter::File(filter) => {
                let (capacity, geometry) = (filter.capacity(), filter.geometry());
                let rate = geometry.false_positive_rate_at(capacity);
                let (lost, bytes) = (rate * capacity as f64, filter.size_in_bytes());
                format!(
                    "a file for {capacity} URLs in {bytes} bytes: when it is full, fewer than \
                     {lost:.2} URLs are lost (rate {rate:.1e})"
                )
            }
            Filter::Redis(filter) => {
                format!("a filter in Redis that grows, at a rate of {:.1e}", filter.requested_rate())
            }
        }
    }
}

/// Claims a URL in memory.
fn insert(filter: &OnceCuckooFilter<str>, url: &str) -> Result<bool, Failure> {
    loop {
        match filter.insert(url) {
            // Another thread has stopped for a moment.
            Err(InsertError::Stalled) => thread::yield_now(),
            Err(InsertError::Full) => {
                return Err("the memory is full: continue with a larger --capacity".into());
            }
            verdict => return Ok(verdict?),
        }
    }
}

/// Returns a filter of the lowest rate, from `rate`, that can grow; and of the largest bound.
fn in_memory(capacity: usize, rate: f64) -> Result<OnceCuckooFilter<str>, Failure> {
    let rates = core::iter::successors(Some(rate), |rate| Some(rate * 10.0));
    let mut last = None;
    for rate in rates.take_while(|next| *next <= rate.max(1e-3)) {
        for doublings in (DOUBLINGS.1..=DOUBLINGS.0).rev() {
            let bound = capacity.saturating_mul(1 << doublings);
            let builder: Builder<OnceCuckooFilter<str>> = OnceCuckooFilter::builder();
            let builder = builder.capacity(capacity).max_capacity(bound).false_positive_rate(rate);
            match builder.build() {
                Ok(filter) => return Ok(filter),
                Err(error) => last = Some(error),
            }
        }
    }
    Err(last.map_or_else(|| "a rate is between 0 and 1".into(), Failure::from))
}

/// Opens the file of a filter, or creates it.
fn in_file(path: &Path, args: &Args) -> Result<Live<Shared>, Failure> {
    let shown = |error: &dyn core::fmt::Display| format!("{}: {error}", path.display());
    let options = Options::new().normalization(Normalization::new(NORMAL_FORM)?);
    if !path.try_exists().map_err(|error| shown(&error))? {
        let builder = OnceBloomFilter::<str>::builder()
            .capacity(usize::try_from(args.capacity)?)
            .false_positive_rate(args.rate.unwrap_or(FILE_RATE))
            .words(1);
        let hasher = Xxh3::with_seed(getrandom::u64()?);
        let capacity = usize::try_from(args.capacity)?;
        let parts = Parts { geometry: builder.geometry()?, capacity, hasher };
        match Live::<Shared>::create_file(path, &parts, &options) {
            // Another process was faster.
            Err(SaveError::Io(error)) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            created => drop(created.map_err(|error| shown(&error))?),
        }
    }
    let open = || File::options().read(true).write(true).open(path);
    let file = open().map_err(|error| shown(&error))?;
    // SAFETY: no process makes the file shorter: crawlers only map it, and the README tells users
    // not to.
    let file = unsafe { MapFile::new(file) };
    Ok(options.open_live(file).map_err(|error| shown(&error))?)
}
