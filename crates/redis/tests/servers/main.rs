//! Tests against real servers on loopback: one, and a cluster of three masters and three replicas.

mod cluster;
mod copies;
#[cfg(feature = "tls")]
mod encrypted;
mod failures;
mod harness;
mod harness_works;
mod lives;
mod lost;
mod patterns;
mod processes;
mod single;
mod users;
