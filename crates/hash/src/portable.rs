//! The portable encoding of an item: the bytes that a stable hasher hashes.
//!
//! `std::hash::Hash` does not define such bytes: it writes integers in native byte order, `usize`
//! in the width of the platform, and lengths in an unspecified form. Here each type has a fixed
//! encoding that never changes:
//!
//! | type | on its own | as a part of a tuple |
//! |---|---|---|
//! | `[u8]`, `Vec<u8>`, `[u8; N]`, `str`, `String` | the bytes | length (8 bytes), the bytes |
//! | integers, `char`, `bool` | little-endian; `usize` and `isize` as 64 bits, `char` as 32, `bool` as 8 | the same |
//! | `()` | nothing | nothing |
//! | `Option<T>` | 0, or 1 and then `T` as a part | the same |
//! | tuples | their parts | the same |
//! | references, `Box<T>`, `Rc<T>`, `Arc<T>`, `Cow<T>` | as `T` | as `T` |
//!
//! A type and its `Borrow` forms have the same encoding. In a tuple the encoding of each part is
//! prefix-free, so `("ab", "c")` and `("a", "bc")` differ.

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// An item whose encoding is the same on all platforms and in all releases.
///
/// # For implementors
///
/// Write the fields one after another with [`encode_part`](Self::encode_part). Equal items must
/// have equal encodings, and unequal items different ones. The encoding must never change: every
/// saved filter depends on it. A type that implements `Borrow<Q>` must have the encoding of `Q`.
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// use tamis::hash::{Encoder, HashItem, Portable, Rapid};
///
/// struct Page { host: String, port: u16 }
///
/// impl Portable for Page {
///     fn encode(&self, out: &mut Encoder) {
///         self.host.encode_part(out);
///         self.port.encode_part(out);
///     }
/// }
///
/// let page = Page { host: "example.org".into(), port: 443 };
/// assert_eq!(
///     Rapid::with_seed(0).hash_item(&page),
///     Rapid::with_seed(0).hash_item(&("example.org", 443_u16)),
/// );
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no portable encoding",
    note = "a stable hasher, such as `Rapid`, needs an item that is `Portable`: implement it for a \
            type of your own that holds this one"
)]
pub trait Portable {
    /// Appends the encoding of the item on its own.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// use tamis::hash::{Encoder, Portable};
    ///
    /// let mut out = Encoder::default();
    /// "ab".encode(&mut out);
    /// assert_eq!(out.bytes(), b"ab");
    /// ```
    fn encode(&self, out: &mut Encoder);

    /// Appends the encoding of the item as a part of a larger item. This encoding is prefix-free:
    /// it determines where the part ends. By default it is the length of [`encode`](Self::encode)'s
    /// bytes, then these bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// use tamis::hash::{Encoder, Portable};
    ///
    /// let mut out = Encoder::default();
    /// "ab".encode_part(&mut out);
    /// assert_eq!(out.bytes(), [2, 0, 0, 0, 0, 0, 0, 0, b'a', b'b']);
    /// ```
    fn encode_part(&self, out: &mut Encoder) {
        out.prefixed(|out| self.encode(out));
    }

    /// Calls `f` with the encoding of the item. Types that are bytes already are not copied.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// use tamis::hash::Portable;
    /// assert_eq!(0x0102_u16.with_encoded(<[u8]>::to_vec), [2, 1]);
    /// ```
    fn with_encoded<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
        let mut out = Encoder::default();
        self.encode(&mut out);
        f(out.bytes())
    }
}

/// A buffer that collects the bytes of an encoding. Up to 64 bytes are stored inline, without an
/// allocation.
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// let mut out = tamis::hash::Encoder::default();
/// out.write(&[1, 2]);
/// assert_eq!(out.bytes(), [1, 2]);
/// ```
#[derive(Debug)]
pub struct Encoder {
    short: [u8; Self::SHORT],
    len: usize,
    /// All bytes, once there are more than `short` can hold; empty before.
    long: Vec<u8>,
}

impl Default for Encoder {
    fn default() -> Self {
        Self { short: [0; Self::SHORT], len: 0, long: Vec::new() }
    }
}

impl Encoder {
    const SHORT: usize = 64;

    /// Appends `bytes`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// let mut out = tamis::hash::Encoder::default();
    /// out.write(b"a");
    /// out.write(b"b");
    /// assert_eq!(out.bytes(), b"ab");
    /// ```
    #[inline]
    pub fn write(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        if end <= Self::SHORT {
            self.short[self.len..end].copy_from_slice(bytes);
        } else {
            // The first bytes that do not fit: move those written so far.
            if self.long.is_empty() {
                self.long.extend_from_slice(&self.short[..self.len]);
            }
            self.long.extend_from_slice(bytes);
        }
        self.len = end;
    }

