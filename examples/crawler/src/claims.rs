//! Claims the links of pages, in the order of writes that loses nothing at a kill.

use std::collections::HashMap;
use std::io::{self, Write};

use same_file::is_same_file;
use url::Url;

use crate::args::{Args, Where};
use crate::failure::{Failure, at};
use crate::log::{self, Done, Log, Past};
use crate::seen::Seen;
use crate::urls;

/// The links of a page, or those of no page: start URLs, or sitemaps.
pub(crate) struct Found {
    pub(crate) links: Vec<Url>,
    /// The page, which is done when its links are recorded.
    pub(crate) done: Option<Done>,
}

/// Everything that decides who fetches a URL, and what remains of it after a kill.
pub(crate) struct Claims {
    pub(crate) seen: Seen,
    pub(crate) log: Log,
    args: &'static Args,
    output: Box<dyn Write>,
    /// The URLs per host that this process has won.
    of_host: HashMap<String, u64>,
}

impl Claims {
    /// Opens the log and the memory of URLs, and recovers. Returns also the pages to fetch.
    pub(crate) async fn open(args: &'static Args) -> Result<(Self, Past, Vec<Url>), Failure> {
        let (log, past) = Log::open(args)?;
        let seen = Seen::open(args, past.won.len()).await?;
        let output = output(args)?;
        let mut claims = Self { seen, log, args, output, of_host: HashMap::new() };

        // What was won is in the memory, even if that is new. The claims before the kill may have
        // been the first, so all of them are won, whatever the answer is now.
        let open: Vec<&str> = past.open.iter().map(String::as_str).collect();
        let all: Vec<&str> = past.won.keys().map(String::as_str).chain(open.clone()).collect();
        for batch in all.chunks(args.batch as usize) {
            claims.seen.claim(batch).await?;
        }
        if !open.is_empty() {
            claims.log.intend(&open);
            claims.log.decide(&vec![true; open.len()]);
            claims.seen.flush()?;
            claims.log.write()?;
        }

        let mut waiting = Vec::new();
        for text in all {
            let url = Url::parse(text)?;
            *claims.won_of(&url) += 1;
            let is_done = past.won.get(text) == Some(&true);
            waiting.extend((!is_done && args.allows(&url)).then_some(url));
        }
        Ok((claims, past, waiting))
    }

    /// Claims the links of pages, then records the pages as done. Returns the URLs that were won.
    pub(crate) async fn record(&mut self, found: Vec<Found>) -> Result<Vec<Url>, Failure> {
        let (links, done): (Vec<_>, Vec<_>) = found.into_iter().map(|f| (f.links, f.done)).unzip();
        let mut won = Vec::new();
        for batch in self.choose(links.concat()).await?.chunks(self.args.batch as usize) {
            won.extend(self.claim(batch).await?);
        }
        let mut lines = Vec::new();
        for page in done.into_iter().flatten() {
            writeln!(lines, "{} {} {}", page.result, page.url, page.size)?;
            self.log.finish(&page);
        }
        self.output.write_all(&lines)?;
        self.log.write()?;
        Ok(won)
    }

    /// Returns the URLs to claim, each once: those that no process has claimed, of hosts that have
    /// not reached the maximum.
    async fn choose(&mut self, mut links: Vec<Url>) -> Result<Vec<Url>, Failure> {
        links.retain(|url| self.args.allows(url));
        links.sort_unstable();
        links.dedup();
        let texts: Vec<&str> = links.iter().map(Url::as_str).collect();
        let known = self.seen.contains(&texts).await?;
        let mut new = Vec::new();
        for (url, _) in links.into_iter().zip(known).filter(|(_, is_known)| !is_known) {
            if *self.won_of(&url) < self.args.max_pages {
                *self.won_of(&url) += 1;
                new.push(url);
            }
        }
        Ok(new)
    }

    /// Claims URLs, with their records. Returns those that were won.
    async fn claim(&mut self, batch: &[Url]) -> Result<Vec<Url>, Failure> {
        let texts: Vec<&str> = batch.iter().map(Url::as_str).collect();
        self.log.intend(&texts);
        self.log.write()?;
        let verdict = self.seen.claim(&texts).await?;
        self.log.decide(&verdict);
        self.seen.flush()?;
        self.log.write()?;
        let (won, others): (Vec<_>, Vec<_>) = batch.iter().zip(verdict).partition(|(_, won)| *won);
        // Other processes have won the others since the question.
        others.into_iter().for_each(|(url, _)| *self.won_of(url) -= 1);
        Ok(won.into_iter().map(|(url, _)| url.clone()).collect())
    }

    /// Returns the number of URLs of a URL's host that were won.
    fn won_of(&mut self, url: &Url) -> &mut u64 {
        self.of_host.entry(urls::host(url).to_owned()).or_default()
    }

    /// Returns the number of URLs that this process has won.
    pub(crate) fn won(&self) -> u64 {
        self.of_host.values().sum()
    }
}

/// Opens the file for one line per page, unless it is one of the other files: lines would destroy
/// them.
fn output(args: &Args) -> Result<Box<dyn Write>, Failure> {
    let Some(path) = &args.output else { return Ok(Box::new(io::sink())) };
    let log = args.state.join("log");
    let seen = if let Where::File(seen) = &args.seen { Some(seen) } else { None };
    let others = [Some(&log), seen, args.host_map.as_ref().map(|map| &map.path)];
    // A file that does not exist yet is none of them.
    if others.into_iter().flatten().any(|other| is_same_file(path, other).unwrap_or(false)) {
        return Err(at(path, &"the output cannot be the log, the memory or the map of hosts"));
    }
    Ok(Box::new(log::append(path)?))
}
