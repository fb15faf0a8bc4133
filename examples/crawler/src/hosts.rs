//! The map of names to addresses, for tests: it takes the place of the DNS.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::{fs, iter};

use reqwest::dns::{Name, Resolve, Resolving};
use url::Url;

use crate::Failure;

/// The addresses of the only hosts that are allowed.
#[derive(Clone, Debug)]
pub(crate) struct HostMap(HashMap<String, SocketAddr>);

impl HostMap {
    /// Reads a file of lines `name address:port`.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let text =
            fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let entries = lines.map(|line| {
            let (name, address) = line.trim().split_once(' ')?;
            Some((name.to_ascii_lowercase(), address.trim().parse().ok()?))
        });
        let map: Option<_> = entries.collect();
        let wrong = || format!("{}: expected lines `name address:port`", path.display());
        Ok(Self(map.ok_or_else(wrong)?))
    }

    /// Returns whether the map has the host of a URL.
    pub(crate) fn allows(&self, url: &Url) -> bool {
        url.host_str().is_some_and(|name| self.0.contains_key(name))
    }
}

impl Resolve for HostMap {
    fn resolve(&self, name: Name) -> Resolving {
        let address = self.0.get(name.as_str()).copied();
        Box::pin(async move {
            let address = address.ok_or("the host map does not have this name")?;
            Ok(Box::new(iter::once(address)) as reqwest::dns::Addrs)
        })
    }
}