    /// Returns the bytes written so far.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_hash as tamis;
    /// assert!(tamis::hash::Encoder::default().bytes().is_empty());
    /// ```
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        if self.len <= Self::SHORT { &self.short[..self.len] } else { &self.long }
    }

    /// Writes the length in bytes of what `write` writes, then these bytes.
    fn prefixed(&mut self, write: impl FnOnce(&mut Self)) {
        // The length is known only afterwards: reserve its 8 bytes, and fill them in at the end.
        let start = self.len;
        self.write(&[0; 8]);
        write(self);
        let length = (self.len - start - 8) as u64;
        // `write` may have moved all bytes from `short` to `long`.
        let bytes = if self.len <= Self::SHORT { &mut self.short[..] } else { &mut self.long[..] };
        bytes[start..start + 8].copy_from_slice(&length.to_le_bytes());
    }
}

/// Implements `Portable` for types that are a sequence of bytes.
macro_rules! bytes {
    ($(($($generics:tt)*) $type:ty, $self:ident => $bytes:expr;)*) => {$(
        impl<$($generics)*> Portable for $type {
            #[inline]
            fn encode(&$self, out: &mut Encoder) {
                out.write($bytes);
            }

            #[inline]
            fn with_encoded<R>(&$self, f: impl FnOnce(&[u8]) -> R) -> R {
                f($bytes)
            }
        }
    )*};
}

bytes! {
    () [u8], self => self;
    (const N: usize) [u8; N], self => self;
    () Vec<u8>, self => self;
    () str, self => self.as_bytes();
    () String, self => self.as_bytes();
}

/// Implements `Portable` for types whose encoding has a fixed length: it is prefix-free without a
/// length before it.
macro_rules! fixed {
    ($($type:ty, $self:ident => $bytes:expr;)*) => {$(
        impl Portable for $type {
            #[inline]
            fn encode(&$self, out: &mut Encoder) {
                out.write(&$bytes);
            }

            #[inline]
            fn encode_part(&$self, out: &mut Encoder) {
                out.write(&$bytes);
            }

            #[inline]
            fn with_encoded<R>(&$self, f: impl FnOnce(&[u8]) -> R) -> R {
                f(&$bytes)
            }
        }
    )*};
}

fixed! {
    u8, self => self.to_le_bytes();
    u16, self => self.to_le_bytes();
    u32, self => self.to_le_bytes();
    u64, self => self.to_le_bytes();
    u128, self => self.to_le_bytes();
    usize, self => (*self as u64).to_le_bytes();
    i8, self => self.to_le_bytes();
    i16, self => self.to_le_bytes();
    i32, self => self.to_le_bytes();
    i64, self => self.to_le_bytes();
    i128, self => self.to_le_bytes();
    isize, self => (*self as i64).to_le_bytes();
    bool, self => [u8::from(*self)];
    char, self => u32::from(*self).to_le_bytes();
}

/// Implements `Portable` for pointers and references, which have the encoding of their target.
macro_rules! transparent {
    ($(($($generics:tt)*) $type:ty;)*) => {$(
        impl<$($generics)*> Portable for $type {
            #[inline]
            fn encode(&self, out: &mut Encoder) {
                (**self).encode(out);
            }

            #[inline]
            fn encode_part(&self, out: &mut Encoder) {
                (**self).encode_part(out);
            }

            #[inline]
            fn with_encoded<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
                (**self).with_encoded(f)
            }
        }
    )*};
}

transparent! {
    (T: Portable + ?Sized) &T;
    (T: Portable + ?Sized) &mut T;
    (T: Portable + ?Sized) Box<T>;
    (T: Portable + ?Sized) Rc<T>;
    (T: Portable + ?Sized) Arc<T>;
    (T: Portable + ToOwned + ?Sized) Cow<'_, T>;
}

impl<T: Portable> Portable for Option<T> {
    fn encode(&self, out: &mut Encoder) {
        out.write(&[u8::from(self.is_some())]);
        if let Some(item) = self {
            item.encode_part(out);
        }
    }

    fn encode_part(&self, out: &mut Encoder) {
        self.encode(out);
    }
}

/// Implements `Portable` for tuples: the parts one after another. Each is prefix-free, so the whole
/// is prefix-free, too.
macro_rules! tuples {
    ($(($($part:ident $index:tt),*);)*) => {$(
        impl<$($part: Portable),*> Portable for ($($part,)*) {
            #[inline]
            fn encode(&self, out: &mut Encoder) {
                $(self.$index.encode_part(out);)*
                let _ = out;
            }

            #[inline]
            fn encode_part(&self, out: &mut Encoder) {
                self.encode(out);
            }
        }
    )*};
}

tuples! {
    ();
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
}
