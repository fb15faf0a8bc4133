//! Shows progress on a terminal, and prints what was done.

use core::time::Duration;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use crate::Failure;
use crate::args::Args;
use crate::claims::Claims;
use crate::frontier::Frontier;
use crate::log::{FAILED, FORBIDDEN, Past};

/// The counts of this run.
#[derive(Debug)]
pub(crate) struct Report {
    start: Instant,
    /// It shows nothing where standard error is no terminal.
    bar: ProgressBar,
    by_status: BTreeMap<u16, u64>,
    bytes: u64,
    /// The pages that wait for a restart, since their robots.txt could not be read.
    pub(crate) left: u64,
}

impl Report {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::new_spinner().with_style(ProgressStyle::default_spinner());
        Self { start: Instant::now(), bar, by_status: BTreeMap::new(), bytes: 0, left: 0 }
    }

    /// Counts a page that is done.
    pub(crate) fn count(&mut self, status: u16, size: u64) {
        *self.by_status.entry(status).or_default() += 1;
        self.bytes += size;
    }

    /// Returns the pages that a server answered, and how many there were in a second.
    fn pages(&self, time: Duration) -> (u64, f64) {
        let answered = self.by_status.iter().filter(|(status, _)| **status >= 100);
        let pages = answered.map(|(_, count)| count).sum::<u64>();
        (pages, pages as f64 / time.as_secs_f64())
    }

    pub(crate) fn show(&self, frontier: &Frontier) {
        let (pages, speed) = self.pages(self.start.elapsed());
        let queued = frontier.queued.0;
        self.bar.set_message(format!("{pages} pages, {speed:.0} per second, {queued} in queues"));
        self.bar.tick();
    }

    /// Prints what a crawl begins or goes on with.
    pub(crate) fn begin(claims: &Claims, past: &Past, args: &Args) -> io::Result<()> {
        let Past { identity, won, open, cut } = past;
        let (won, done) = (won.len(), won.values().filter(|done| **done).count());
        let (open, pages, batch) = (open.len(), args.connections, args.batch);
        let mut out = io::stdout().lock();
        writeln!(out, "{}", claims.seen.describe())?;
        writeln!(
            out,
            "crawl {identity}: {won} URLs are won and {done} of them done; {open} claims had no \
             verdict, and are fetched; {cut} bytes of an unfinished record were removed"
        )?;
        writeln!(out, "fetched twice per kill: at most {pages} pages in flight, {batch} claims")
    }

    /// Prints the summary.
    pub(crate) async fn end(&self, claims: &Claims, frontier: &Frontier) -> Result<(), Failure> {
        self.bar.finish_and_clear();
        let (time, in_seen) = (self.start.elapsed(), claims.seen.time.as_secs_f64());
        let ((pages, speed), seconds) = (self.pages(time), time.as_secs_f64());
        let of = |status| self.by_status.get(&status).copied().unwrap_or_default();
        let answered = self.by_status.iter().filter(|(status, _)| **status >= 100);
        let statuses: String = answered.map(|(status, of)| format!("{status}: {of}, ")).collect();
        let (failed, forbidden, left) = (of(FAILED), of(FORBIDDEN), self.left + frontier.queued.0);
        let (urls, bytes, rate) = claims.seen.fill().await?;
        let (won, log) = (claims.won(), claims.log.bytes);
        let mut out = io::stdout().lock();
        writeln!(out, "{pages} pages, {} bytes; {statuses}failed: {failed}", self.bytes)?;
        writeln!(out, "forbidden by robots.txt: {forbidden}; left for a restart: {left}")?;
        writeln!(
            out,
            "{seconds:.1} s, {speed:.0} pages per second; {:.2} % of the time in the memory of URLs",
            100.0 * in_seen / seconds,
        )?;
        writeln!(
            out,
            "{urls:.0} known URLs, of which {won} were won here; {:.1} bytes of memory per URL; \
             false-positive rate {rate:.1e}; {} claims without an answer",
            bytes as f64 / urls.max(1.0),
            claims.seen.unknown,
        )?;
        let (most, per_url) = (frontier.most_bytes, log as f64 / won.max(1) as f64);
        writeln!(out, "URLs in queues: at most {most} bytes; log: {per_url:.0} bytes per URL won")?;
        Ok(())
    }
}
