//! One request: the client, and the part of an answer that a crawler needs.

use core::iter;
use core::time::Duration;
use std::error::Error;
use std::io::{self, ErrorKind};
use std::time::SystemTime;

use percent_encoding::{CONTROLS, percent_encode};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, LOCATION, RETRY_AFTER};
use reqwest::{Client, Response, redirect, retry};
use url::Url;

use crate::args::Args;
use crate::failure::Failure;

/// The bytes of a page that are read.
pub(crate) const MAX_BODY: usize = 4 << 20;

/// How long a connection or a part of an answer, and a whole answer may take.
const PART_TIME: Duration = Duration::from_secs(20);
const WHOLE_TIME: Duration = Duration::from_secs(120);

/// An answer without its body, and where that comes from.
pub(crate) type Head = (Answer, Option<Response>);

/// An answer of a server.
#[derive(Default)]
pub(crate) struct Answer {
    /// The status, 0 if there is no answer.
    pub(crate) status: u16,
    /// The status as text, or why there is no answer.
    pub(crate) result: String,
    /// Where a redirect leads.
    pub(crate) location: Option<Url>,
    /// How long the server wants not to be asked.
    pub(crate) retry_after: Option<Duration>,
    pub(crate) content_type: String,
    /// The first bytes, as they were sent.
    pub(crate) body: Vec<u8>,
}

/// Returns a client that follows no redirect and repeats no request: the crawler decides on both.
pub(crate) fn client(args: &Args, identity: &str) -> Result<Client, Failure> {
    // The cryptography of `https`. It fails if it is chosen already.
    #[cfg(feature = "tls")]
    let _ = rustls::crypto::ring::default_provider().install_default();
    let agent = format!("{} crawl-{identity}", args.user_agent);
    let mut client = Client::builder()
        .user_agent(&agent)
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .connect_timeout(PART_TIME)
        .read_timeout(PART_TIME)
        .timeout(WHOLE_TIME);
    for (name, address) in args.host_map.iter().flat_map(|map| &map.addresses) {
        // Only the addresses of the map are asked, no proxy.
        client = client.no_proxy().resolve(name, *address);
    }
    client.build().map_err(|error| format!("the client {agent:?}: {error}").into())
}

impl Answer {
    /// Makes a request.
    pub(crate) async fn head(client: &Client, url: &Url) -> Head {
        let response = match client.get(url.clone()).send().await {
            Ok(response) => response,
            Err(error) => return (Self::none(&error, url), None),
        };
        let (status, headers) = (response.status().as_u16(), response.headers());
        let location = text(headers, LOCATION).and_then(|to| url.join(&to).ok());
        let retry_after = text(headers, RETRY_AFTER).and_then(|text| wait(&text));
        let content_type = text(headers, CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
        let (result, body) = (status.to_string(), Vec::new());
        (Self { status, result, location, retry_after, content_type, body }, Some(response))
    }

    /// Reads the body.
    pub(crate) async fn read((mut answer, body): Head, url: &Url) -> Self {
        let Some(mut body) = body else { return answer };
        // A server may send no more once this is there.
        while answer.body.len() < MAX_BODY {
            match body.chunk().await {
                Ok(Some(part)) => answer.body.extend_from_slice(&part),
                Ok(None) => break,
                Err(error) => return Self::none(&error, url),
            }
        }
        answer.body.truncate(MAX_BODY);
        answer
    }

    /// Returns what is there in place of an answer: a word for why a request has failed.
    fn none(error: &reqwest::Error, url: &Url) -> Self {
        let is_refusal = |cause: &io::Error| cause.kind() == ErrorKind::ConnectionRefused;
        let is_refused = iter::successors(error.source(), |cause| (*cause).source())
            .any(|cause| cause.downcast_ref().is_some_and(is_refusal));
        let result = match error {
            _ if error.is_timeout() => "timeout",
            _ if error.is_dns() => "dns",
            _ if is_refused => "refused",
            _ if error.is_connect() && url.scheme() == "https" => "tls",
            _ if error.is_connect() => "connect",
            _ => "broken",
        };
        Self { result: result.to_owned(), ..Self::default() }
    }
}

/// Returns a header. Bytes that are not in ASCII, which a server should not send, are encoded as in
/// a URL.
fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    Some(percent_encode(headers.get(name)?.as_bytes(), CONTROLS).to_string())
}

/// Returns the time of a `Retry-After`: seconds, or a date.
fn wait(text: &str) -> Option<Duration> {
    let seconds = text.trim().parse().map(Duration::from_secs).ok();
    // A date in the past is now.
    let until = |date: SystemTime| date.duration_since(SystemTime::now()).unwrap_or_default();
    seconds.or_else(|| httpdate::parse_http_date(text).ok().map(until))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_to_wait_is_in_seconds_or_a_date() {
        assert_eq!(wait(" 7 "), Some(Duration::from_secs(7)));
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        let future = SystemTime::now() + Duration::from_secs(1000);
        let time = wait(&httpdate::fmt_http_date(future)).unwrap();
        assert!(time <= Duration::from_secs(1000), "{time:?}");
        assert_eq!(wait("soon"), None);
        assert_eq!(wait("-1"), None);
    }
}
