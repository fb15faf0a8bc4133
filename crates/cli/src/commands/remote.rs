//! The commands on a filter in Redis.

use tamis::Figures;

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
    let (Ok(figures), Ok(storage)) = (filter.figures(), filter.storage()) else { return };
    let Figures { items, saturation, false_positive_rate: rate, .. } = figures;
    report.text.push_str(&format!(
        "; {address} holds about {} in {}, false-positive rate {:.1e}",
        counted(items.value.round() as u64, "item"),
        bytes(storage.size_in_bytes),
        rate.value
    ));
    report.put("kind", "redis");
    report.put("items", items.value);
    report.put("filter_bytes", storage.size_in_bytes);
    report.put("false_positive_rate", rate.value);
    report.put("saturation", saturation.value);
    if saturation.value > OVERFILLED {
        report.warnings.push(format!(
            "{address} holds more records than it was made for: its false-positive rate is {:.1e}",
            rate.value
        ));
    }
}
