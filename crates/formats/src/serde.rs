//! Filters as values of serde: the bytes of the format, in text as base64.

use core::fmt;
use core::marker::PhantomData;
use std::io::{self, Cursor};

use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use base64::read::DecoderReader;
use serde_core::de::{self, Deserialize, Deserializer, Visitor};
use serde_core::ser::{self, Serialize, Serializer};

use crate::error::LoadError;
use crate::filters::saved::Saved;
use crate::io::info::Info;
use crate::io::write::encoded_len;
use crate::options::Options;
use crate::save_error::SaveError;

/// Serializes a filter as the bytes of a file: for `#[serde(with = "tamis::formats::serde")]`.
///
/// A format for people (JSON, TOML, YAML) gets a string in base64, with the standard alphabet and
/// padding. The bytes take memory of the size of the filter. Other threads may insert meanwhile.
/// Some filters are copied first, as [`save`](crate::save()) does.
///
/// # Errors
///
/// The error of the serializer; it has the text of [`SaveError`] if the bytes cannot be allocated.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use serde::{Deserialize, Serialize};
/// use tamis::{BlockedBloomFilter, hash::Rapid};
///
/// #[derive(Serialize, Deserialize)]
/// struct Segment {
///     name: String,
///     #[serde(with = "tamis::formats::serde")]
///     keys: BlockedBloomFilter<str, Rapid>,
/// }
///
/// let builder = BlockedBloomFilter::<str>::builder().capacity(100).hasher(Rapid::with_seed(7));
/// let keys = builder.build()?;
/// keys.insert("a");
/// let json = serde_json::to_string(&Segment { name: "0001".into(), keys })?;
/// let again: Segment = serde_json::from_str(&json)?;
/// assert!(again.keys.contains("a") && again.name == "0001");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn serialize<F: Saved, S: Serializer>(filter: &F, serializer: S) -> Result<S::Ok, S::Error> {
    Options::new().serialize(filter, serializer)
}

/// Deserializes what [`serialize`] wrote, with all checks of [`load`](crate::load()).
///
/// It takes bytes, or a string in base64, whatever the format. The header and the length are
/// checked before memory is allocated for the filter, so the filter takes no more memory than the
/// size of the input. A cuckoo filter that grows reserves address space for all of its growth. The
/// format reads the bytes first: bincode 2 allocates the length that it reads, and a hostile one
/// ends the process, unless its configuration has a limit (`with_limit`).
///
/// # Errors
///
/// The error of the deserializer; it has the text of [`LoadError`] if the bytes are not those of
/// such a filter, or if the system refuses the address space.
pub fn deserialize<'de, F: Saved, D: Deserializer<'de>>(deserializer: D) -> Result<F, D::Error> {
    Options::new().deserialize(deserializer)
}

/// A filter that implements `Serialize` and `Deserialize`, as [`serialize`] and [`deserialize`] do:
/// for a filter inside another type, such as `Vec<Serde<F>>`.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::serde::Serde;
/// use tamis::{CuckooFilter, hash::Rapid};
///
/// let filter = CuckooFilter::<str>::builder().capacity(100).hasher(Rapid::with_seed(7)).build()?;
/// filter.insert("a")?;
/// let json = serde_json::to_string(&vec![Serde(filter)])?;
/// let filters: Vec<Serde<CuckooFilter<str, Rapid>>> = serde_json::from_str(&json)?;
/// assert!(filters[0].0.contains("a"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Serde<F>(pub F);

impl<F: Saved> Serialize for Serde<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(&self.0, serializer)
    }
}

impl<'de, F: Saved> Deserialize<'de> for Serde<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer).map(Self)
    }
}

