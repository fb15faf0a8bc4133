//! A table that grows in place.
#![allow(dead_code)]
pub(crate) mod insert;
pub(crate) mod layout;
pub(crate) mod plan;
pub(crate) mod split;
pub(crate) mod table;
#[cfg(test)]
mod tests;
pub(crate) mod words;
