//! The name of the normal form that items had before they were hashed.

use core::fmt;

/// The number of bytes of a normalization in a file.
pub(crate) const NORMALIZATION_BYTES: usize = 32;

/// The name of the normal form that items had before they were hashed, such as `url-v1`: up to 32
/// bytes of printable ASCII.
///
/// Programs that normalize items differently give the same item different hashes, and a shared
/// filter would then miss items. So a file contains the name, and a load fails if it differs from
/// the name in [`Options`](crate::Options). The name means something only to the programs that use
/// the file. The specification of the format calls it the policy.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::Normalization;
///
/// let normalization = Normalization::new("url-v1")?;
/// assert_eq!(normalization.name(), "url-v1");
/// assert_eq!(Normalization::default(), Normalization::NONE);
/// # Ok::<(), tamis::formats::NormalizationError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Normalization([u8; NORMALIZATION_BYTES]);

impl Normalization {
    /// No normal form: items were hashed as they were. Its name is empty.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// assert_eq!(tamis::formats::Normalization::NONE.name(), "");
    /// ```
    pub const NONE: Self = Self([0; NORMALIZATION_BYTES]);

    /// Returns the normalization with this name. An empty name gives [`NONE`](Self::NONE).
    ///
    /// # Errors
    ///
    /// [`NormalizationError`] if the name has more than 32 bytes, or a character that is not
    /// printable ASCII.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::Normalization;
    /// assert!(Normalization::new("lower case").is_ok());
    /// assert!(Normalization::new("tab\t").is_err());
    /// ```
    pub fn new(name: &str) -> Result<Self, NormalizationError> {
        let mut bytes = [0; NORMALIZATION_BYTES];
        let to = bytes.get_mut(..name.len()).ok_or(NormalizationError::Long { len: name.len() })?;
        if let Some(character) = name.chars().find(|c| !is_printable(*c)) {
            return Err(NormalizationError::Character { character });
        }
        to.copy_from_slice(name.as_bytes());
        Ok(Self(bytes))
    }

    /// Returns the name.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// # use tamis::formats::Normalization;
    /// assert_eq!(Normalization::new("url-v1")?.name(), "url-v1");
    /// # Ok::<(), tamis::formats::NormalizationError>(())
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        let name = self.0.split(|byte| *byte == 0).next();
        // Only ASCII bytes are stored, so this never fails.
        name.and_then(|name| str::from_utf8(name).ok()).unwrap_or_default()
    }

    /// Returns the bytes of the normalization in a file.
    pub(crate) const fn to_bytes(self) -> [u8; NORMALIZATION_BYTES] {
        self.0
    }

    /// Returns the normalization with these bytes, or `None` if they are not printable ASCII
    /// followed by zeros.
    pub(crate) fn of_bytes(bytes: [u8; NORMALIZATION_BYTES]) -> Option<Self> {
        let normalization = Self(bytes);
        (Self::new(normalization.name()) == Ok(normalization)).then_some(normalization)
    }
}

fn is_printable(character: char) -> bool {
    matches!(character, ' '..='~')
}

/// Writes the name.
impl fmt::Display for Normalization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Normalization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Normalization").field(&self.name()).finish()
    }
}

/// The reason why a text is not the name of a [`Normalization`].
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::Normalization;
/// let error = Normalization::new("é").unwrap_err();
/// let message = "the normalization contains 'é'; only printable ASCII is possible";
/// assert_eq!(error.to_string(), message);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NormalizationError {
    /// The name is too long.
    #[error("the normalization has {len} bytes; at most {NORMALIZATION_BYTES} are possible")]
    Long {
        /// The number of bytes given.
        len: usize,
    },
    /// A character is not printable ASCII.
    #[error("the normalization contains {character:?}; only printable ASCII is possible")]
    Character {
        /// The first such character.
        character: char,
    },
}
