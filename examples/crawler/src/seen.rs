//! The memory of known URLs: in this process, in a file, or in Redis.

use core::time::Duration;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Instant;

use fs_err::File;
use tamis::formats::{Live, MapFile, Normalization, Options, Parts, SaveError};
use tamis::hash::Xxh3;
use tamis::{DynFilter, Figures, OnceBloomFilter, OnceCuckooFilter};
use tamis_redis::{AsyncRedisBloomFilter, Error};

use crate::args::{Args, Where};
use crate::failure::{Failure, at};
use crate::urls::NORMAL_FORM;

/// The rate where growth allows it, and that of a file, which has one word per URL.
const RATE: f64 = 1e-9;
const FILE_RATE: f64 = 1e-4;

/// What a memory can grow to, in capacities. With fingerprints of 42 bits it has its rate then.
const GROWTH: usize = 512;

type Shared = OnceBloomFilter<str, Xxh3>;

/// A memory of URLs.
pub(crate) struct Seen {
    args: &'static Args,
    filter: Filter,
    /// The file of the filter, if it has one.
    file: Option<&'static Live<Shared>>,
    /// What a user should know of it before a crawl.
    pub(crate) about: String,
    /// The time of all calls.
    pub(crate) time: Duration,
    /// The number of claims whose answer was lost, and which count as won.
    pub(crate) unknown: u64,
}

/// A filter, by the way to use it. One in this process lives as long as the process.
enum Filter {
    Here(&'static (dyn DynFilter<str> + Sync)),
    Away(AsyncRedisBloomFilter<str>),
}

impl Seen {
    /// Opens the memory, or creates it for at least `known` URLs.
    pub(crate) async fn open(args: &'static Args, known: usize) -> Result<Self, Failure> {
        let (capacity, rate) = (usize::try_from(args.capacity)?, args.rate.unwrap_or(RATE));
        let mut file = None;
        let (filter, what, capacity, rate) = match &args.seen {
            Where::Memory => {
                let here = in_memory(capacity.max(known), rate)?;
                let rate = here.geometry().false_positive_rate_at(here.capacity());
                (Filter::Here(here), "memory, which grows to", here.capacity() as f64, rate)
            }
            Where::File(path) => {
                let here = in_file(path, capacity, args.rate.unwrap_or(FILE_RATE))?;
                file = Some(here);
                let rate = here.geometry().false_positive_rate_at(here.capacity());
                let capacity = here.capacity() as f64;
                (Filter::Here(&**here), "a file, which does not grow, for", capacity, rate)
            }
            Where::Redis { server, name } => {
                let builder = AsyncRedisBloomFilter::builder(server, name)
                    .capacity(args.capacity)
                    .false_positive_rate(rate)
                    .normalization(Normalization::new(NORMAL_FORM)?);
                let away = Filter::Away(builder.open_or_create().await?);
                (away, "Redis, and grow; at first for", args.capacity as f64, rate)
            }
        };
        let lost = rate * capacity;
        let about = format!(
            "known URLs are in {what} {capacity}; then at most {rate:.1e} are lost, {lost:.2} in all"
        );
        Ok(Self { args, filter, file, about, time: Duration::ZERO, unknown: 0 })
    }

    /// Returns of each URL whether it may be in the memory. Nobody wins such a URL any more.
    pub(crate) async fn contains(&mut self, urls: &[&str]) -> Result<Vec<bool>, Failure> {
        let start = Instant::now();
        let found = match &self.filter {
            Filter::Here(filter) => filter.contains_many(urls),
            Filter::Away(filter) => filter.contains_many(urls.iter().copied()).await?,
        };
        self.time += start.elapsed();
        Ok(found)
    }

    /// Claims URLs. Returns of each whether this process has won it: it is the first of all.
    pub(crate) async fn claim(&mut self, urls: &[&str]) -> Result<Vec<bool>, Failure> {
        let start = Instant::now();
        // A file does not grow. If it is far too full, most new URLs would be lost.
        if let Some(file) = self.file
            && file.figures_sampled(1024).items.value > 2.0 * file.capacity() as f64
        {
            return Err("the file is full: give a larger --capacity, and a new file".into());
        }
        let mut won = Vec::with_capacity(urls.len());
        match &self.filter {
            Filter::Here(filter) => {
                for verdict in filter.insert_many(urls) {
                    // Only this task inserts, so a memory that cannot insert is full.
                    won.push(verdict.map_err(|full| format!("{full}: give a larger --capacity"))?);
                }
            }
            Filter::Away(filter) => {
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

    /// Returns how full the memory is, with the claims of all processes, and its bytes.
    pub(crate) async fn fill(&self) -> Result<(Figures, u64), Failure> {
        Ok(match &self.filter {
            Filter::Here(filter) => (filter.figures_sampled(u64::MAX), filter.size_in_bytes()),
            Filter::Away(filter) => {
                (filter.figures().await?, filter.storage().await?.size_in_bytes)
            }
        })
    }

    /// Writes claims in a file to the disk, with `--fsync`.
    pub(crate) fn flush(&self) -> Result<(), Failure> {
        Ok(self.file.filter(|_| self.args.fsync).map_or(Ok(()), Live::flush)?)
    }
}

/// Returns a filter that can grow, of the lowest rate from `rate` at which it can.
fn in_memory(capacity: usize, rate: f64) -> Result<&'static OnceCuckooFilter<str>, Failure> {
    let build = |rate| {
        let builder = OnceCuckooFilter::<str>::builder().capacity(capacity);
        let builder = builder.max_capacity(capacity.saturating_mul(GROWTH));
        builder.false_positive_rate(rate).build()
    };
    let built = (0..10).find_map(|more| build(rate * 10_f64.powi(more)).ok());
    Ok(Box::leak(Box::new(built.map_or_else(|| build(rate), Ok)?)))
}

/// Opens the file of a filter, or creates it.
fn in_file(path: &Path, capacity: usize, rate: f64) -> Result<&'static Live<Shared>, Failure> {
    let options = Options::new().normalization(Normalization::new(NORMAL_FORM)?);
    let builder = OnceBloomFilter::<str>::builder().capacity(capacity).false_positive_rate(rate);
    let hasher = Xxh3::with_seed(getrandom::u64()?);
    let parts = Parts { geometry: builder.words(1).geometry()?, capacity, hasher };
    match Live::<Shared>::create_file(path, &parts, &options) {
        // The file has its own sizes and seed.
        Err(SaveError::Io(error)) if error.kind() == ErrorKind::AlreadyExists => {}
        created => drop(created.map_err(|error| at(path, &error))?),
    }
    let file = File::options().read(true).write(true).open(path)?.into_file();
    // SAFETY: no process makes the file shorter. Crawlers only map it.
    let file = unsafe { MapFile::new(file) };
    Ok(Box::leak(Box::new(options.open_live(file).map_err(|error| at(path, &error))?)))
}
