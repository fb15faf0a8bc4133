//! The addresses of servers: how they are read, and how nothing that is secret in them gets out.
//!
//! An address may hold a password. The errors of the crate `redis` may repeat a part of an address,
//! and a server may repeat what it was sent. So an error that comes from either is not passed on as
//! it is.

use core::fmt;

use redis::{ConnectionInfo, ErrorKind, IntoConnectionInfo, RedisError, parse_redis_url};

use crate::error::Error;

/// The fewest bytes of a password by which it is recognized: a server may repeat a part of it.
const RECOGNIZED: usize = 4;

/// The addresses of a builder. Their `Debug` says how many there are.
#[derive(Clone)]
pub(crate) struct Addresses(pub(crate) Vec<String>);

impl fmt::Debug for Addresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (hidden)", self.0.len())
    }
}

/// Reads an address.
pub(crate) fn parse(address: &str) -> Result<ConnectionInfo, Error> {
    let wrong = |reason: &str| Error::Address { reason: reason.into() };
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    if scheme.to_ascii_lowercase().contains("sentinel") {
        return Err(wrong("Sentinel is not supported; give the master, or a node of a cluster"));
    }
    let url = parse_redis_url(address).ok_or_else(|| {
        wrong(
            "expected a URL such as redis://user:password@127.0.0.1:6379/, with the scheme redis, \
             rediss, valkey, valkeys or unix; in a password, / ? # @ : % + and & are written as \
             %2F %3F %23 %40 %3A %25 %2B and %26",
        )
    })?;
    // A password that is not encoded ends early, at a '/', '?' or '#', and its rest would be taken
    // for something that is not secret. The '@' before the host is then in that rest. Only the path
    // of a socket, which has no user in front, may contain one.
    let behind = [url.path(), url.query().unwrap_or(""), url.fragment().unwrap_or("")];
    if !rest.starts_with('/') && behind.iter().any(|part| part.contains('@')) {
        return Err(wrong(
            "an '@' is behind the host; in a password, / ? # @ : % + and & are written as %2F \
             %3F %23 %40 %3A %25 %2B and %26",
        ));
    }
    // The crate `redis` ignores all others, and takes the last of two.
    let known: &[&str] =
        if url.has_host() { &["protocol"] } else { &["db", "pass", "protocol", "user"] };
    let mut keys: Vec<_> = url.query_pairs().map(|(key, _)| key).collect();
    let count = keys.len();
    keys.sort();
    keys.dedup();
    if keys.len() < count || keys.iter().any(|key| !known.contains(&&**key)) {
        return Err(wrong(
            "expected behind the '?' of a socket only db, user, pass and protocol, each once, and \
             behind that of a host only protocol",
        ));
    }
    url.into_connection_info().map_err(|error| {
        let text = error.to_string();
        // The detail is a part of the address.
        let detail = error.detail().map_or(0, |detail| detail.len() + ": ".len());
        wrong(&text[..text.len().saturating_sub(detail)])
    })
}

