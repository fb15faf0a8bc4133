//! Claims the links of pages, in the order of writes that loses nothing at a kill.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use url::Url;

use crate::Failure;
use crate::args::Args;
use crate::log::{self, Done, Log};
use crate::report::Resumed;
use crate::seen::Seen;
use crate::urls;

/// The pages whose links are claimed together, if they wait.
const PAGES: usize = 64;

/// The links of a page, or start URLs or those of a sitemap, which belong to no page.
#[derive(Debug, Default)]
pub(crate) struct Found<T> {
    pub(crate) links: Vec<Url>,
    /// The page, if its links are all that it lacks to be done.
    pub(crate) done: Option<Done>,
    /// What the sender gets back.
    pub(crate) sender: T,
}

/// The answer to some pages: first what was won, then the pages.
#[derive(Debug)]
pub(crate) enum Claimed<T> {
    Won(Vec<Url>),
    Finished(Found<T>),
}

/// Everything that decides who fetches a URL, and what remains of it after a kill.
#[derive(Debug)]
pub(crate) struct Claims {
    pub(crate) seen: Seen,
    pub(crate) log: Log,
    /// The number of URLs that this process has won.
    pub(crate) won: u64,
    output: Option<File>,
    batch: usize,
    fsync: bool,
    max_pages: u64,
    /// The URLs per host that this process has won.
    of_host: HashMap<String, u64>,
}

impl Claims {
    /// Opens the log and the memory of URLs, and recovers. Returns also the URLs to fetch.
    pub(crate) async fn open(args: &Args) -> Result<(Self, Resumed, Vec<Url>), Failure> {
        let (log, past) = Log::open(&args.state, args.fsync)?;
        let mut claims = Self {
            seen: Seen::open(args, past.won.len()).await?,
            log,
            won: 0,
            output: args.output.as_deref().map(log::append).transpose()?,
            batch: usize::try_from(args.batch)?,
            fsync: args.fsync,
            max_pages: args.max_pages,
            of_host: HashMap::new(),
        };
        let done = past.won.values().filter(|done| **done).count() as u64;
        let mut resumed = Resumed { identity: past.identity, done, cut: past.cut, ..<_>::default() };

        // What was won is in the filter, even if that is new.
        let mut waiting = Vec::new();
        let mut urls = past.won.into_iter();
        loop {
            let (batch, is_done): (Vec<String>, Vec<bool>) =
                urls.by_ref().take(claims.batch).unzip();
            if batch.is_empty() {
                break;
            }
            claims.seen.claim(&batch).await?;
            for (url, is_done) in batch.iter().zip(is_done) {
                let url = Url::parse(url)?;
                claims.count(&url);
                waiting.extend((!is_done).then_some(url));
            }
        }
        resumed.left = waiting.len() as u64;

        // The claims before the kill may have been the first, so all are won.
        if !past.open.is_empty() {
            claims.log.intend(&past.open);
            claims.log.write()?;
            let again = claims.seen.claim(&past.open).await?;
            resumed.open = again.len() as u64;
            resumed.lost = again.iter().filter(|won| !**won).count() as u64;
            claims.log.decide(&vec![true; past.open.len()]);
            claims.save()?;
            for url in &past.open {
                let url = Url::parse(url)?;
                claims.count(&url);
                waiting.push(url);
            }
        }
        Ok((claims, resumed, waiting))
    }

    /// Claims the links of all pages that come, until there are no more senders.
    pub(crate) async fn run<T, E: From<Claimed<T>>>(
        mut self,
        mut pages: UnboundedReceiver<Found<T>>,
        events: UnboundedSender<E>,
    ) -> Result<Self, Failure> {
        let mut found = Vec::new();
        while pages.recv_many(&mut found, PAGES).await > 0 {
            let links = found.iter_mut().flat_map(|page| core::mem::take(&mut page.links));
            let links: Vec<Url> = links.collect();
            // `links` of many pages: those that anyone has claimed need no record.
            let new = self.new(links).await?;
            for batch in new.chunks(self.batch) {
                let won = self.claim(batch).await?;
                // The crawl has ended if nobody listens.
                _ = events.send(Claimed::Won(won).into());
            }
            self.finish(&found)?;
            found.drain(..).for_each(|page| _ = events.send(Claimed::Finished(page).into()));
        }
        Ok(self)
    }

    /// Returns the URLs to claim, each once: those that no process has claimed, of hosts that have
    /// not reached the maximum.
    async fn new(&mut self, links: Vec<Url>) -> Result<Vec<Url>, Failure> {
        let texts: Vec<String> = links.iter().map(|url| url.as_str().to_owned()).collect();
        let known = self.seen.contains(&texts).await?;
        let mut chosen = std::collections::HashSet::new();
        let mut new: Vec<Url> = Vec::new();
        for ((url, text), _) in links.into_iter().zip(texts).zip(known).filter(|(_, known)| !known) {
            let has_room = self.of_host.get(urls::host(&url)).is_none_or(|of| *of < self.max_pages);
            if has_room && chosen.insert(text) {
                self.count(&url);
                new.push(url);
            }
        }
        Ok(new)
    }

    /// Claims URLs, with their records. Returns those that were won.
    async fn claim(&mut self, batch: &[Url]) -> Result<Vec<Url>, Failure> {
        let texts: Vec<String> = batch.iter().map(|url| url.as_str().to_owned()).collect();
        self.log.intend(&texts);
        self.log.write()?;
        let verdict = self.seen.claim(&texts).await?;
        self.log.decide(&verdict);
        self.save()?;
        let mut won = Vec::new();
        for (url, is_won) in batch.iter().zip(verdict) {
            if is_won {
                won.push(url.clone());
            } else {
                // Another process has it.
                self.won -= 1;
                _ = self.of_host.get_mut(urls::host(url)).map(|of| *of -= 1);
            }
        }
        Ok(won)
    }

    /// Counts a URL as won.
    fn count(&mut self, url: &Url) {
        self.won += 1;
        *self.of_host.entry(urls::host(url).to_owned()).or_default() += 1;
    }

    /// Records pages whose links are recorded.
    fn finish<T>(&mut self, pages: &[Found<T>]) -> Result<(), Failure> {
        let mut lines = Vec::new();
        for page in pages.iter().filter_map(|page| page.done.as_ref()) {
            writeln!(lines, "{} {} {}", page.status, page.url, page.size)?;
            self.log.finish(page);
        }
        if let Some(output) = self.output.as_mut().filter(|_| !lines.is_empty()) {
            output.write_all(&lines)?;
            if self.fsync {
                output.sync_data()?;
            }
        }
        Ok(self.log.write()?)
    }

    /// Makes claims and their verdict last: the claims first, with `--fsync`.
    fn save(&mut self) -> Result<(), Failure> {
        if self.fsync {
            self.seen.flush()?;
        }
        Ok(self.log.write()?)
    }
}
