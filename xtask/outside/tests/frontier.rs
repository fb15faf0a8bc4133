//! A crawl frontier on rayon, generic over the type of filter. Workers claim all links of a round
//! in parallel, and the worker whose claim returns `true` fetches the page.

use std::collections::HashSet;
use std::error::Error;

use rayon::prelude::*;
use tamis::{BuildError, OnceBloomFilter, OnceCuckooFilter, OnceFilter, WithRate};

const PAGES: u64 = 50_000;

/// Fetches a page. Every page links to twelve others, so each page is found twelve times.
fn links_of(url: &str) -> Vec<String> {
    let page: u64 = url.rsplit('/').next().and_then(|page| page.parse().ok()).unwrap_or(0);
    (1..=12).map(|link| format!("https://example.org/{}", (page * 12 + link) % PAGES)).collect()
}

/// Fetches all reachable pages and returns their URLs in arbitrary order.
fn crawl<F>(start: &str, claimed: &F) -> Result<Vec<String>, F::InsertError>
where
    F: OnceFilter<Item = str> + Sync,
{
    claimed.try_insert(start)?;
    let mut round = vec![start.to_owned()];
    let mut fetched = Vec::new();
    while !round.is_empty() {
        let found = round.par_iter().flat_map_iter(|url| links_of(url));
        // Exactly one of all concurrent claims of a URL returns `true`. A full filter ends the
        // crawl.
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

/// Creates an empty frontier of any type. With the rate 1e-6 one new URL in a million is mistaken
/// for a seen one.
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
    // A page is lost to a false positive with probability 1e-6. Pages that only it links to are
    // then lost, too.
    assert!(fetched.len() as u64 + 100 > PAGES, "{kind}: pages were lost");
}

fn main() -> Result<(), Box<dyn Error>> {
    let start = "https://example.org/0";
    check("OnceBloomFilter", &crawl(start, &frontier::<OnceBloomFilter<str>>()?)?);
    check("OnceCuckooFilter", &crawl(start, &frontier::<OnceCuckooFilter<str>>()?)?);
    Ok(())
}