/// Returns the message of an error of a connection that is being made. If a server has repeated the
/// password, it is the code alone.
pub(crate) fn message(info: &ConnectionInfo, error: &RedisError) -> String {
    let text = error.to_string();
    // The text of an error of the system is not from a server.
    let Some(password) = info.redis_settings().password().filter(|_| !error.is_io_error()) else {
        return text;
    };
    // The most frequent error must not be hidden. All of its text is from the crate `redis`.
    if error.kind() == ErrorKind::AuthenticationFailed && error.detail().is_none() {
        return text;
    }
    // A server may have cut it, at a character or not. The server's part of the text is the detail
    // and the code, where there is a detail.
    let start: String = password.chars().take(RECOGNIZED).collect();
    let repeats = |text: &str| !start.is_empty() && text.contains(&start);
    let code = error.code().filter(|code| !repeats(code));
    if !error.detail().map_or(repeats(&text), |detail| repeats(detail) || error.code() != code) {
        return text;
    }
    let code = code.unwrap_or("an error");
    format!("{code} (the message of the server is hidden, since it may repeat the password)")
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use proptest::prelude::*;
    use proptest::string::string_regex;

    use super::*;
    use crate::blocking::RedisBloomFilter;
    use crate::filter::AsyncRedisBloomFilter;

    /// What every secret has, and nothing else.
    const MARKER: &str = "7351";

    /// All that can be seen of an address.
    fn seen(address: &str) -> String {
        let builder = RedisBloomFilter::<str>::builder(address, "seen").or_address(address);
        let other = AsyncRedisBloomFilter::<str>::builder(address, "seen").or_address(address);
        let mut seen = format!("{builder:?} {:?} {other:?}", builder.clone());
        match parse(address) {
            Ok(info) => seen += &format!("{info:?}"),
            Err(error) => seen += &format!("{error} {error:?}"),
        }
        seen
    }

    proptest! {
        /// A secret is hidden in every place, and with every character that is not encoded.
        #[test]
        fn no_secret_is_seen(
            scheme in "(rediss?|valkeys?|unix|redis\\+unix|REDIS|Valkey|http|redis-sentinel)",
            before in string_regex("[a-z0-9#/?@:%\\[\\] \\\\&=]{0,6}").unwrap(),
            after in string_regex("[a-z0-9#/?@:%\\[\\] \\\\&=]{0,6}").unwrap(),
            user in "(|user|user@example)",
            end in "(|:6379|:6379/|:6379/1|/#insecure|/?protocol=resp3|/x)",
        ) {
            let address = format!("{scheme}://{user}:{before}{MARKER}{after}@host{end}");
            let seen = seen(&address);
            prop_assert!(!seen.contains(MARKER), "{address:?}: {seen}");
        }
    }

    #[test]
    fn other_places_are_hidden_too() {
        for address in [
            "redis://user:12#7351@host",
            "redis://user:73/51@host",
            "redis://user:7351/x@host",
            "unix://:@/7351@host",
            "redis://user:7351?x@host",
            "redis://host/?protocol=7351",
            "redis://host/7351x",
            "unix:///path?user=a&pass=7351",
            "redis+unix:///path?db=7351x",
            "7351",
            "redis://:7351@",
            "nothing://a:7351@host",
        ] {
            let seen = seen(address);
            assert!(!seen.contains(MARKER), "{address}: {seen}");
        }
    }

    #[test]
    fn encoded_secrets_are_taken() {
        let info = parse("VALKEY://user:%2F%3F%23%40%3A%25@host:7/2").unwrap();
        assert_eq!(info.redis_settings().password(), Some("/?#@:%"));
        assert_eq!((info.addr().to_string(), info.redis_settings().db()), ("host:7".into(), 2));
        let info = parse("unix:///tmp/a@b?pass=c@d").unwrap();
        assert_eq!(info.redis_settings().password(), Some("c@d"));
        let info = parse("unix:///tmp/a?pass=%2B%26&db=2&user=c").unwrap();
        assert_eq!((info.redis_settings().password(), info.redis_settings().db()), (Some("+&"), 2));
        let sentinel = parse("redis+sentinel://host:26379/master").unwrap_err();
        assert!(sentinel.to_string().contains("Sentinel"), "{sentinel}");
    }

    /// Otherwise the filter would be in another database, or would be made without the password.
    #[test]
    fn a_key_that_means_nothing_is_refused() {
        for query in ["database=6", "DB=6", "password=x", "db=4&db=5", "pass=a&b"] {
            let error = parse(&format!("unix:///run/a?{query}")).unwrap_err();
            assert!(error.to_string().contains("each once"), "{query}: {error}");
        }
        for query in ["db=3", "pass=a", "protocol=resp3&protocol=resp3"] {
            let error = parse(&format!("redis://host/?{query}")).unwrap_err();
            assert!(error.to_string().contains("only protocol"), "{query}: {error}");
        }
        assert!(parse("redis://host/2?protocol=resp3").is_ok());
    }

    /// A password that is a part of the library's own text does not hide the reason.
    #[test]
    fn only_the_text_of_the_server_hides_an_error() {
        let info = |password: &str| parse(&format!("redis://:{password}@host")).unwrap();
        let error = RedisError::from((ErrorKind::AuthenticationFailed, "Password failed"));
        for password in ["Password123", "fail", "a"] {
            assert!(message(&info(password), &error).contains("Password failed"));
        }
        let detail = "DB index is out of range".to_owned();
        let error = RedisError::from((ErrorKind::Extension, "The server refused", detail));
        assert!(message(&info("server-pw"), &error).contains("out of range"));
        assert!(!message(&info("index-pw"), &error).contains("index"));
    }

    /// An old server answers an unknown command by repeating its arguments, the longest cut.
    #[test]
    fn a_server_that_repeats_the_password_is_not_quoted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                let mut bytes = [0; 4096];
                let read = stream.read(&mut bytes).unwrap_or(0);
                let said = String::from_utf8_lossy(&bytes[..read]).replace("\r\n", " ");
                let cut = said.find(MARKER).map_or(&said[..], |at| &said[..at + 6]);
                let reply = format!("-ERR unknown command, with args beginning with: {cut}\r\n");
                _ = stream.write_all(reply.repeat(8).as_bytes());
            }
        });
        for protocol in ["", "?protocol=resp3"] {
            let address = format!("redis://user:7351secret@127.0.0.1:{port}/{protocol}");
            let builder = RedisBloomFilter::<str>::builder(&address, "seen");
            let error = builder.deadline(core::time::Duration::from_millis(50)).open().unwrap_err();
            let seen = format!("{error} {error:?}");
            assert!(!seen.contains(MARKER), "{protocol}: {seen}");
        }
    }
}
