//! The commands that read records or saved filters, one in each file.

mod build;
mod convert;
mod dedup;
mod delete;
mod index;
mod info;
mod merge;
mod new;
mod query;
#[cfg_attr(not(feature = "redis"), path = "commands/no_redis.rs")]
mod remote;
mod remove;
mod report;
mod which;

pub(crate) use self::build::build;
pub(crate) use self::convert::convert;
pub(crate) use self::dedup::dedup;
pub(crate) use self::delete::delete;
pub(crate) use self::index::index;
pub(crate) use self::info::info;
pub(crate) use self::merge::merge;
pub(crate) use self::new::new;
pub(crate) use self::query::query;
pub(crate) use self::remove::remove;
pub(crate) use self::which::which;
