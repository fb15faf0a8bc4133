//! `tamis info` on a filter in Redis.

use serde_json::json;
use tamis::Figures;
use tamis::hash::StableHasher;

use super::{LOSSES, is_exceeded};
use crate::args::InfoArgs;
use crate::commands::info::table;
use crate::error::Error;
use crate::policy;
use crate::remote::Address;
use crate::units::{bytes, counted, grouped};

/// Describes a filter in Redis.
pub(in crate::commands) fn info(args: &InfoArgs, address: &Address) -> Result<String, Error> {
    let filter = address.open(&args.server, false)?;
    let refused = |source| address.refused(source);
    let Figures { items, fill, saturation, false_positive_rate: rate, .. } =
        filter.figures().map_err(refused)?;
    let storage = filter.storage().map_err(refused)?;
    let (url, ignore_case) = policy::split(filter.normalization());
    let hash = filter.hasher().algorithm().name();
    if args.json {
        let value = json!({
            "file": address.to_string(),
            "kind": "redis",
            "filter_bytes": storage.size_in_bytes,
            "hash": hash,
            "url": url,
            "ignore_case": ignore_case,
            "capacity": filter.capacity(),
            "grows": filter.grows(),
            "window_seconds": filter.window().map(|span| span.as_secs_f64()),
            "shards": filter.shards(),
            "slices": storage.slices,
            "keys": storage.keys,
            "items": items.value,
            "items_exact": false,
            "fill": fill.value,
            "saturation": saturation.value,
            "false_positive_rate": rate.value,
            "requested_rate": filter.requested_rate(),
        });
        return Ok(format!("{value}\n"));
    }
    let growth = if filter.grows() { ", then it grows" } else { "" };
    let mut rows = vec![
        ("filter", address.to_string()),
        ("kind", "redis (a Bloom filter in Redis)".to_owned()),
        ("shards", grouped(filter.shards().into())),
        ("slices", format!("{}, {} keys", storage.slices, grouped(storage.keys))),
        ("memory", bytes(storage.size_in_bytes)),
        ("hash", hash.to_owned()),
        ("URL policy", url),
        ("capacity", format!("{}{growth}", counted(filter.capacity(), "item"))),
        ("items", format!("about {}", grouped(items.value.round() as u64))),
        ("fill", format!("{:.1} %", 100.0 * fill.value)),
        ("saturation", format!("{:.3}", saturation.value)),
        ("false positives", false_positives(rate.value, filter.requested_rate())),
    ];
    if let Some(span) = filter.window() {
        rows.push((
            "window",
            format!("{span:?}: each item is remembered for that, and at most a third longer"),
        ));
    }
    if ignore_case {
        rows.push(("ignore case", "yes: A to Z equal a to z".to_owned()));
    }
    Ok(table(rows))
}

/// The present rate beside the one that was asked for, and why it is above that, if it is.
fn false_positives(now: f64, asked: f64) -> String {
    let why = if is_exceeded(now, asked) {
        format!(": {LOSSES}")
    } else if now > asked {
        " (above it by chance: shards are filled unevenly)".to_owned()
    } else {
        String::new()
    };
    format!("{now:.2e} now, {asked:.2e} asked for{why}")
}
