//! Starts real servers for tests, and breaks them.
//!
//! Where `redis-server` is missing, a test prints a notice and ends, unless the environment
//! variable `TAMIS_REQUIRE_REDIS` is set: then it fails. The variable `TAMIS_REDIS_SERVER` names
//! another program, such as a `valkey-server`, which must be there.

mod cluster;
mod server;

pub(crate) use self::cluster::Cluster;
pub(crate) use self::server::Server;
