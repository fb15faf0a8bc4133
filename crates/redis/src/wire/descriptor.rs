//! The descriptor: what a client must know about a filter, as JSON in one key.

use serde::{Deserialize, Serialize};
use tamis_formats::Normalization;
use tamis_hash::{Algorithm, AnyStable, ItemHasher, StableHasher};

use crate::error::Error;
use crate::window::Window;
use crate::wire::lives::{Life, State};
use crate::wire::sizes::{MAX_SLICES, Sizes, Slice, require_shards};
use crate::wire::tag::Identity;

/// What the descriptor begins with, and the version of the layout.
///
/// Version 1 had no identity in the names of its keys. It was in no release, and is refused.
const FORMAT: &str = "tamis-redis";
const VERSION: u32 = 2;

/// The longest descriptor that is read.
pub(crate) const MAX_BYTES: usize = 1 << 16;

/// What a descriptor says.
#[derive(Clone, Debug)]
pub(crate) struct Descriptor {
    pub(crate) identity: Identity,
    pub(crate) sizes: Sizes,
    pub(crate) hasher: AnyStable,
    pub(crate) normalization: Normalization,
    /// What the filter remembers, if it forgets. The sizes are those of each epoch then.
    pub(crate) window: Option<Window>,
    /// Whether all keys of the first slice exist. Before, only the client that creates the
    /// filter uses it.
    pub(crate) ready: bool,
}

/// The fields of the JSON text, in this order.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    format: String,
    version: u32,
    ready: bool,
    identity: u64,
    shards: u32,
    rate: f64,
    hash: String,
    key: String,
    probe: u64,
    policy: String,
    #[serde(rename = "generations")]
    slices: Vec<Numbers>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    window: Option<Window>,
}

/// The fields that each version has.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
    identity: u64,
}

/// The numbers of a slice. All of them are stored, so that clients of different releases
/// agree.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Numbers {
    capacity: u64,
    lines: u64,
    probes: u32,
    words: u32,
}

impl Descriptor {
    /// Returns one for tests: of a filter that is ready.
    #[cfg(test)]
    pub(crate) fn of_sizes(sizes: Sizes) -> Self {
        Self {
            identity: Identity::of_random(5),
            sizes,
            hasher: tamis_hash::Rapid::with_seed(1).into(),
            normalization: Normalization::NONE,
            window: None,
            ready: true,
        }
    }

    /// Returns the number of items that the filter was made for; with a window, in a span.
    pub(crate) fn capacity(&self) -> u64 {
        self.window.map_or_else(|| self.sizes.capacity(), Window::capacity)
    }

    /// Returns the rate that the filter stays below.
    pub(crate) fn rate(&self) -> f64 {
        self.window.map_or(self.sizes.rate, |_| Window::rate(self.sizes.rate))
    }

    /// Returns the JSON text.
    pub(crate) fn to_json(&self) -> String {
        let Sizes { shards, rate, slices } = &self.sizes;
        let numbers = |slice: &Slice| Numbers {
            capacity: slice.capacity,
            lines: slice.lines,
            probes: slice.geometry.probes(),
            words: slice.geometry.words(),
        };
        let fields = Fields {
            format: FORMAT.to_owned(),
            version: VERSION,
            ready: self.ready,
            identity: self.identity.to_u64(),
            shards: *shards,
            rate: *rate,
            hash: self.hasher.algorithm().name().to_owned(),
            key: format!("{:032x}", u128::from_be_bytes(self.hasher.key())),
            probe: self.hasher.hash_probe(),
            policy: self.normalization.name().to_owned(),
            slices: slices.iter().map(numbers).collect(),
            window: self.window,
        };
        // The fields are numbers and texts: nothing of them can fail.
        serde_json::to_string(&fields).unwrap_or_default()
    }

    /// Returns the life of a filter that is being created.
    pub(crate) const fn life(&self) -> Life {
        let (identity, shards) = (self.identity, self.sizes.shards);
        let window = self.window.is_some();
        Life { identity, state: State::Creating, since: 0, shards, window }
    }

    /// Returns the identity in a JSON text, which may be anything.
    pub(crate) fn identity_of(text: &[u8]) -> Option<Identity> {
        let head: Head = serde_json::from_slice(text).ok()?;
        Identity::of_u64(head.identity)
    }

    /// Reads the JSON text, which may be anything.
    pub(crate) fn of_json(text: &[u8]) -> Result<Self, Error> {
        let wrong = |found: String| Error::Descriptor { found: found.into() };
        if text.len() > MAX_BYTES {
            return Err(wrong(format!("{} bytes", text.len())));
        }
        let Head { format, version, .. } =
            serde_json::from_slice(text).map_err(|error| wrong(error.to_string()))?;
        if format != FORMAT || version != VERSION {
            return Err(wrong(format!("format {format:?}, version {version}")));
        }
        let fields: Fields =
            serde_json::from_slice(text).map_err(|error| wrong(error.to_string()))?;
        require_shards(fields.shards)?;
        if !(fields.rate > 0.0 && fields.rate < 1.0) {
            return Err(wrong(format!("rate {}", fields.rate)));
        }
        if !(1..=MAX_SLICES).contains(&fields.slices.len()) {
            return Err(wrong(format!("{} slices", fields.slices.len())));
        }
        let slice = |numbers: &Numbers| {
            let Numbers { capacity, lines, probes, words } = *numbers;
            Slice::of_numbers(fields.shards, capacity.max(1), lines, probes, words)
        };
        let slices: Vec<Slice> = fields.slices.iter().map(slice).collect::<Result<_, _>>()?;
        let hasher = hasher(&fields.hash, &fields.key)
            .ok_or_else(|| wrong(format!("hash {:?} with its key", fields.hash)))?;
        // A changed algorithm would be found as false negatives.
        if hasher.hash_probe() != fields.probe {
            return Err(wrong(format!("hash {:?} has another probe", fields.hash)));
        }
        let normalization =
            Normalization::new(&fields.policy).map_err(|error| wrong(error.to_string()))?;
        let identity = Identity::of_u64(fields.identity)
            .ok_or_else(|| wrong(format!("identity {}", fields.identity)))?;
        let sizes = Sizes { shards: fields.shards, rate: fields.rate, slices };
        let window = fields.window.map(Window::checked).transpose()?;
        Ok(Self { identity, sizes, hasher, normalization, window, ready: fields.ready })
    }
}

