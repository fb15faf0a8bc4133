//! A web service with a filter in front of a slow store. A request for a key that the filter does
//! not contain never reaches the store, and `/metrics` exports the figures of the filter while
//! other requests run.

use std::error::Error;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, State};
use axum::http::{Request, StatusCode};
use axum::routing::get;
use tamis::{BlockedBloomFilter, Sampled};
use tokio::task::JoinSet;
use tower::ServiceExt as _;

const KEYS: u64 = 100_000;
const TASKS: u64 = 8;
const REQUESTS_PER_TASK: u64 = 1000;
/// Cache lines that are read per scrape, which takes microseconds, independent of the size of
/// the filter.
const SAMPLE: u64 = 500;

struct Guarded {
    may_be_in: BlockedBloomFilter<u64>,
    store_reads: AtomicU64,
}

impl Guarded {
    /// Reads the store, which is slow and contains all even numbers below `2 * KEYS`.
    async fn read_store(&self, key: u64) -> Option<String> {
        self.store_reads.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(1)).await;
        (key.is_multiple_of(2) && key < 2 * KEYS).then(|| format!("value {key}"))
    }
}

async fn value(
    State(guarded): State<Arc<Guarded>>,
    Path(key): Path<u64>,
) -> Result<String, StatusCode> {
    if !guarded.may_be_in.contains(&key) {
        return Err(StatusCode::NOT_FOUND);
    }
    guarded.read_store(key).await.ok_or(StatusCode::NOT_FOUND)
}

/// Returns the figures in the text format of Prometheus, each sampled figure with its standard
/// error.
async fn metrics(State(guarded): State<Arc<Guarded>>) -> String {
    let filter = &guarded.may_be_in;
    let mut text = String::new();
    let mut gauge = |name: &str, figure: Sampled| {
        let Sampled { value, standard_error } = figure;
        writeln!(text, "# TYPE guard_{name} gauge\nguard_{name} {value}")
            .expect("writing to a string cannot fail");
        writeln!(text, "# TYPE guard_{name}_error gauge\nguard_{name}_error {standard_error}")
            .expect("writing to a string cannot fail");
    };
    let sampled = filter.figures_sampled(SAMPLE);
    gauge("items", sampled.items);
    gauge("saturation", sampled.saturation);
    gauge("false_positive_rate", sampled.false_positive_rate);
    let reads = guarded.store_reads.load(Ordering::Relaxed);
    writeln!(text, "# TYPE guard_store_reads counter\nguard_store_reads {reads}")
        .expect("writing to a string cannot fail");
    text
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut may_be_in = BlockedBloomFilter::<u64>::builder()
        .capacity(KEYS as usize)
        .false_positive_rate(0.01)
        .build()?;
    may_be_in.extend((0..KEYS).map(|key| 2 * key));
    let guarded = Arc::new(Guarded { may_be_in, store_reads: AtomicU64::new(0) });
    let service = Router::new()
        .route("/key/{key}", get(value))
        .route("/metrics", get(metrics))
        .with_state(Arc::clone(&guarded));

    // A server would pass `service` to `axum::serve`. Here eight clients call it concurrently.
    let mut clients = JoinSet::new();
    for client in 0..TASKS {
        let service = service.clone();
        clients.spawn(async move {
            let mut found = 0;
            for request in 0..REQUESTS_PER_TASK {
                // One key in ten exists.
                let exists = request % 10 == 0;
                let key = 2 * (TASKS * request + client) + u64::from(!exists);
                let (status, text) = get_text(&service, &format!("/key/{key}")).await;
                assert_eq!(status == StatusCode::OK, exists, "key {key}: {text}");
                found += u64::from(exists);
            }
            found
        });
    }
    let found: u64 = clients.join_all().await.into_iter().sum();

    let (_, text) = get_text(&service, "/metrics").await;
    print!("{text}");
    let figure = |name: &str| -> f64 {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("guard_{name} ")));
        line.expect("the figure is exported").parse().expect("a number")
    };
    assert_eq!(found, TASKS * REQUESTS_PER_TASK / 10);
    // Of the 7200 keys that do not exist, about 72 are false positives.
    let needless = figure("store_reads") - found as f64;
    assert!(needless < 150.0, "{needless} needless reads");
    for (name, exact) in
        [("items", KEYS as f64), ("saturation", 1.0), ("false_positive_rate", 0.01)]
    {
        let (value, error) = (figure(name), figure(&format!("{name}_error")));
        assert!(error > 0.0 && error < 0.05 * exact, "{name}: {value} ± {error}");
        assert!((value - exact).abs() < 6.0 * error + 0.03 * exact, "{name}: {value} ± {error}");
    }
    Ok(())
}

/// Calls the service as a client would, and returns the status and the body.
async fn get_text(service: &Router, path: &str) -> (StatusCode, String) {
    let request = Request::get(path).body(Body::empty()).expect("a valid path");
    let response = service.clone().oneshot(request).await.expect("the service never fails");
    let status = response.status();
    let bytes = to_bytes(response.into_body(), 1 << 16).await.expect("a short body");
    (status, String::from_utf8(bytes.into()).expect("it sends text"))
}
