//! Enums of errors, with the message of each variant beside it.

use core::fmt;

/// Defines an enum of errors. The message of a variant stands in front of it, as
/// `#[error("…", arguments)]`: a format string that can name the fields, and its arguments. The
/// value of a variant with parentheses has a name for that, as the parameter of a function.
macro_rules! messages {
    (
        $(#[$attribute:meta])*
        pub enum $name:ident {$(
            $(#[doc = $doc:literal])*
            #[error($($message:tt)*)]
            $variant:ident
            $(($inner:ident: $of:ty))?
            $({$(
                $(#[doc = $field_doc:literal])*
                $field:ident: $type:ty,
            )*})?,
        )*}
    ) => {
        $(#[$attribute])*
        pub enum $name {$(
            $(#[doc = $doc])*
            $variant
            $(($of))?
            $({$(
                $(#[doc = $field_doc])*
                $field: $type,
            )*})?,
        )*}

        impl core::fmt::Display for $name {
            #[allow(unused_variables, reason = "a message need not name all fields")]
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self {$(
                    Self::$variant $(($inner))? $({$($field),*})? => write!(f, $($message)*),
                )*}
            }
        }
    };
}

pub(crate) use messages;

/// Bytes in a message, each after a space.
pub(crate) struct Hex<'b>(pub(crate) &'b [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, " {byte:02x}"))
    }
}
