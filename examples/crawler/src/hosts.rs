//! The map of names to addresses, for tests: it takes the place of the DNS.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::failure::Failure;

/// The addresses of the only hosts that are allowed.
#[derive(Clone, Debug)]
pub(crate) struct HostMap {
    pub(crate) path: PathBuf,
    pub(crate) addresses: HashMap<String, SocketAddr>,
}

impl HostMap {
    /// Reads a file of lines `name address:port`.
    pub(crate) fn read(path: &str) -> Result<Self, Failure> {
        let entry = |line: &str| {
            let (name, address) = line.trim().split_once(char::is_whitespace)?;
            Some((name.to_ascii_lowercase(), address.trim().parse().ok()?))
        };
        let text = fs_err::read_to_string(path)?;
        let entries = text.lines().map(|line| {
            entry(line).ok_or_else(|| format!("{line:?} is no line `name address:port`"))
        });
        Ok(Self { path: path.into(), addresses: entries.collect::<Result<_, _>>()? })
    }
}
