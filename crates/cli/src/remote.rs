//! A filter in Redis: its address on the command line and, in a build with the feature `redis`, how it is opened and used.

use core::fmt;
use std::path::Path;

use url::Url;

use crate::Error;
use crate::input::shown;

#[cfg(feature = "redis")]
mod decide;
#[cfg(feature = "redis")]
mod failure;
#[cfg(feature = "redis")]
mod filter;

#[cfg(feature = "redis")]
pub(crate) use self::decide::{Claim, RemoteLookup};
#[cfg(feature = "redis")]
pub(crate) use self::filter::Filter;

/// What an address begins with.
const SCHEMES: [&str; 2] = ["redis://", ENCRYPTED];
const ENCRYPTED: &str = "rediss://";

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
                let address = Self { server: server.to_owned(), name: name.to_owned() };
                let encrypted = server.starts_with(ENCRYPTED);
                if encrypted && cfg!(not(feature = "tls")) {
                    return Err(address.needs("tls"));
                }
                Ok(Some(address))
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

    /// The error for an address that this build cannot use, since it lacks a feature.
    pub(crate) fn needs(&self, feature: &str) -> Error {
        Error::Usage(format!(
            "{self}: this tamis was built without the feature '{feature}'; this command installs one with it: cargo \
             install --path crates/cli --features {feature}"
        ))
    }

    /// The name of the filter.
    #[cfg(feature = "redis")]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// Shows the address without the password.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_differ_from_files() {
        let of = |text: &str| Address::of(Path::new(text));
        assert!(of("seen.tamis").unwrap().is_none());
        assert!(of("redis").unwrap().is_none());
        let address = of("redis://user:secret@host:7/2#a#b").unwrap().unwrap();
        assert_eq!(
            (&address.server[..], &address.name[..]),
            ("redis://user:secret@host:7/2", "a#b")
        );
        assert_eq!(address.to_string(), "redis://user:***@host:7/2#a#b");
        for wrong in ["redis://host:7/", "redis://:secret@host/#"] {
            let error = of(wrong).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
