//! Shows progress on a terminal, and prints what was done.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Instant;

use indicatif::ProgressBar;

use crate::args::Args;
use crate::claims::Claims;
use crate::failure::Failure;
use crate::frontier::Frontier;
use crate::log::{FAILED, FORBIDDEN, Past};

/// The counts of this run.
pub(crate) struct Report {
    start: Instant,
    /// It shows nothing where standard error is no terminal.
    bar: ProgressBar,
    by_status: BTreeMap<u16, u64>,
    /// The pages that wait for a restart, since their robots.txt could not be read.
    pub(crate) left: u64,
}

impl Report {
    pub(crate) fn new() -> Self {
        let (bar, by_status) = (ProgressBar::new_spinner(), BTreeMap::new());
        Self { start: Instant::now(), bar, by_status, left: 0 }
    }

    /// Counts a page that is done.
    pub(crate) fn count(&mut self, status: u16) {
        *self.by_status.entry(status).or_default() += 1;
    }

    /// Returns the pages that a server answered, and how many there were in a second.
    fn pages(&self) -> (u64, f64) {
        let pages = self.by_status.range(100..).map(|(_, count)| count).sum::<u64>();
        (pages, pages as f64 / self.start.elapsed().as_secs_f64())
    }

    pub(crate) fn show(&self, frontier: &Frontier) {
        let ((pages, speed), queued) = (self.pages(), frontier.queued);
        self.bar.set_message(format!("{pages} pages, {speed:.0} per second, {queued} in queues"));
        self.bar.tick();
    }

    /// Prints what a crawl begins or goes on with.
    pub(crate) fn begin(claims: &Claims, past: &Past, args: &Args) -> io::Result<()> {
        let Past { identity, won, open, cut } = past;
        let (won, done) = (won.len(), won.values().filter(|done| **done).count());
        let (open, pages, batch) = (open.len(), args.connections, args.batch);
        let mut out = io::stdout().lock();
        writeln!(out, "{}", claims.seen.about)?;
        writeln!(out, "crawl {identity}: {won} URLs are won here, and {done} of them done")?;
        writeln!(out, "of a kill: {open} claims without a verdict, {cut} bytes of a cut record")?;
        writeln!(out, "fetched twice per kill: at most {pages} pages in flight, {batch} claims")
    }

    /// Prints the summary.
    pub(crate) async fn end(&self, claims: &Claims, frontier: &Frontier) -> Result<(), Failure> {
        self.bar.finish_and_clear();
        let ((pages, speed), seconds) = (self.pages(), self.start.elapsed().as_secs_f64());
        let (by_status, left) = (&self.by_status, self.left + frontier.queued);
        let (urls, bytes, rate) = claims.seen.fill().await?;
        let (won, seen, most) = (claims.won(), &claims.seen, frontier.most);
        let (per_url, log) = (bytes as f64 / urls, claims.log.bytes as f64 / won as f64);
        let share = 100.0 * seen.time.as_secs_f64() / seconds;
        let mut out = io::stdout().lock();
        writeln!(out, "{pages} pages; left for a restart: {left}")?;
        writeln!(out, "by status ({FAILED}: failed, {FORBIDDEN}: forbidden): {by_status:?}")?;
        writeln!(out, "{seconds:.1} s, {speed:.0} pages per second; {share:.2} % in the memory")?;
        writeln!(out, "{urls:.0} known URLs: {per_url:.1} bytes of memory each, rate {rate:.1e}")?;
        writeln!(out, "{won} won here: {log:.0} bytes of log each; at most {most} in queues")?;
        Ok(writeln!(out, "{} claims without an answer", seen.unknown)?)
    }
}
