//! `tamis info`: what a filter is and how full it is.

use core::fmt::{Display, Write};
use core::time::Duration;

use serde_json::{Value, json};
use tamis::cuckoo;
use tamis::formats::{Geometry, Info, Kind};

use super::remote;
use crate::args::InfoArgs;
use crate::error::Error;
use crate::filters::{Described, Reader};
use crate::foreign::{Foreign, Opened};
use crate::geometry::design_rate;
use crate::input::shown;
use crate::output::Roles;
use crate::policy;
use crate::remote::Address;
use crate::units::{bytes, counted, grouped};

/// Returns what `tamis info` prints.
pub(crate) fn info(args: &InfoArgs) -> Result<String, Error> {
    if let Some(address) = Address::of(&args.filter)? {
        return remote::info(args, &address);
    }
    args.server.require_none()?;
    Roles::default().and_filter(&args.filter).print_to(None)?;
    let header = match Opened::open(&args.filter, &args.from)? {
        Opened::Ours(header) => header,
        Opened::Theirs(foreign) => {
            return Ok(of_foreign(&shown(&args.filter), &foreign, args.json));
        }
    };
    let filter = Reader::load(&header)?;
    let described = filter.described();
    let info = &header.info;
    Ok(if args.json {
        format!("{}\n", to_json(&shown(&args.filter), info, &described))
    } else {
        to_text(&shown(&args.filter), info, &described)
    })
}

/// Describes a filter of another system.
fn of_foreign(name: &str, foreign: &Foreign, json: bool) -> String {
    let filter = &foreign.filter;
    let (format, len) = (filter.format(), filter.encoded_len());
    let (rate, parameters) = (filter.false_positive_rate(), filter.parameters());
    if json {
        let parameters: serde_json::Map<_, _> = parameters
            .into_iter()
            .map(|(name, value)| (name.replace(' ', "_"), json!(value)))
            .collect();
        let value = json!({
            "file": name,
            "format": format.name(),
            "wrapped": foreign.is_wrapped(),
            "filter_bytes": len,
            "parameters": parameters,
            "false_positive_rate": rate,
        });
        return format!("{value}\n");
    }
    let of = if foreign.is_wrapped() { ", in a file of tamis" } else { "" };
    let mut rows = vec![
        ("file".to_owned(), name.to_owned()),
        ("format".to_owned(), format!("{format}{of}")),
        ("size".to_owned(), bytes(len)),
    ];
    rows.extend(parameters.into_iter().map(|(name, value)| (name.to_owned(), grouped(value))));
    rows.push(("false positives".to_owned(), format!("{rate:.2e} now")));
    table(rows)
}

/// Lays out names and values in two columns.
pub(super) fn table(rows: impl IntoIterator<Item = (impl Display, String)>) -> String {
    let mut text = String::new();
    for (name, value) in rows {
        let _ = writeln!(text, "{name:<16} {value}");
    }
    text
}

fn layout(info: &Info) -> &'static str {
    match info.geometry() {
        Geometry::Bloom(_) if info.kind() == Kind::Bloom => "classic",
        Geometry::Bloom(_) if info.kind() == Kind::CountingBloom => "counters",
        Geometry::Bloom(_) => "line",
        Geometry::Chain(_) => "slices",
        Geometry::Window(_) => "window",
        Geometry::Table(_) => "shards",
        Geometry::GrowingCuckoo(_) => "growing buckets",
        _ => "buckets",
    }
}

