//! A crawl frontier on rayon, generic over the type of filter: all links of one round are claimed in parallel, and each
//! page is fetched by the one worker whose claim returned `true`.

use std::collections::HashSet;
use std::error::Error;

use rayon::prelude::*;
use tamis::{BuildError, OnceBloomFilter, OnceCuckooFilter, OnceFilter, WithRate};

const PAGES: u64 = 50_000;

/// Fetches a page: every one links to twelve others, so each is found a dozen times.
fn links_of(url: &str) -> Vec<String> {
    let page: u64 = url.rsplit('/').next().and_then(|page| page.parse().ok()).unwrap_or(0);
    (1..=12).map(|link| format!("https://example.org/{}", (page * 12 + link) % PAGES)).collect()
}

/// Fetches all pages that can be reached and returns their URLs, in no order.
fn crawl<F>(start: &str, claimed: &F) -> Result<Vec<String>, F::InsertError>
where
    F: OnceFilter<Item = str> + Sync,
{
    claimed.try_insert(start)?;
    let mut round = vec![start.to_owned()];
    let mut fetched = Vec::new();
    while !round.is_empty() {
        let found = round.par_iter().flat_map_iter(|url| links_of(url));
        // Exactly one claim of a URL returns `true`, however many run at once. A full filter ends the crawl.
        let next = found.filter_map(|url| match claimed.try_insert(url.as_str()) {
            Ok(true) => Some(Ok(url)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        });
        let next = next.collect::<Result<Vec<String>, _>>()?;
        fetched.append(&mut round);
        round = next;
    }
    Ok(fetched)
}

/// An empty frontier of any type. At 1e-6 one URL in a million is taken for one that was seen.
fn frontier<F>() -> Result<F, BuildError>
where
    F: WithRate<Item = str, Hasher: Default>,
{
    F::with_rate(PAGES as usize, 1e-6, F::Hasher::default())
}

fn check(kind: &str, fetched: &[String]) {
    let distinct: HashSet<&str> = fetched.iter().map(String::as_str).collect();
    println!("{kind}: {} of {PAGES} pages fetched", fetched.len());
    assert_eq!(distinct.len(), fetched.len(), "{kind}: a page was fetched twice");
    // A page is lost to a false positive with a chance of 1e-6, and then also what only it links to.
    assert!(fetched.len() as u64 + 100 > PAGES, "{kind}: pages were lost");
}

fn main() -> Result<(), Box<dyn Error>> {
    let start = "https://example.org/0";
    check("OnceBloomFilter", &crawl(start, &frontier::<OnceBloomFilter<str>>()?)?);
    check("OnceCuckooFilter", &crawl(start, &frontier::<OnceCuckooFilter<str>>()?)?);
    Ok(())
}
