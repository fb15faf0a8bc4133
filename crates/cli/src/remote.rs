//! A filter in Redis: its address on the command line and, in a build with the feature `redis`, how
//! it is opened and used.
//!
//! An address may hold a password, and one that is written wrongly may hold it anywhere. So an
//! address is shown as it was understood, part by part, and of one that was not understood nothing
//! but the scheme is shown.

use core::fmt;
use std::path::Path;

use url::{ParseError, Url};

use crate::error::Error;

#[cfg(feature = "redis")]
mod decide;
#[cfg(feature = "redis")]
mod failure;
#[cfg(feature = "redis")]
mod filter;
mod name;

#[cfg(feature = "redis")]
pub(crate) use self::decide::{claim, lookup};
#[cfg(feature = "redis")]
pub(crate) use self::filter::Filter;

/// What every address has, and no name of a file.
const MARK: &str = "://";

/// The schemes of addresses, and whether each stands for encryption.
const SCHEMES: [(&str, bool); 7] = [
    ("redis", false),
    ("rediss", true),
    ("valkey", false),
    ("valkeys", true),
    ("unix", false),
    ("redis+unix", false),
    ("valkey+unix", false),
];

/// How the characters are written that would end a part of an address.
const ENCODED: &str = "in a user name, a password or a name, / ? # @ : % + and & are written \
                       as %2F %3F %23 %40 %3A %25 %2B and %26";

/// The address of a filter in Redis: `redis://host:port/#name`.
#[derive(Clone)]
pub(crate) struct Address {
    /// The address of the server, as it was given. It may hold a password.
    #[cfg_attr(
        not(any(feature = "redis", test)),
        expect(dead_code, reason = "the library reads it")
    )]
    server: String,
    /// The name of the filter, decoded.
    #[cfg_attr(
        not(any(feature = "redis", test)),
        expect(dead_code, reason = "the library reads it")
    )]
    name: String,
    /// The address without the password.
    shown: String,
}

impl Address {
    /// Whether an argument is an address, and not the name of a file.
    pub(crate) fn is_one(path: &Path) -> bool {
        path.to_string_lossy().contains(MARK)
    }

    /// Reads an argument. Returns `None` if it is the name of a file.
    pub(crate) fn of(path: &Path) -> Result<Option<Self>, Error> {
        let text = path.to_string_lossy();
        if !text.contains(MARK) {
            return Ok(None);
        }
        // Two names or passwords would become one.
        if path.to_str().is_none() {
            let shown = Self::visible(&text);
            return Err(Error::Usage(format!("{shown}: the address is not in UTF-8; {ENCODED}")));
        }
        let (address, is_encrypted) = Self::parse(&text)
            .map_err(|wrong| Error::Usage(format!("{}: {wrong}", Self::visible(&text))))?;
        if is_encrypted && cfg!(not(feature = "tls")) {
            return Err(address.needs("tls"));
        }
        Ok(Some(address))
    }

