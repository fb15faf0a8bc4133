//! A table that grows in place.
#![doc = include_str!("growth/protocol.md")]
pub(crate) mod batch;
pub(crate) mod classifier;
pub(crate) mod copy;
pub(crate) mod form;
pub(crate) mod guard;
pub(crate) mod insert;
pub(crate) mod layout;
pub(crate) mod locate;
pub(crate) mod many;
#[cfg(all(test, tamis_loom))]
mod models;
pub(crate) mod plan;
pub(crate) mod pointer;
pub(crate) mod query;
#[cfg(all(test, tamis_shuttle))]
mod schedules;
pub(crate) mod split;
pub(crate) mod table;
#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
mod tests;
pub(crate) mod words;