/// Returns the hasher of this name, with a key of 32 hexadecimal digits.
fn hasher(name: &str, key: &str) -> Option<AnyStable> {
    let algorithm = *Algorithm::ALL.iter().find(|algorithm| algorithm.name() == name)?;
    let digits = key.len() == 32 && key.bytes().all(|digit| digit.is_ascii_hexdigit());
    let key = u128::from_str_radix(if digits { key } else { "" }, 16).ok()?;
    AnyStable::from_key(algorithm, key.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use tamis_hash::{Rapid, SipHash13};

    use super::*;

    fn descriptor(hasher: AnyStable) -> Descriptor {
        let sizes = Sizes::new(5000, 1e-4, true, None).unwrap();
        let normalization = Normalization::new("url-v1").unwrap();
        let identity = Identity::of_random(77);
        Descriptor { identity, hasher, normalization, ..Descriptor::of_sizes(sizes) }
    }

    #[test]
    fn what_is_written_is_read() {
        for hasher in [Rapid::with_seed(7).into(), SipHash13::with_key([3; 16]).into()] {
            let written = descriptor(hasher);
            let json = written.to_json();
            let read = Descriptor::of_json(json.as_bytes()).unwrap();
            assert_eq!(read.to_json(), json);
            assert_eq!(read.sizes, written.sizes);
            assert_eq!(read.hasher.key(), written.hasher.key());
            assert!(json.len() < MAX_BYTES);
        }
    }

    #[test]
    fn a_window_is_read_and_checked() {
        let mut written = descriptor(Rapid::with_seed(7).into());
        let window = Window::new(Duration::from_secs(60), 1000).unwrap();
        written.window = Some(window);
        written.sizes = window.sizes(1e-4, true, None).unwrap();
        let json = written.to_json();
        let read = Descriptor::of_json(json.as_bytes()).unwrap();
        assert_eq!((read.window, read.capacity(), read.rate()), (Some(window), 1000, 1e-4));
        let text = "\"window\":{\"span\":60000,\"capacity\":1000}";
        for to in
            ["{}", "{\"span\":999,\"capacity\":1000}", "{\"span\":-1,\"capacity\":1}", "60000"]
        {
            let wrong = json.replacen(text, &format!("\"window\":{to}"), 1);
            assert_ne!(wrong, json);
            assert!(Descriptor::of_json(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    /// The text that the first release wrote.
    #[test]
    fn the_text_of_the_first_release_is_read() {
        let text = br#"{"format":"tamis-redis","version":2,"ready":true,"identity":19,"shards":16,"rate":0.01,"hash":"rapidhash-v3","key":"07000000000000000000000000000000","probe":PROBE,"policy":"","generations":[{"capacity":1000,"lines":2,"probes":6,"words":2}]}"#;
        let probe = Rapid::with_seed(7).hash_probe().to_string();
        let text = std::str::from_utf8(text).unwrap().replace("PROBE", &probe);
        let read = Descriptor::of_json(text.as_bytes()).unwrap();
        assert_eq!(read.to_json(), text);
        assert_eq!((read.sizes.shards, read.sizes.grows(), read.ready), (16, false, true));
    }

    #[test]
    fn wrong_texts_are_errors() {
        let text = descriptor(Rapid::with_seed(7).into()).to_json();
        for (from, to) in [
            ("tamis-redis", "other"),
            ("\"version\":2", "\"version\":1"),
            ("\"shards\":16", "\"shards\":0"),
            ("\"shards\":16", "\"shards\":70000"),
            ("0.0001", "0.0"),
            ("0.0001", "1e999"),
            ("rapidhash-v3", "md5"),
            ("\"07", "\"+7"),
            ("\"07", "\"08"),
            ("\"capacity\":5000", "\"capacity\":-1"),
            ("\"probes\":", "\"probes\":99"),
            ("\"lines\":", "\"lines\":99999999"),
            ("url-v1", "\\t"),
            ("\"identity\":", "\"identity\":99999999999999999"),
            ("}", ""),
            ("\"ready\":true,", ""),
            ("\"ready\":true,", "\"ready\":true,\"more\":1,"),
        ] {
            let wrong = text.replacen(from, to, 1);
            assert_ne!(wrong, text, "{from}");
            assert!(Descriptor::of_json(wrong.as_bytes()).is_err(), "{wrong}");
        }
        assert!(Descriptor::of_json(&[b' '; MAX_BYTES + 1]).is_err());
        let none = text.find("\"generations\"").unwrap();
        let none = format!("{}\"generations\":[]}}", &text[..none]);
        assert!(Descriptor::of_json(none.as_bytes()).is_err());
    }
}
