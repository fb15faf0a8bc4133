//! A table that grows in place.
#![allow(dead_code)]
pub(crate) mod batch;
pub(crate) mod copy;
pub(crate) mod figures;
pub(crate) mod insert;
pub(crate) mod layout;
pub(crate) mod many;
pub(crate) mod plan;
pub(crate) mod split;
pub(crate) mod table;
pub(crate) mod words;