    /// Reads an address. Returns also whether the connections are encrypted. An error shows nothing
    /// of the address.
    fn parse(text: &str) -> Result<(Self, bool), String> {
        let scheme = scheme(text).to_ascii_lowercase();
        let Some((_, is_encrypted)) = SCHEMES.iter().find(|(known, _)| *known == scheme) else {
            let names: Vec<&str> = SCHEMES.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "not the address of a filter: expected one such as redis://localhost:6379/#seen, \
                 with the scheme {}; an argument with '{MARK}' is never the name of a file",
                names.join(", ")
            ));
        };
        let Some((server, name)) = text.split_once('#').filter(|(_, name)| !name.is_empty()) else {
            return Err(
                "the address of a filter ends in its name, such as redis://localhost:6379/#seen"
                    .into(),
            );
        };
        // A password that is not encoded ends early, and its rest would be taken for the port, the
        // database or the name. The '@' before the host is then in that rest.
        if name.contains(['#', '@']) {
            return Err(format!("a '#' or an '@' is behind the '#' before the name; {ENCODED}"));
        }
        let name = name::decoded(name)?;
        let url = Url::parse(server).map_err(|error| match error {
            ParseError::InvalidPort => format!("the port is no number up to 65535; {ENCODED}"),
            _ => format!("not a URL; {ENCODED}"),
        })?;
        let query = if url.query().is_some() { "?***" } else { "" };
        let place = if scheme.ends_with("unix") {
            // The user and the password are in the query.
            if url.has_host() {
                return Err(
                    "the address of a socket has three slashes: unix:///path/of/socket#seen".into(),
                );
            }
            url.path().to_owned()
        } else {
            let host =
                url.host_str().filter(|host| !host.is_empty()).ok_or("the host is missing")?;
            let database = url.path().trim_matches('/');
            if !database.bytes().all(|byte| byte.is_ascii_digit()) || url.query().is_some() {
                return Err(format!(
                    "expected the number of a database, such as redis://localhost/3#seen, or nothing, \
                     and no '?' behind the host; {ENCODED}"
                ));
            }
            let user = match (url.username(), url.password()) {
                ("", None) => String::new(),
                (_, None) => "***@".to_owned(),
                (user, Some(_)) => format!("{user}:***@"),
            };
            let port = url.port().map_or(String::new(), |port| format!(":{port}"));
            format!("{user}{host}{port}{}", url.path())
        };
        let shown = format!("{scheme}{MARK}{place}{query}#{}", name::encoded(&name));
        let server = server.to_owned();
        Ok((Self { server, name, shown }, *is_encrypted))
    }

    /// Returns what may be seen of an argument that has [`MARK`], if it is an address or not.
    pub(crate) fn visible(text: &str) -> String {
        match Self::parse(text) {
            Ok((address, _)) => address.shown,
            Err(_) => format!("{}{MARK}***", scheme(text)),
        }
    }

    /// The message for an address where only a file is possible.
    pub(crate) fn unexpected(path: &Path) -> String {
        let text = path.to_string_lossy();
        let shown = Self::visible(&text);
        let is_known = SCHEMES.iter().any(|(known, _)| scheme(&text).eq_ignore_ascii_case(known));
        if is_known {
            format!(
                "{shown}: a filter in Redis is possible as FILTER of new, query, info, merge and \
                 delete only; give the name of a file"
            )
        } else {
            format!(
                "{shown}: an argument with '{MARK}' is never the name of a file; give the name of \
                 a file"
            )
        }
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
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// Returns the scheme of an argument, or nothing if what is there cannot be one.
fn scheme(text: &str) -> &str {
    let scheme = text.split_once(MARK).map_or("", |(scheme, _)| scheme);
    let is_one = |byte: u8| byte.is_ascii_alphabetic() || b"+-.".contains(&byte);
    if scheme.len() <= 16 && scheme.bytes().all(is_one) { scheme } else { "" }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::string::string_regex;

    use super::*;

    fn of(text: &str) -> Result<Option<Address>, Error> {
        Address::of(Path::new(text))
    }

    #[test]
    fn addresses_differ_from_files() {
        for file in ["seen.tamis", "redis", "redis:", "unix:/a#b", "a//b:c"] {
            assert!(of(file).unwrap().is_none(), "{file}");
        }
        for (text, server, name, shown) in [
            (
                "redis://user:secret@host:7/2#a",
                "redis://user:secret@host:7/2",
                "a",
                "redis://user:***@host:7/2#a",
            ),
            ("REDIS://secret@host#a/b", "REDIS://secret@host", "a/b", "redis://***@host#a/b"),
            ("unix:///a@b?pass=secret#a", "unix:///a@b?pass=secret", "a", "unix:///a@b?***#a"),
            ("Valkey+Unix:///a#ä", "Valkey+Unix:///a", "ä", "valkey+unix:///a#ä"),
        ] {
            let address = of(text).unwrap().unwrap();
            assert_eq!((&address.server[..], &address.name[..]), (server, name));
            assert_eq!((address.to_string(), format!("{address:?}")), (shown.into(), shown.into()));
        }
        for wrong in [
            "redis://host:7/",
            "redis://:secret@host/#",
            "redis://host/#a#b",
            "redis://host/#a@b",
            "redis://user:12#34@host",
            "redis://user:12/34@host#a",
            "redis://host/two#a",
            "redis://#a",
            "redis://host/#50%",
            "valkey://host/?protocol=secret#a",
            "redis://host/?db=3#a",
            "unix://host/path#a",
            "http://host/#a",
            "redis-sentinel://host/#a",
            "file://a",
            "://",
        ] {
            let error = of(wrong).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn other_bytes_than_utf_8_are_refused() {
        use std::os::unix::ffi::OsStrExt;

        let path = |bytes| Path::new(std::ffi::OsStr::from_bytes(bytes));
        for wrong in [&b"redis://host/#a\xff"[..], b"redis://:\xff@host#a"] {
            assert_eq!(Address::of(path(wrong)).unwrap_err().exit_code(), 2);
        }
        assert!(Address::of(path(b"a\xff")).unwrap().is_none());
    }

    /// Two spellings of a name are one name.
    #[test]
    fn names_may_be_encoded() {
        for (one, other) in
            [("a b", "a%20b"), ("ä", "%C3%a4"), ("a:b?c", "a%3ab%3Fc"), ("%25", "%25")]
        {
            let name = |name: &str| of(&format!("redis://host/#{name}")).unwrap().unwrap();
            let (one, other) = (name(one), name(other));
            assert_eq!((&one.name, &one.shown), (&other.name, &other.shown));
            // What is shown can be given.
            let again = of(&other.shown).unwrap().unwrap();
            assert_eq!((again.name, again.shown), (one.name, one.shown));
        }
    }

    proptest! {
        /// A secret is hidden in every place, and with every character that is not encoded.
        #[test]
        fn no_secret_is_seen(
            scheme in "(rediss?|valkeys?|unix|redis\\+unix|REDIS|Valkey|http|redis-sentinel)",
            before in string_regex("[a-z0-9#/?@:%\\[\\] \\\\&=]{0,6}").unwrap(),
            after in string_regex("[a-z0-9#/?@:%\\[\\] \\\\&=]{0,6}").unwrap(),
            user in "(|user|user@example)",
            end in "(|:6379|:6379/|:6379/1|/x|/?a=b)(|#|#name|#a@b)",
        ) {
            let text = format!("{scheme}://{user}:{before}7351{after}@host{end}");
            let seen = match of(&text) {
                Ok(address) => format!("{address:?} {}", address.as_ref().unwrap().needs("x")),
                Err(error) => format!("{error} {error:?}"),
            };
            let seen = seen + &Address::visible(&text) + &Address::unexpected(Path::new(&text));
            prop_assert!(!seen.contains("7351"), "{text:?}: {seen}");
        }
    }
}
