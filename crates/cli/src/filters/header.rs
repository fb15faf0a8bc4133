//! The header of a saved filter, which is checked before its body is read.

use std::path::Path;

use tamis::MergeError;
use tamis::formats::{Info, LoadError};

use super::next;
use crate::input::shown;
use crate::policy::Policy;
use crate::{Error, memory};

/// A saved filter whose header is valid.
pub(crate) struct Header<'p> {
    pub(crate) path: &'p Path,
    pub(crate) info: Info,
}

impl<'p> Header<'p> {
    /// Reads and checks the header of a file, and its length.
    pub(crate) fn open(path: &'p Path) -> Result<Self, Error> {
        let info = Info::open(path).map_err(|source| Error::Load { name: shown(path), source })?;
        Ok(Self { path, info })
    }

    /// Returns an error if the items of the filter had another normal form than the keys of this command.
    pub(crate) fn require_policy(&self, policy: Policy) -> Result<(), Error> {
        let (found, given) = (self.info.policy(), policy.saved());
        if found == given {
            return Ok(());
        }
        let name = match found.name() {
            "" => Policy::None.name(),
            name => name,
        };
        let remedy = match Policy::of_saved(found) {
            Some(policy) => format!("run: {}", next::command_with_url(policy)),
            None => "this version of tamis does not have that policy".into(),
        };
        Err(self.refused(format!(
            "its items were normalised with --url {name}, but this command has --url {}; {remedy}",
            policy.name()
        )))
    }

    /// Returns an error if the file is live: other programs may be changing it.
    pub(crate) fn require_saved(&self) -> Result<(), Error> {
        if self.info.is_live() {
            let found =
                "is live: other programs may be changing it; 'tamis merge -o COPY' saves a copy";
            return Err(self.refused(found));
        }
        Ok(())
    }

    /// Returns an error if the filter cannot be merged with that of `first`. (Another seed is found later.)
    pub(crate) fn require_like(&self, first: &Self) -> Result<(), Error> {
        let (ours, theirs) = (&self.info, &first.info);
        let differs = |what: &str, ours: String, theirs: String| {
            let name = shown(first.path);
            Err(self.refused(format!(
                "has the {what} {ours}, but {name} has {theirs}; only filters built with the same options can be \
                 merged"
            )))
        };
        if ours.kind() != theirs.kind() {
            return differs("type", ours.kind().to_string(), theirs.kind().to_string());
        }
        if ours.algorithm() != theirs.algorithm() {
            let name = |info: &Info| info.algorithm().name().to_owned();
            return differs("hash", name(ours), name(theirs));
        }
        if ours.policy() != theirs.policy() {
            let name = |info: &Info| format!("'{}'", info.policy().name());
            return differs("URL policy", name(ours), name(theirs));
        }
        if ours.geometry() != theirs.geometry() {
            let size =
                |info: &Info| format!("{} bytes for {} items", info.body_len(), info.capacity());
            return differs("geometry of", size(ours), size(theirs));
        }
        Ok(())
    }

    /// Returns an error if there is not enough memory to load the filter.
    pub(super) fn check_memory(&self) -> Result<(), Error> {
        memory::lack(self.info.body_len()).map_or(Ok(()), |lack| Err(self.refused(lack)))
    }

    /// The error for a filter that this command does not take.
    pub(crate) fn refused(&self, found: impl Into<String>) -> Error {
        Error::Input { name: shown(self.path), found: found.into() }
    }

    pub(super) fn unreadable(&self, source: LoadError) -> Error {
        Error::Load { name: shown(self.path), source }
    }

    pub(super) fn unmerged(&self, source: MergeError) -> Error {
        Error::Merge { name: shown(self.path), source }
    }
}
