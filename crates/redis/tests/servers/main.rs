//! Tests against real servers on loopback: one, and a cluster of three masters and three replicas.

mod harness;
mod single;
