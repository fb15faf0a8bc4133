//! A filter in Redis: its address on the command line, how it is opened, and what is reported of it.

use core::time::Duration;
use std::path::Path;

use tamis_redis::{Builder, Error as RedisError, Figures, RedisBloomFilter};
use url::Url;

use crate::Error;
use crate::input::shown;

mod decide;

pub(crate) use self::decide::{Claim, RemoteLookup};

/// What an address begins with.
const SCHEMES: [&str; 2] = ["redis://", "rediss://"];

/// How long a command tries to reach a server: longer than a cluster takes to replace a master with its usual settings.
const PATIENCE: Duration = Duration::from_secs(20);

/// A filter of records in Redis.
pub(crate) type Filter = RedisBloomFilter<[u8]>;

/// The address of a filter in Redis: `redis://host:port/#name`.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    server: String,
    name: String,
}

impl Address {
    /// Whether an argument is an address, and not the name of a file.
    pub(crate) fn is_one(path: &Path) -> bool {
        path.to_str().is_some_and(|text| SCHEMES.iter().any(|scheme| text.starts_with(scheme)))
    }

    /// Reads an argument. Returns `None` if it is the name of a file.
    pub(crate) fn of(path: &Path) -> Result<Option<Self>, Error> {
        let Some(text) = path.to_str().filter(|_| Self::is_one(path)) else { return Ok(None) };
        match text.split_once('#') {
            Some((server, name)) if !name.is_empty() => {
                Ok(Some(Self { server: server.to_owned(), name: name.to_owned() }))
            }
            _ => Err(Error::Usage(format!(
                "{}: the address of a filter ends in its name, such as redis://localhost:6379/#seen",
                visible(path)
            ))),
        }
    }

    /// The error for an address where only a file is possible.
    pub(crate) fn unexpected(path: &Path) -> Error {
        Error::Usage(format!(
            "{}: a filter in Redis is possible as FILTER of new, query, info and merge only; give the name of a file",
            visible(path)
        ))
    }

    /// Returns a builder for the filter.
    pub(crate) fn builder(&self) -> Builder<[u8]> {
        RedisBloomFilter::builder(&self.server, &self.name).patience(PATIENCE)
    }

    /// Opens the filter, which must exist.
    pub(crate) fn open(&self) -> Result<Filter, Error> {
        self.builder().open().map_err(|source| self.refused(source))
    }

    /// The error of a filter, with its address.
    pub(crate) fn refused(&self, source: RedisError) -> Error {
        Error::Remote { name: self.to_string(), source }
    }

    /// The name of the filter.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// Shows the address without the password.
impl core::fmt::Display for Address {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&visible(Path::new(&format!("{}#{}", self.server, self.name))))
    }
}

/// Returns an address without its password.
fn visible(path: &Path) -> String {
    let text = shown(path);
    match Url::parse(&text) {
        Ok(url) if url.password().is_none() => text,
        Ok(mut url) => match url.set_password(Some("***")) {
            Ok(()) => url.to_string(),
            Err(()) => "the address".to_owned(),
        },
        // It may hold a password all the same.
        Err(_) => "the address".to_owned(),
    }
}

/// Returns what is reported of a filter: one line for people.
pub(crate) fn described(address: &Address, figures: &Figures) -> String {
    format!(
        "; {address} holds about {} in {}, false-positive rate {:.1e}",
        crate::units::counted(figures.items.round() as u64, "item"),
        crate::units::bytes(figures.size_in_bytes),
        figures.false_positive_rate
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_differ_from_files() {
        let of = |text: &str| Address::of(Path::new(text));
        assert!(of("seen.tamis").unwrap().is_none());
        assert!(of("redis").unwrap().is_none());
        let address = of("redis://user:secret@host:7/2#a#b").unwrap().unwrap();
        assert_eq!((&address.server[..], address.name()), ("redis://user:secret@host:7/2", "a#b"));
        assert_eq!(address.to_string(), "redis://user:***@host:7/2#a#b");
        for wrong in ["redis://host:7/", "redis://:secret@host/#"] {
            let error = of(wrong).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
