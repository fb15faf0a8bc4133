//! The options of `tamis plan`.

use clap::Args;

use crate::units::{count, rate, size};

/// Print what each kind of filter costs and how much it holds
#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    /// The number of distinct items, such as 10M
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) capacity: u64,

    /// The false-positive rate, such as 1e-6 or 0.01%
    #[arg(long, value_name = "P", default_value = "1e-6", value_parser = rate)]
    pub(crate) rate: f64,

    /// Also print what fits into this amount of memory, such as 2GiB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) max_memory: Option<u64>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
