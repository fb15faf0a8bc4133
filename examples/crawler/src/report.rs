//! Shows progress on a terminal, and prints what was done.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Write};
use std::time::Instant;

use indicatif::ProgressBar;

use crate::args::Args;
use crate::claims::Claims;
use crate::failure::Failure;
use crate::fetch::MAX_BODY;
use crate::frontier::Frontier;
use crate::log::Past;

/// The counts of this run.
pub(crate) struct Report {
    start: Instant,
    /// It shows nothing where standard error is no terminal.
    bar: ProgressBar,
    /// The pages that a server answered.
    pages: u64,
    /// The pages that are longer than what is read of them.
    cut: u64,
    /// All pages by result, and the robots.txt that could not be read.
    by_result: BTreeMap<String, u64>,
}

impl Report {
    pub(crate) fn new() -> Self {
        let (start, bar) = (Instant::now(), ProgressBar::new_spinner());
        Self { start, bar, pages: 0, cut: 0, by_result: BTreeMap::new() }
    }

    /// Counts what became of a page, or of a robots.txt.
    pub(crate) fn count(&mut self, result: &str, size: u64) {
        self.pages += u64::from(result.parse::<u16>().is_ok());
        self.cut += u64::from(size == MAX_BODY as u64);
        *self.by_result.entry(result.to_owned()).or_default() += 1;
    }

    pub(crate) fn show(&self, frontier: &Frontier) {
        let (pages, queued) = (self.pages, frontier.queued);
        let speed = pages as f64 / self.start.elapsed().as_secs_f64();
        self.bar.set_message(format!("{pages} pages, {speed:.0} per second, {queued} in queues"));
        self.bar.tick();
    }

    /// Prints what a crawl begins or goes on with.
    pub(crate) fn begin(claims: &Claims, past: &Past, args: &Args) -> Result<(), Failure> {
        let Past { identity, won, open, cut, .. } = past;
        let (won, done) = (won.len(), won.values().filter(|done| **done).count());
        let (about, open, pages, batch) =
            (&claims.seen.about, open.len(), args.connections, args.batch);
        print(&format!(
            "{about}\n\
             crawl {identity}: {won} URLs are won here, and {done} of them done\n\
             of a kill: {open} claims without a verdict, {cut} bytes of a cut record\n\
             fetched twice per kill: at most {pages} pages in flight, {batch} claims\n"
        ))
    }

    /// Prints the summary.
    pub(crate) async fn end(&self, claims: &Claims, frontier: &Frontier) -> Result<(), Failure> {
        self.bar.finish_and_clear();
        let (Self { pages, cut, by_result, .. }, left) = (self, frontier.queued);
        let seconds = self.start.elapsed().as_secs_f64();
        let speed = *pages as f64 / seconds;
        let (figures, bytes) = claims.seen.fill().await?;
        let (urls, rate) = (figures.items.value, figures.false_positive_rate.value);
        let (won, seen, unknown) = (claims.won(), &claims.seen, claims.seen.unknown);
        let (per_url, log) = (bytes as f64 / urls, claims.log.bytes as f64 / won as f64);
        let share = 100.0 * seen.time.as_secs_f64() / seconds;
        print(&format!(
            "{pages} pages, {cut} of them cut at 4 MiB\n\
             by result: {by_result:?}\n\
             left for a restart: {left}\n\
             {seconds:.1} s, {speed:.0} pages per second; {share:.2} % in the memory\n\
             {urls:.0} known URLs: {per_url:.1} bytes of memory each, rate {rate:.1e}\n\
             {won} won here: {log:.0} bytes of log each\n\
             {unknown} claims without an answer\n"
        ))
    }
}

/// Prints lines. A reader that has enough, such as `head`, closes the pipe.
fn print(lines: &str) -> Result<(), Failure> {
    let written = io::stdout().write_all(lines.as_bytes());
    let failed = written.err().filter(|error| error.kind() != ErrorKind::BrokenPipe);
    failed.map_or(Ok(()), |error| Err(format!("standard output: {error}").into()))
}
