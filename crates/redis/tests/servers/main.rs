//! Tests against real servers on loopback: one, and a cluster of three masters and three replicas.

mod cluster;
mod confirmed;
mod copies;
#[cfg(feature = "tls")]
mod encrypted;
mod events;
mod failures;
mod first_connection;
mod harness;
mod harness_works;
mod idle;
mod lives;
mod lost;
mod moving;
mod patterns;
mod processes;
mod replaced;
mod replicas;
mod single;
mod users;
mod window;
