//! The name of the normal form that items had before they were hashed.

use core::error::Error;
use core::fmt;

/// The number of bytes of a policy in a file.
pub(crate) const POLICY_BYTES: usize = 32;

/// The name of the normal form that items had before they were hashed, such as `url-v1`: up to 32 bytes of printable
/// ASCII.
///
/// Programs that normalize items differently give the same item different hashes, and a shared filter would then miss
/// items. So a file contains the name, and a load fails if it differs from the name in [`Options`](crate::Options). The
/// name means something only to the programs that use the file.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::Policy;
///
/// let policy = Policy::new("url-v1")?;
/// assert_eq!(policy.name(), "url-v1");
/// assert_eq!(Policy::default(), Policy::NONE);
/// # Ok::<(), tamis::formats::PolicyError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Policy([u8; POLICY_BYTES]);

impl Policy {
    /// No normal form: items were hashed as they were. Its name is empty.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// assert_eq!(tamis::formats::Policy::NONE.name(), "");
    /// ```
    pub const NONE: Self = Self([0; POLICY_BYTES]);

    /// Returns the policy with this name. An empty name gives [`NONE`](Self::NONE).
    ///
    /// # Errors
    ///
    /// [`PolicyError`] if the name has more than 32 bytes, or a character that is not printable ASCII.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::Policy;
    /// assert!(Policy::new("lower case").is_ok());
    /// assert!(Policy::new("tab\t").is_err());
    /// ```
    pub fn new(name: &str) -> Result<Self, PolicyError> {
        let mut bytes = [0; POLICY_BYTES];
        let to = bytes.get_mut(..name.len()).ok_or(PolicyError::Long { len: name.len() })?;
        if let Some(character) = name.chars().find(|c| !is_printable(*c)) {
            return Err(PolicyError::Character { character });
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
    /// # use tamis::formats::Policy;
    /// assert_eq!(Policy::new("url-v1")?.name(), "url-v1");
    /// # Ok::<(), tamis::formats::PolicyError>(())
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        let name = self.0.split(|byte| *byte == 0).next();
        // Only ASCII bytes are stored, so this never fails.
        name.and_then(|name| str::from_utf8(name).ok()).unwrap_or_default()
    }

    /// Returns the bytes of the policy in a file.
    pub(crate) const fn to_bytes(self) -> [u8; POLICY_BYTES] {
        self.0
    }

    /// Returns the policy with these bytes, or `None` if they are not printable ASCII followed by zeros.
    pub(crate) fn of_bytes(bytes: [u8; POLICY_BYTES]) -> Option<Self> {
        let policy = Self(bytes);
        (Self::new(policy.name()) == Ok(policy)).then_some(policy)
    }
}

fn is_printable(character: char) -> bool {
    matches!(character, ' '..='~')
}

/// Writes the name.
impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Policy").field(&self.name()).finish()
    }
}

/// The reason why a text is not the name of a [`Policy`].
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::Policy;
/// let error = Policy::new("é").unwrap_err();
/// assert_eq!(error.to_string(), "the policy contains 'é'; only printable ASCII is possible");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyError {
    /// The name is too long.
    Long {
        /// The number of bytes given.
        len: usize,
    },
    /// A character is not printable ASCII.
    Character {
        /// The first such character.
        character: char,
    },
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Long { len } => {
                write!(f, "the policy has {len} bytes; at most {POLICY_BYTES} are possible")
            }
            Self::Character { character } => {
                write!(f, "the policy contains {character:?}; only printable ASCII is possible")
            }
        }
    }
}

impl Error for PolicyError {}
