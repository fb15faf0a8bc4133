//! The measurements of the report: figures along one axis after another, each written down as soon
//! as it is known.
//!
//! Where an axis requests no rate, the record's is 0.

mod build;
mod fill;
mod journal;
mod reproduction;
mod single;
mod survey;
mod team;
mod threads;

use std::io;

pub use self::survey::{Scale, Survey};

/// Measures along an axis what is not in the journal.
pub type Axis = fn(&mut Survey) -> io::Result<()>;

/// All axes by their names.
pub const AXES: [(&str, Axis); 17] = [
    ("operation", single::operation),
    ("single_table", single::single_table),
    ("exclusive", single::exclusive),
    ("caller", single::caller),
    ("build", build::build),
    ("size", single::size),
    ("rate", single::rate),
    ("memory", single::memory),
    ("cuckoo", single::cuckoo),
    ("threads", threads::threads),
    ("cuckoo_threads", threads::cuckoo_threads),
    ("item", single::item),
    ("distribution", single::distribution),
    ("readers", threads::during_writes),
    ("fill", fill::fill),
    ("bits", single::bits),
    ("reproduction", reproduction::reproduction),
];
