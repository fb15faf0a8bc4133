//! Tests against real servers on loopback: one, and a cluster of three masters and three replicas.

mod cluster;
mod copies;
mod failures;
mod harness;
mod harness_works;
mod lost;
mod processes;
mod single;
mod window;