fn to_text(name: &str, info: &Info, filter: &Described) -> String {
    let geometry = match info.geometry() {
        Geometry::Bloom(sizes) => format!(
            "{} bits, {} per item in {}",
            grouped(sizes.bits()),
            sizes.probes(),
            counted(sizes.words().into(), "word")
        ),
        Geometry::Cuckoo(sizes) => format!(
            "{} buckets of {} slots of {} bits",
            grouped(sizes.buckets()),
            sizes.slots(),
            sizes.fingerprint_bits()
        ),
        Geometry::Table(sizes) => format!("{} lines in 64 shards", grouped(sizes.lines())),
        Geometry::Chain(sizes) => {
            format!("{} bits in {}", grouped(sizes.bits()), counted(sizes.slices().into(), "slice"))
        }
        Geometry::Window(sizes) => format!(
            "{} generations of {} bits, {} rotations",
            sizes.generations(),
            grouped(sizes.geometry().bits()),
            grouped(sizes.rotations())
        ),
        Geometry::GrowingCuckoo(sizes) => format!(
            "{} buckets, {} at first, at most {}, fingerprints of {} bits",
            grouped(sizes.buckets()),
            grouped(sizes.geometry().buckets()),
            grouped(last_buckets(sizes.geometry())),
            sizes.geometry().fingerprint_bits()
        ),
        _ => "unknown".into(),
    };
    let items = match (filter.items(), filter.counts) {
        (f64::INFINITY, _) => "any number: all bits are set".to_owned(),
        (items, true) => grouped(items as u64),
        (items, false) => format!("about {}", grouped(items.round() as u64)),
    };
    let growth = match info.geometry() {
        Geometry::Table(_) | Geometry::Chain(_) => ", then it grows",
        Geometry::Window(_) => ", then it forgets the oldest",
        _ => "",
    };
    let capacity = format!("{}{growth}", counted(info.capacity(), "item"));
    let (url, ignore_case) = policy::split(info.normalization());
    let live = if info.is_live() { "yes: other programs may be changing it" } else { "no" };
    let mut rows = vec![
        ("file", format!("{name}, {}", bytes(info.file_len()))),
        ("kind", format!("{} ({})", filter.name, info.kind())),
        ("layout", layout(info).to_owned()),
        ("geometry", geometry),
        ("memory", bytes(filter.size_in_bytes)),
        ("hash", info.algorithm().name().to_owned()),
        ("URL policy", url),
        ("capacity", capacity),
        ("items", items),
        ("fill", format!("{:.1} %", 100.0 * filter.figures.fill.value)),
        ("saturation", format!("{:.3}", filter.figures.saturation.value)),
        (
            "false positives",
            format!(
                "{:.2e} now{}",
                filter.figures.false_positive_rate.value,
                design_rate(info).map_or(String::new(), |rate| format!(", {rate:.2e} at capacity"))
            ),
        ),
        ("live", live.to_owned()),
    ];
    if let Some(span) = window(info) {
        rows.push(("window", format!("{span:?}: an item that is older may be forgotten")));
    }
    if ignore_case {
        rows.push(("ignore case", "yes: A to Z equal a to z".to_owned()));
    }
    table(rows)
}

/// How long a filter keeps its items at least. Programs that use the library make such filters.
const fn window(info: &Info) -> Option<Duration> {
    match info.geometry() {
        Geometry::Window(sizes) => sizes.span(),
        _ => None,
    }
}

/// The number of buckets of a cuckoo filter after all growth.
const fn last_buckets(geometry: cuckoo::Geometry) -> u64 {
    geometry.buckets() << geometry.doublings()
}

fn to_json(name: &str, info: &Info, filter: &Described) -> Value {
    let (url, ignore_case) = policy::split(info.normalization());
    let mut value = json!({
        "file": name,
        "file_bytes": info.file_len(),
        "kind": filter.name,
        "type": info.kind().to_string(),
        "layout": layout(info),
        "filter_bytes": filter.size_in_bytes,
        "hash": info.algorithm().name(),
        "url": url,
        "ignore_case": ignore_case,
        "capacity": info.capacity(),
        "items": filter.items(),
        "items_exact": filter.counts,
        "fill": filter.figures.fill.value,
        "saturation": filter.figures.saturation.value,
        "false_positive_rate": filter.figures.false_positive_rate.value,
        "false_positive_rate_at_capacity": design_rate(info),
        "live": info.is_live(),
    });
    match info.geometry() {
        Geometry::Bloom(sizes) => {
            value["bits"] = json!(sizes.bits());
            value["probes"] = json!(sizes.probes());
            value["words"] = json!(sizes.words());
        }
        Geometry::Cuckoo(sizes) => {
            value["buckets"] = json!(sizes.buckets());
            value["slots"] = json!(sizes.slots());
            value["fingerprint_bits"] = json!(sizes.fingerprint_bits());
        }
        Geometry::Table(sizes) => value["table_lines"] = json!(sizes.lines()),
        Geometry::Chain(sizes) => {
            value["bits"] = json!(sizes.bits());
            value["slices"] = json!(sizes.slices());
        }
        Geometry::Window(sizes) => {
            value["bits"] = json!(sizes.geometry().bits());
            value["generations"] = json!(sizes.generations());
            value["rotations"] = json!(sizes.rotations());
            value["window_seconds"] = json!(window(info).map(|span| span.as_secs_f64()));
        }
        Geometry::GrowingCuckoo(sizes) => {
            value["buckets"] = json!(sizes.buckets());
            value["first_buckets"] = json!(sizes.geometry().buckets());
            value["last_buckets"] = json!(last_buckets(sizes.geometry()));
            value["fingerprint_bits"] = json!(sizes.geometry().fingerprint_bits());
        }
        _ => {}
    }
    value
}
