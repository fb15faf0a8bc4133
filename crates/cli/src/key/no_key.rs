//! The reasons for which a record has no key.

use core::fmt;

/// Why a record has no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoKey {
    /// It is not hexadecimal, or has an odd number of digits.
    Hex,
    /// It has too few fields.
    Field,
    /// A field begins with a double quote, and no option says what that means.
    Quoted,
    /// It is not JSON.
    Json,
    /// It is the first line of a JSON document over several lines.
    Spread {
        /// Whether the document is an array.
        array: bool,
    },
    /// It has nothing at the pointer.
    Pointer,
    /// The value at the pointer is nested too deeply.
    Deep,
    /// The key is not an absolute URL.
    Url,
    /// The key is empty, and the filter takes no empty keys.
    Empty,
    /// The key is not valid UTF-8.
    Utf8,
    /// The key is not a decimal integer of 32 bits.
    I32,
    /// The key is not a decimal integer of 64 bits.
    I64,
}

impl fmt::Display for NoKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hex => "not hexadecimal; expected two digits for each byte",
            Self::Field => "too few fields for --key-field",
            Self::Quoted => {
                "a field begins with a double quote; --csv parses such fields, --no-csv treats quotes as ordinary bytes"
            }
            Self::Json => "not JSON; expected one document per line for --json-key",
            Self::Spread { array: false } => {
                "not JSON, but the first line of a document over several lines; run: jq -c . FILE | tamis ..."
            }
            Self::Spread { array: true } => {
                "not JSON, but the first line of an array over several lines; run: jq -c '.[]' FILE | tamis ..."
            }
            Self::Pointer => "nothing at the --json-key pointer",
            Self::Deep => "the value at the --json-key pointer is nested deeper than 127",
            Self::Url => "the key is not an absolute URL, which --url expects",
            Self::Empty => "the key is empty, and the system of the filter has no empty keys",
            Self::Utf8 => "the key is not UTF-8, which --key-type utf8 expects",
            Self::I32 => "the key is not a decimal integer of 32 bits, which --key-type i32 expects",
            Self::I64 => "the key is not a decimal integer of 64 bits, which --key-type i64 expects",
        })
    }
}
