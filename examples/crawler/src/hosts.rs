//! The map of names to addresses, for tests: it takes the place of the DNS.

use std::collections::HashMap;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use url::Url;

use crate::failure::{Failure, at};

/// The addresses of the only hosts that are allowed.
#[derive(Clone, Debug)]
pub(crate) struct HostMap(pub(crate) HashMap<String, SocketAddr>);

impl HostMap {
    /// Reads a file of lines `name address:port`.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let text = fs::read_to_string(path).map_err(|error| at(path, &error))?;
        let entry = |line: &str| {
            let (name, address) = line.trim().split_once(char::is_whitespace)?;
            Some((name.to_ascii_lowercase(), address.trim().parse().ok()?))
        };
        let entries = text.lines().map(|line| {
            entry(line).ok_or_else(|| at(path, &format!("{line:?} is no line `name address:port`")))
        });
        Ok(Self(entries.collect::<Result<_, _>>()?))
    }

    /// Returns whether the map has the host of a URL.
    pub(crate) fn allows(&self, url: &Url) -> bool {
        url.host_str().is_some_and(|name| self.0.contains_key(name))
    }
}
