//! The options of saving and loading: a normalization, and whether a live file may be loaded.

use crate::error::LoadError;
use crate::normalization::Normalization;

/// The normalization of a file, and whether a live file may be loaded. Each function of this crate
/// that reads or writes a filter is also a method here. The functions use the default options: no
/// normalization, and no live file.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::{LoadError, Options, Normalization, load};
/// use tamis::{BlockedBloomFilter, hash::Rapid};
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("urls.tamis");
/// let builder = BlockedBloomFilter::<str>::builder().capacity(99).hasher(Rapid::with_seed(1));
/// let urls = builder.build()?;
/// let options = Options::new().normalization(Normalization::new("url-v1")?);
/// options.save(&urls, &path)?;
///
/// let again: BlockedBloomFilter<str, Rapid> = options.load(&path)?;
/// // A program that does not normalize URLs must not use this filter.
/// let error = load::<BlockedBloomFilter<str, Rapid>>(&path).unwrap_err();
/// assert!(matches!(error, LoadError::OtherNormalization { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "options do nothing until a method uses them"]
pub struct Options {
    pub(crate) normalization: Normalization,
    pub(crate) live: bool,
}

impl Options {
    /// Returns the default options.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::{Options, Normalization};
    /// assert_eq!(Options::new(), Options::default().normalization(Normalization::NONE).live(false));
    /// ```
    pub const fn new() -> Self {
        Self { normalization: Normalization::NONE, live: false }
    }

    /// Sets the normalization: a file that is written contains it, and a file that is read must
    /// contain it.
    pub const fn normalization(mut self, normalization: Normalization) -> Self {
        self.normalization = normalization;
        self
    }

    /// Sets whether a [live](crate::Live) file may be loaded or merged. Its body has no checksums.
    ///
    /// The filter then holds every item whose insert returned before the load began. The file stays
    /// live, and the loaded filter is a copy.
    pub const fn live(mut self, live: bool) -> Self {
        self.live = live;
        self
    }

    /// Returns an error unless a file that is read has the normalization of these options.
    pub(crate) fn expect_normalization(&self, found: Normalization) -> Result<(), LoadError> {
        let expected = self.normalization;
        if found == expected {
            Ok(())
        } else {
            Err(LoadError::OtherNormalization { found, expected })
        }
    }
}
