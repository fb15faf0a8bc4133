//! The items that a batch accepts, owned or borrowed.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// An item of a filter for `T`, owned or borrowed. The batch methods accept any type with this
/// trait.
///
/// | filter of | batch methods accept |
/// |---|---|
/// | every `T` | `T`, `&T`, `&&T`, `Box<T>`, `Rc<T>`, `Arc<T>`, and references to the last three |
/// | `str` | also `String`, `Cow<str>`, and references to them |
/// | `[T]` | also `Vec<T>`, `[T; N]`, `Cow<[T]>`, and references to them |
/// | `String` | also `&str` |
/// | `Vec<T>` | also `&[T]` |
///
/// Implement this trait for your own types to pass them to batch methods. Map types of other crates
/// to one of these forms. The hashed form must have the same hash as the `T` that it represents, as
/// for [`Borrow`](core::borrow::Borrow).
///
/// # Examples
///
/// ```
/// # use tamis_core as tamis;
/// use tamis::AsItem;
///
/// fn bytes_of<T: AsItem<str, Borrowed = str>>(items: impl IntoIterator<Item = T>) -> usize {
///     items.into_iter().map(|item| item.as_item().len()).sum()
/// }
///
/// let owned = vec![String::from("ada"), String::from("grace")];
/// assert_eq!(bytes_of(&owned), 8);
/// assert_eq!(bytes_of(owned), 8);
/// assert_eq!(bytes_of(["ada", "grace"]), 8);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an item of a filter of `{T}`",
    note = "pass `{T}` or `&{T}`, or map the iterator to one of them"
)]
pub trait AsItem<T: ?Sized> {
    /// The form that is hashed: `T`, or a borrowed form of `T`.
    type Borrowed: ?Sized;

    /// Returns the form that is hashed.
    fn as_item(&self) -> &Self::Borrowed;
}

impl<T> AsItem<T> for T {
    type Borrowed = T;

    #[inline]
    fn as_item(&self) -> &T {
        self
    }
}

/// Implements the trait for types from which `&self` derefs to the hashed form.
macro_rules! as_item {
    ($([$($parameters:tt)*] $item:ty => $from:ty as $borrowed:ty;)*) => {$(
        impl<$($parameters)*> AsItem<$item> for $from {
            type Borrowed = $borrowed;

            #[inline]
            fn as_item(&self) -> &$borrowed {
                self
            }
        }
    )*};
}

as_item! {
    [T: ?Sized] T => &T as T;
    [T: ?Sized] T => &&T as T;
    [T: ?Sized] T => Box<T> as T;
    [T: ?Sized] T => &Box<T> as T;
    [T: ?Sized] T => Rc<T> as T;
    [T: ?Sized] T => &Rc<T> as T;
    [T: ?Sized] T => Arc<T> as T;
    [T: ?Sized] T => &Arc<T> as T;
    [] str => String as str;
    [] str => &String as str;
    [] str => &&String as str;
    [] str => Cow<'_, str> as str;
    [] str => &Cow<'_, str> as str;
    [] String => &str as str;
    [] String => &&str as str;
    [T] [T] => Vec<T> as [T];
    [T] [T] => &Vec<T> as [T];
    [T] [T] => &&Vec<T> as [T];
    [T: Clone] [T] => Cow<'_, [T]> as [T];
    [T: Clone] [T] => &Cow<'_, [T]> as [T];
    [T] Vec<T> => &[T] as [T];
    [T] Vec<T> => &&[T] as [T];
}

impl<T, const N: usize> AsItem<[T]> for [T; N] {
    type Borrowed = [T];

    #[inline]
    fn as_item(&self) -> &[T] {
        self
    }
}

impl<T, const N: usize> AsItem<[T]> for &&[T; N] {
    type Borrowed = [T];

    #[inline]
    fn as_item(&self) -> &[T] {
        **self
    }
}

impl<T, const N: usize> AsItem<[T]> for &[T; N] {
    type Borrowed = [T];

    #[inline]
    fn as_item(&self) -> &[T] {
        *self
    }
}
