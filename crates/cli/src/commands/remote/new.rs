//! `tamis new` on a filter in Redis: the records of which this run is the first, among all runs on
//! all machines.

use std::time::Instant;

use tamis::hash::{Algorithm, AnyStable, StableHasher};
use tamis_redis::Error as RedisError;

use super::{describe, has_no_format};
use crate::args::NewArgs;
use crate::commands::new::Keeper;
use crate::commands::report::Report;
use crate::error::Error;
use crate::file_kind::{CREATED_RATE, FileKind};
use crate::input;
use crate::outlet::Outlet;
use crate::output::{self, Roles};
use crate::pipeline::{Hasher, Records, Seed};
use crate::remote::{Address, Filter, claim};
use crate::screen::Screen;

/// The records that are claimed at once: 256 for each of 16 shards, which is the most that one
/// command takes.
const CLAIMED: usize = 4096;

/// Runs `tamis new` on a filter in Redis.
pub(in crate::commands) fn new(
    mut args: NewArgs,
    address: &Address,
    mut records: Records,
    start: Instant,
) -> Result<(), Error> {
    args.require_possible()?;
    let files = core::mem::take(&mut args.files);
    Roles::of(&files).print_to(None)?;
    let inputs = input::inputs(files, args.records.no_decompress)?;
    let filter = args.open_remote(address, &records)?;
    // What is claimed at once is what a killed run has not printed.
    records.most = Some(args.chunk.unwrap_or(CLAIMED));
    let (file, _) = output::open(None)?;
    let mut screen = Screen::new(args.records.quiet, args.records.progress, inputs.bytes, None);
    // Nothing is saved, because the server has everything. A signal ends the run after what was
    // inserted is printed.
    let (output, save) = (output::packed(Outlet::new(&file), None), || Ok(None));
    let keeper = Keeper::new(&output, &save, None, false);
    let done = keeper.run(inputs.list, &records, &claim(&filter), &mut screen, None)?;

    let mut report = Report::of_news(&done, start);
    describe(&mut report, &filter, address, args.records.quiet);
    report.show(&args.records);
    Ok(())
}

impl NewArgs {
    /// Returns an error if an option has no meaning for a filter in Redis.
    fn require_possible(&self) -> Result<(), Error> {
        let kind = self.kind.is_some_and(|kind| kind != FileKind::Scalable);
        let refused = [
            ("--kind", kind, "a filter in Redis is a scalable Bloom filter"),
            (
                "--window",
                self.window.as_ref().is_some_and(|window| window.span.is_none()),
                "a filter in Redis forgets by time, such as --window 24h",
            ),
            ("--no-wait", self.no_wait, "nothing is saved, so nothing waits for the reader"),
            ("--save-every", self.save_every.is_some(), "the server has each record at once"),
            (
                "--output",
                self.output.is_some(),
                "redirect the output: what is stored must be printed at once",
            ),
            ("--key-type", self.keys.key_type.is_some(), "the keys of a filter in Redis are bytes"),
            ("--from", !has_no_format(&self.from), "a filter in Redis has one format"),
        ];
        match refused.iter().find(|(_, given, _)| *given) {
            None => Ok(()),
            Some((option, _, why)) => {
                Err(Error::Usage(format!("{option} is not possible here: {why}")))
            }
        }
    }

    /// Opens the filter, or creates it. The options that are given must be those of a filter that
    /// exists.
    fn open_remote(&self, address: &Address, records: &Records) -> Result<Filter, Error> {
        let asked = address.builder(&self.server, self.records.quiet);
        let mut asked = asked.normalization(records.key.form.saved());
        if let Some(capacity) = self.capacity {
            asked = asked.capacity(capacity);
        }
        if let Some(rate) = self.rate {
            asked = asked.false_positive_rate(rate);
        }
        if let Some(span) = self.window.as_ref().and_then(|window| window.span) {
            asked = asked.window(span);
        }
        // A random key is that of no filter that exists. Its algorithm can be compared.
        let fixed = match self.seed {
            Some(Seed::Fixed(_)) => asked.clone().hasher(self.hasher()?),
            _ => asked.clone(),
        };
        let rate = self.rate.unwrap_or(CREATED_RATE);
        let new = asked.false_positive_rate(rate).hasher(self.hasher()?);
        let opened = fixed.open_or_create_as(&new);
        let filter = opened.map_err(|source| address.refused(source))?;
        if self.seed == Some(Seed::Random) && filter.hasher().algorithm() != Algorithm::SipHash13 {
            return Err(address.refused(RedisError::Parameters {
                field: "hash",
                found: filter.hasher().algorithm().name().into(),
                expected: Algorithm::SipHash13.name().into(),
            }));
        }
        Ok(filter)
    }

    /// The hasher of a created filter.
    fn hasher(&self) -> Result<AnyStable, Error> {
        Ok(AnyStable::from(Hasher::new(self.seed.unwrap_or(Seed::Fixed(0)))?))
    }
}
