//! A table that grows in place.
#![doc = include_str!("growth/protocol.md")]
#![allow(dead_code)]
pub(crate) mod batch;
pub(crate) mod copy;
pub(crate) mod figures;
pub(crate) mod insert;
pub(crate) mod layout;
pub(crate) mod many;
#[cfg(all(test, tamis_loom))]
mod models;
pub(crate) mod plan;
#[cfg(all(test, tamis_shuttle))]
mod schedules;
pub(crate) mod split;
pub(crate) mod table;
pub(crate) mod words;
