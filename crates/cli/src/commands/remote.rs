//! The commands on a filter in Redis.

use crate::args::{Format, FromArgs};
use crate::remote::{Address, Filter};
use crate::units::{bytes, counted};

mod delete;
mod info;
mod merge;
mod new;
mod query;

pub(super) use self::delete::delete;
pub(super) use self::info::info;
pub(super) use self::merge::merge;
pub(super) use self::new::new;
pub(super) use self::query::query;

use super::report::{OVERFILLED, Report};

/// Whether the options name no format of another system.
fn has_no_format(from: &FromArgs) -> bool {
    from.from == Format::Tamis && from.column.is_none()
}

/// Describes a filter in Redis at the end of the run. A server that fails now has done its work.
fn describe(report: &mut Report, filter: &Filter, address: &Address) {
    let Ok(figures) = filter.figures() else { return };
    report.text.push_str(&format!(
        "; {address} holds about {} in {}, false-positive rate {:.1e}",
        counted(figures.items.round() as u64, "item"),
        bytes(figures.size_in_bytes),
        figures.false_positive_rate
    ));
    report.put("kind", "redis");
    report.put("items", figures.items);
    report.put("filter_bytes", figures.size_in_bytes);
    report.put("false_positive_rate", figures.false_positive_rate);
    report.put("saturation", figures.saturation);
    if figures.saturation > OVERFILLED {
        report.warnings.push(format!(
            "{address} holds more records than it was made for: its false-positive rate is {:.1e}",
            figures.false_positive_rate
        ));
    }
}
