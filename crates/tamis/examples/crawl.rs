//! A crawl frontier: many workers find the same URLs at once, and exactly one worker fetches each
//! URL.
//!
//! Workers steal jobs from each other (crossbeam-deque). A worker that finds a link claims it with
//! one `insert`. Each page of links is found twice. The links are the lines of a file, or generated
//! without one.
//!
//! ```sh
//! $ cargo run --release --example crawl crates/tamis/data/homepages.txt
//! 58781 links found, each twice; 29919 distinct URLs
//! 29919 fetched by 4 workers, none of them twice
//! 0 lost to false positives
//! the frontier's memory of them takes 498 KiB
//! ```

use std::collections::HashSet;
use std::error::Error;
use std::thread;
use std::{env, fs, iter};

use crossbeam_deque::{Injector, Stealer, Worker};
use tamis::OnceBloomFilter;

const LINKS_PER_PAGE: usize = 50;
const WORKERS: usize = 4;

/// What a worker does next.
enum Job<'a> {
    /// Read a page and claim its links.
    Page(&'a [&'a str]),
    /// Fetch a URL that this frontier has claimed.
    Fetch(&'a str),
}

fn main() -> Result<(), Box<dyn Error>> {
    let list = match env::args_os().nth(1) {
        Some(file) => {
            fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?
        }
        None => generated(),
    };
    let links: Vec<&str> = list.lines().collect();

    // The capacity must cover all URLs to come. At a rate of 1e-6, one new URL in a million counts
    // as seen.
    let claimed =
        OnceBloomFilter::<str>::builder().capacity(100_000).false_positive_rate(1e-6).build()?;

    // Every page is there twice, as if two other pages linked to it.
    let frontier = Injector::new();
    for page in links.chunks(LINKS_PER_PAGE) {
        frontier.push(Job::Page(page));
        frontier.push(Job::Page(page));
    }

    let own: Vec<Worker<Job<'_>>> = (0..WORKERS).map(|_| Worker::new_fifo()).collect();
    let others: Vec<Stealer<Job<'_>>> = own.iter().map(Worker::stealer).collect();
    let fetched: Vec<Vec<&str>> = thread::scope(|scope| {
        let workers: Vec<_> = own
            .into_iter()
            .map(|own| {
                let (frontier, others, claimed) = (&frontier, &others, &claimed);
                scope.spawn(move || {
                    let mut fetched = Vec::new();
                    while let Some(job) = next(&own, frontier, others) {
                        match job {
                            Job::Page(links) => {
                                for link in links {
                                    // Returns `true` to exactly one worker, even if several insert
                                    // at once.
                                    if claimed.insert(*link) {
                                        own.push(Job::Fetch(link));
                                    }
                                }
                            }
                            // A real crawler would fetch the URL here, and push the page it
                            // receives.
                            Job::Fetch(url) => fetched.push(url),
                        }
                    }
                    fetched
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("no worker panics")).collect()
    });

    let all: Vec<&str> = fetched.concat();
    let distinct: HashSet<&str> = links.iter().copied().collect();
    let once: HashSet<&str> = all.iter().copied().collect();
    println!("{} links found, each twice; {} distinct URLs", links.len(), distinct.len());
    println!("{} fetched by {WORKERS} workers, none of them twice", all.len());
    println!("{} lost to false positives", distinct.len() - once.len());
    println!("the frontier's memory of them takes {} KiB", claimed.size_in_bytes() / 1024);
    assert_eq!(all.len(), once.len(), "a URL was fetched twice");
    assert!(distinct.len() - once.len() <= 3, "more URLs lost than the rate predicts");
    Ok(())
}

/// Returns the worker's next job: its own, else one of the frontier, else one of another worker. A
/// worker ends when it finds none: the workers that still have jobs do them.
fn next<'a>(
    own: &Worker<Job<'a>>,
    frontier: &Injector<Job<'a>>,
    others: &[Stealer<Job<'a>>],
) -> Option<Job<'a>> {
    own.pop().or_else(|| {
        // A steal may lose a race; repeat until it finds a job, or finds all queues empty.
        iter::repeat_with(|| {
            frontier
                .steal_batch_and_pop(own)
                .or_else(|| others.iter().map(Stealer::steal).collect())
        })
        .find(|steal| !steal.is_retry())
        .and_then(|steal| steal.success())
    })
}

/// Generates links. Nearly half of them occur again on a later page.
fn generated() -> String {
    (0..60_000_u64).map(|i| format!("https://example.org/{}\n", i * i % 65_521)).collect()
}
