//! Shows progress on a terminal, and the summary at the end.

use core::time::Duration;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use crate::Failure;
use crate::args::Args;
use crate::claims::Claims;
use crate::frontier::Frontier;
use crate::log::{FAILED, FORBIDDEN};

/// What a restart has found in the log.
#[derive(Debug, Default)]
pub(crate) struct Resumed {
    /// The identity of the crawl.
    pub(crate) identity: String,
    /// The pages that are done.
    pub(crate) done: u64,
    /// The pages that were won and are not done.
    pub(crate) left: u64,
    /// The claims without a verdict, and those of them that were lost when claimed again.
    pub(crate) open: u64,
    pub(crate) lost: u64,
    /// The bytes of a record that a kill had cut.
    pub(crate) cut: u64,
}

/// The counts of this run.
#[derive(Debug)]
pub(crate) struct Report {
    start: Instant,
    bar: ProgressBar,
    by_status: BTreeMap<u16, u64>,
    bytes: u64,
    /// The pages that wait for a restart, since their robots.txt could not be read.
    pub(crate) left: u64,
}

impl Report {
    pub(crate) fn new() -> Self {
        // It shows nothing where standard error is no terminal.
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{elapsed} {msg}") {
            bar.set_style(style);
        }
        let (by_status, bytes, left) = Default::default();
        Self { start: Instant::now(), bar, by_status, bytes, left }
    }

    /// Counts a page that is done.
    pub(crate) fn count(&mut self, status: u16, size: u64) {
        *self.by_status.entry(status).or_default() += 1;
        self.bytes += size;
    }

    pub(crate) fn show(&self, frontier: &Frontier) {
        let (pages, seconds) = (self.pages(), self.start.elapsed().as_secs_f64());
        let (rate, queued) = (pages as f64 / seconds, frontier.queued.0);
        self.bar.set_message(format!("{pages} pages, {rate:.0} per second, {queued} in queues"));
        self.bar.tick();
    }

    /// Returns the pages that a server answered.
    fn pages(&self) -> u64 {
        let answered = self.by_status.iter().filter(|(status, _)| **status >= 100);
        answered.map(|(_, count)| count).sum()
    }

    /// Prints what a restart goes on with.
    pub(crate) fn resumed(&self, resumed: &Resumed, args: &Args) -> io::Result<()> {
        let Resumed { identity, done, left, open, lost, cut } = resumed;
        let mut out = io::stdout().lock();
        if done + left + open > 0 {
            writeln!(out, "crawl {identity} goes on: {done} pages are done, and {left} to do")?;
            writeln!(
                out,
                "{open} claims had no verdict: {lost} of them were not new, and are fetched too"
            )?;
        }
        if *cut > 0 {
            writeln!(out, "{cut} bytes of an unfinished record were removed")?;
        }
        let (pages, claims) = (args.connections, args.batch);
        writeln!(
            out,
            "a kill lets at most {pages} pages in flight and {claims} claims be fetched twice"
        )
    }

    /// Prints the summary.
    pub(crate) async fn summary(
        &self,
        claims: &Claims,
        frontier: &Frontier,
    ) -> Result<(), Failure> {
        self.bar.finish_and_clear();
        let (time, pages) = (self.start.elapsed(), self.pages());
        let of = |status| self.by_status.get(&status).copied().unwrap_or_default();
        let statuses: Vec<String> = self.by_status.iter().map(status).collect();
        let fill = claims.seen.fill().await?;
        let mut out = io::stdout().lock();
        writeln!(
            out,
            "{pages} pages, {} bytes: {}; {} failed, {} forbidden, {} left for a restart",
            self.bytes,
            statuses.iter().filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join(", "),
            of(FAILED),
            of(FORBIDDEN),
            self.left + frontier.queued.0,
        )?;
        writeln!(
            out,
            "{:.1} s, {:.0} pages per second; in the memory of URLs {:.3} s, {:.2} % of the time",
            time.as_secs_f64(),
            pages as f64 / time.as_secs_f64(),
            claims.seen.time.as_secs_f64(),
            100.0 * ratio(claims.seen.time, time),
        )?;
        let per_url = |bytes: u64| bytes as f64 / fill.urls.max(1.0);
        writeln!(
            out,
            "{:.0} known URLs, {} won here: {:.1} bytes of memory per URL, rate now {:.1e}",
            fill.urls,
            claims.won,
            per_url(fill.bytes),
            fill.rate,
        )?;
        writeln!(
            out,
            "the queues had at most {} bytes of URLs; the log has {}, {:.0} per URL won",
            frontier.most_bytes,
            claims.log.size_in_bytes(),
            claims.log.size_in_bytes() as f64 / claims.won.max(1) as f64,
        )?;
        if claims.seen.unknown > 0 {
            writeln!(out, "{} claims had no answer, and count as won", claims.seen.unknown)?;
        }
        Ok(())
    }
}

/// Returns a status and its count, empty if no server gave it.
fn status((status, count): (&u16, &u64)) -> String {
    if *status < 100 { String::new() } else { format!("{status}: {count}") }
}

fn ratio(part: Duration, whole: Duration) -> f64 {
    part.as_secs_f64() / whole.as_secs_f64()
}