impl Options {
    /// Serializes a filter with this normalization, as
    /// [`serde::serialize`](crate::serde::serialize) does.
    ///
    /// # Errors
    ///
    /// As [`serde::serialize`](crate::serde::serialize).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::{BloomFilter, hash::Rapid};
    /// use tamis::formats::{Options, Normalization};
    ///
    /// let filter = BloomFilter::<str>::builder().capacity(9).hasher(Rapid::with_seed(1)).build()?;
    /// let options = Options::new().normalization(Normalization::new("url-v1")?);
    /// let mut json = Vec::new();
    /// options.serialize(&filter, &mut serde_json::Serializer::new(&mut json))?;
    ///
    /// let read = |options: Options| -> Result<BloomFilter<str, Rapid>, _> {
    ///     options.deserialize(&mut serde_json::Deserializer::from_slice(&json))
    /// };
    /// assert!(read(options).is_ok());
    /// assert!(read(Options::new()).unwrap_err().to_string().contains("url-v1"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn serialize<F: Saved, S: Serializer>(
        &self,
        filter: &F,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let bytes = self.bytes_of(filter).map_err(ser::Error::custom)?;
        if serializer.is_human_readable() {
            serializer.collect_str(&Base64Display::new(&bytes, &STANDARD))
        } else {
            serializer.serialize_bytes(&bytes)
        }
    }

    /// Deserializes a filter with these options, as
    /// [`serde::deserialize`](crate::serde::deserialize) does.
    ///
    /// # Errors
    ///
    /// As [`serde::deserialize`](crate::serde::deserialize).
    pub fn deserialize<'de, F: Saved, D: Deserializer<'de>>(
        &self,
        deserializer: D,
    ) -> Result<F, D::Error> {
        let visitor = FilterVisitor { options: *self, filter: PhantomData };
        // Not `deserialize_bytes`: ciborium then gives only what fits into a small buffer.
        if deserializer.is_human_readable() {
            deserializer.deserialize_string(visitor)
        } else {
            deserializer.deserialize_byte_buf(visitor)
        }
    }

    /// Returns the bytes of the file of a filter, in one pass over it.
    fn bytes_of<F: Saved>(&self, filter: &F) -> Result<Vec<u8>, SaveError> {
        let len = encoded_len(filter);
        let mut bytes = Vec::new();
        usize::try_from(len)
            .ok()
            .and_then(|len| bytes.try_reserve_exact(len).ok())
            .ok_or(SaveError::Alloc { bytes: len })?;
        self.write_to(&mut Cursor::new(&mut bytes), filter)?;
        Ok(bytes)
    }
}

/// Reads a filter from bytes, or from a string in base64.
///
/// A format may give either, whatever was asked for: serde keeps the fields of some types
/// (`flatten`, `untagged`) before it deserializes them, and then reports every format as one for
/// people.
struct FilterVisitor<F> {
    options: Options,
    filter: PhantomData<F>,
}

impl<F: Saved> Visitor<'_> for FilterVisitor<F> {
    type Value = F;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the bytes of a saved {}, or these bytes in base64", F::KIND)
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<F, E> {
        self.options.of_bytes(bytes).map_err(E::custom)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<F, E> {
        self.options.of_base64(text).map_err(E::custom)
    }
}

impl Options {
    /// Loads a filter from the bytes of a file.
    fn of_bytes<F: Saved>(&self, bytes: &[u8]) -> Result<F, LoadError> {
        let Info(header) = Info::read(bytes)?;
        header.check_file_len(bytes.len() as u64)?;
        self.read(bytes)
    }

    /// Loads a filter from the bytes of a file in base64. It decodes one chunk at a time.
    fn of_base64<F: Saved>(&self, text: &str) -> Result<F, LoadError> {
        // Four characters for three bytes. The decoder refuses any other form of the end.
        let padding = text.bytes().rev().take_while(|byte| *byte == b'=').count();
        let len = (text.len() / 4 * 3).saturating_sub(padding);
        let bytes = || DecoderReader::new(text.as_bytes(), &STANDARD);
        let Info(header) = Info::read(bytes())?;
        header.check_file_len(len as u64)?;
        let mut bytes = bytes();
        let filter = self.read(&mut bytes)?;
        // The end of the text, which may be wrong, too.
        match io::copy(&mut bytes, &mut io::sink())? {
            0 => Ok(filter),
            more => {
                let (found, expected) = (header.file_len() + more, header.file_len());
                Err(LoadError::Trailing { found, expected })
            }
        }
    }
}
