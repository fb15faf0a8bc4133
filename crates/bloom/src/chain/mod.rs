//! A chain of blocked arrays, the slices of a growing filter, and the kinds of its inserts.
//!
//! | file | job |
//! |---|---|
//! | `plan.rs`, `steps.rs` | pure: the sizes of the slices, and where growth ends; the counts at which it does something |
//! | `state.rs` | the shared words apart from the bits: counts, claims, closed slices |
//! | `slice.rs`, `slices.rs` | one slice; all of them, and the query |
//! | `prepare.rs` | growth in portions |
//! | `claim.rs` | the two kinds of insert, with the proofs of what they return |
//! | `many.rs`, `figures.rs` | batches; estimates |

pub(crate) mod claim;
mod figures;
mod many;
#[cfg(all(test, tamis_loom))]
mod models;
#[cfg(all(test, any(tamis_loom, tamis_shuttle)))]
mod mutants;
pub(crate) mod plan;
mod prepare;
#[cfg(all(test, tamis_shuttle))]
mod schedules;
pub(crate) mod slice;
pub(crate) mod slices;
mod state;
mod steps;
#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
mod tests;
