//! Claims the links of pages, in the order of writes that loses nothing at a kill.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::mem;

use tokio::sync::mpsc::UnboundedReceiver;
use url::Url;

use crate::Failure;
use crate::args::Args;
use crate::frontier::HostId;
use crate::log::{self, Done, Log, Past};
use crate::seen::Seen;
use crate::urls;

/// The pages whose links are claimed together, if they wait.
const PAGES: usize = 64;

/// The links of a page, or those of no page: start URLs, or sitemaps.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) links: Vec<Url>,
    /// The page, which is done when its links are recorded.
    pub(crate) done: Option<Done>,
    /// The host to which a connection was used.
    pub(crate) host: Option<HostId>,
}

/// The answer to some pages: first what was won, then the pages.
#[derive(Debug)]
pub(crate) enum Claimed {
    Won(Vec<Url>),
    Finished(Found),
}

/// Everything that decides who fetches a URL, and what remains of it after a kill.
pub(crate) struct Claims {
    pub(crate) seen: Seen,
    pub(crate) log: Log,
    output: Option<File>,
    batch: usize,
    fsync: bool,
    max_pages: u64,
    /// The URLs per host that this process has won.
    of_host: HashMap<String, u64>,
}

impl Claims {
    /// Opens the log and the memory of URLs, and recovers. Returns also the pages to fetch.
    pub(crate) async fn open(args: &Args) -> Result<(Self, Past, Vec<Url>), Failure> {
        let (log, past) = Log::open(&args.state, args.fsync)?;
        let mut claims = Self {
            seen: Seen::open(args, past.won.len()).await?,
            log,
            output: args.output.as_deref().map(log::append).transpose()?,
            batch: usize::try_from(args.batch)?,
            fsync: args.fsync,
            max_pages: args.max_pages,
            of_host: HashMap::new(),
        };

        // What was won is in the memory, even if that is new. The claims before the kill may have
        // been the first, so all of them are won, whatever the answer is now.
        let open: Vec<&str> = past.open.iter().map(String::as_str).collect();
        let all: Vec<&str> = past.won.keys().map(String::as_str).chain(open.clone()).collect();
        for batch in all.chunks(claims.batch) {
            claims.seen.claim(batch).await?;
        }
        if !open.is_empty() {
            claims.log.intend(&open);
            claims.log.decide(&vec![true; open.len()]);
            claims.save()?;
        }

        let mut waiting = Vec::new();
        for text in all {
            let url = Url::parse(text)?;
            *claims.won_of(&url) += 1;
            waiting.extend((past.won.get(text) != Some(&true)).then_some(url));
        }
        Ok((claims, past, waiting))
    }

    /// Claims the links of all pages that come, until there are no more senders.
    pub(crate) async fn run(
        mut self,
        mut pages: UnboundedReceiver<Found>,
        on_event: impl Fn(Claimed),
    ) -> Result<Self, Failure> {
        let mut found = Vec::new();
        while pages.recv_many(&mut found, PAGES).await > 0 {
            let links = found.iter_mut().flat_map(|page| mem::take(&mut page.links)).collect();
            for batch in self.new(links).await?.chunks(self.batch) {
                on_event(Claimed::Won(self.claim(batch).await?));
            }
            self.finish(&found)?;
            found.drain(..).for_each(|page| on_event(Claimed::Finished(page)));
        }
        Ok(self)
    }

    /// Returns the URLs to claim, each once: those that no process has claimed, of hosts that have
    /// not reached the maximum.
    async fn new(&mut self, mut links: Vec<Url>) -> Result<Vec<Url>, Failure> {
        links.sort_unstable();
        links.dedup();
        let texts: Vec<&str> = links.iter().map(Url::as_str).collect();
        let known = self.seen.contains(&texts).await?;
        let mut new = Vec::new();
        for (url, _) in links.into_iter().zip(known).filter(|(_, is_known)| !is_known) {
            let most = self.max_pages;
            let won = self.won_of(&url);
            if *won < most {
                *won += 1;
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
        self.save()?;
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

    /// Records pages whose links are recorded.
    fn finish(&mut self, pages: &[Found]) -> Result<(), Failure> {
        let mut lines = Vec::new();
        for page in pages.iter().filter_map(|page| page.done.as_ref()) {
            writeln!(lines, "{} {} {}", page.status, page.url, page.size)?;
            self.log.finish(page);
        }
        if let Some(output) = &mut self.output {
            output.write_all(&lines)?;
            if self.fsync {
                output.sync_data()?;
            }
        }
        Ok(self.log.write()?)
    }

    /// Makes claims last, then their verdict.
    fn save(&mut self) -> Result<(), Failure> {
        if self.fsync {
            self.seen.flush()?;
        }
        Ok(self.log.write()?)
    }
}
