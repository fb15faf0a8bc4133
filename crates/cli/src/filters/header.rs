//! The header of a saved filter, which is checked before its body is read.

use std::io::ErrorKind;
use std::path::Path;

use tamis::MergeError;
use tamis::formats::{Geometry, Info, Kind, LoadError, Options, SetError, SetInfo, foreign};
use tamis::hash::Algorithm;

use super::next::{self, Union};
use crate::error::Error;
use crate::file_kind::FileKind;
use crate::input::shown;
use crate::memory;
use crate::policy::{self, Form};

/// The bytes of a file that are read at a time.
const READ: u64 = 1 << 20;

/// A saved filter whose header is valid.
pub(crate) struct Header<'p> {
    pub(crate) path: &'p Path,
    /// The name in messages.
    name: String,
    pub(crate) info: Box<Info>,
}

impl<'p> Header<'p> {
    /// Reads and checks the header of a file, and its length.
    pub(crate) fn open(path: &'p Path) -> Result<Self, Error> {
        Self::open_as(path, shown(path))
    }

    /// Opens a file that has another name in messages.
    pub(crate) fn open_as(path: &'p Path, name: String) -> Result<Self, Error> {
        match Info::open(path) {
            Ok(info) => Ok(Self { path, name, info: Box::new(info) }),
            // A set of filters begins with the first one. It may be of a later version.
            Err(LoadError::Trailing { .. }) if is_set(path) => {
                let found = "is an index, not a filter; 'tamis which' finds keys in it";
                Err(Error::Input { name, found: found.into() })
            }
            Err(source) => Err(unreadable(name, source)),
        }
    }

    /// The header of one filter of a set.
    pub(crate) fn of_set(path: &'p Path, info: Info) -> Self {
        Self { path, name: shown(path), info: Box::new(info) }
    }

    /// The options with which this filter, and no other, is loaded or merged.
    pub(super) fn options(&self) -> Options {
        Options::new().normalization(self.info.normalization()).live(self.info.is_live())
    }

    /// Returns an error if the items of the filter had another normal form than the keys of this
    /// command.
    pub(crate) fn require_form(&self, form: Form) -> Result<(), Error> {
        let (found, given) = (self.info.normalization(), form.saved());
        if found == given {
            return Ok(());
        }
        let remedy = match Form::of_saved(found) {
            Some(form) => format!("run: {}", next::command_with_form(form)),
            None => "this version of tamis does not have that policy".into(),
        };
        let [found, given] = [found, given].map(policy::shown);
        Err(self.refused(format!(
            "its items were normalised with {found}, but this command has {given}; {remedy}"
        )))
    }

    /// Returns an error if the file is live: other programs may be changing it.
    pub(crate) fn require_saved(&self) -> Result<(), Error> {
        if self.info.is_live() {
            let name = next::quoted(&self.name);
            return Err(self.refused(format!(
                "is live: other programs may be changing it; use a copy: tamis convert -o COPY {name}"
            )));
        }
        Ok(())
    }

    /// Returns an error if the filter cannot be merged with that of `first`. `union` says what the
    /// filters together need.
    pub(crate) fn require_like(
        &self,
        first: &Self,
        union: impl Fn() -> Union,
    ) -> Result<(), Error> {
        let (ours, theirs) = (&self.info, &first.info);
        let name = &first.name;
        let differs = |difference: String| {
            let remedy = match theirs.kind() {
                // Tables grow.
                Kind::Table => {
                    let next = next::command_like(theirs, &[]);
                    format!("create it again as {name}, with the same --seed: {next}")
                }
                _ => {
                    let next = next::command_for_union(theirs, &union(), &[]);
                    format!("build each of them again with room for the records of all: {next}")
                }
            };
            Err(self.refused(format!("has {difference}; to merge them, {remedy}")))
        };
        if ours.kind() != theirs.kind() {
            let (ours, theirs) = (ours.kind(), theirs.kind());
            return differs(format!("the type {ours}, but {name} has {theirs}"));
        }
        // No filter can be built with a random key again.
        if !ours.has_hash_of(theirs) && theirs.algorithm() == Algorithm::SipHash13 {
            let next = next::command_for_union(theirs, &union(), &["--seed", "NUMBER"]);
            return Err(self.refused(format!(
                "has another hash than {name}, whose key is random; to merge them, build each of them again \
                 with one number as their --seed: {next}"
            )));
        }
        if ours.algorithm() != theirs.algorithm() {
            let (ours, theirs) = (ours.algorithm().name(), theirs.algorithm().name());
            return differs(format!("the hash {ours}, but {name} has {theirs}"));
        }
        // The seed is secret: it is compared, but never printed.
        if !ours.has_hash_of(theirs) {
            return differs(format!("another seed than {name}"));
        }
        if ours.normalization() != theirs.normalization() {
            let (ours, theirs) = (policy_name(ours), policy_name(theirs));
            return differs(format!("the URL policy {ours}, but {name} has {theirs}"));
        }
        // Tables and cuckoo filters that have grown differently can be merged.
        let are_like = match (ours.geometry(), theirs.geometry()) {
            (Geometry::GrowingCuckoo(ours), Geometry::GrowingCuckoo(theirs)) => {
                ours.geometry() == theirs.geometry()
            }
            (ours, theirs) => ours == theirs,
        };
        if !are_like && ours.kind() != Kind::Table {
            let size = |info: &Info| match info.geometry() {
                // Its bytes are those of its present size, which may differ.
                Geometry::GrowingCuckoo(sizes) => {
                    let sizes = sizes.geometry();
                    format!(
                        "{} buckets of {} bits at first, at most {}, and fingerprints of {} bits",
                        sizes.buckets(),
                        sizes.bits() / sizes.buckets(),
                        sizes.buckets() << sizes.doublings(),
                        sizes.fingerprint_bits()
                    )
                }
                _ => format!("{} bytes for {} items", info.body_len(), info.capacity()),
            };
            let (ours, theirs) = (size(ours), size(theirs));
            return differs(format!("a geometry of {ours}, but {name} has {theirs}"));
        }
        Ok(())
    }

    /// Whether records can be removed from the filter.
    pub(crate) fn can_remove(&self) -> bool {
        matches!(self.info.kind(), Kind::Cuckoo | Kind::CountingBloom)
    }

    /// Returns an error if filters of this kind cannot be merged.
    pub(crate) fn require_mergeable(&self) -> Result<(), Error> {
        let kind = self.info.kind();
        let why = match FileKind::of_saved(&self.info) {
            Some(FileKind::Rotating) => {
                "it does not know which records of two windows are the last"
            }
            Some(FileKind::Scalable) => "each filter that grows has its own sizes",
            _ => return Ok(()),
        };
        let next = next::command_like(&self.info, &[]);
        Err(self.refused(format!(
            "is a {kind}, which cannot be merged: {why}; build one from the records of all: {next}"
        )))
    }

    /// The error for a filter from which no records can be removed.
    pub(crate) fn unremovable(&self) -> Error {
        let kind = self.info.kind();
        let why = match kind {
            Kind::Table | Kind::OnceCuckoo => "one fingerprint may stand for several records",
            _ => "one bit may stand for several records",
        };
        let next = next::command_for_removal(&self.info);
        self.refused(format!(
            "is a {kind}, from which nothing can be removed: {why}; a filter of --kind cuckoo, counting or scalable-cuckoo can remove: {next}"
        ))
    }

    /// The error for a table with another number of positions than those before it.
    pub(super) fn other_table(&self) -> Error {
        let next = next::command_like(&self.info, &[]);
        self.refused(format!(
            "is a table that was created with another --capacity, or without one, than those before it; to merge them, \
             create it again with theirs: {next}"
        ))
    }

    /// Returns an error if there is not enough memory to load the filter.
    pub(crate) fn check_memory(&self) -> Result<(), Error> {
        // MEASURED: peak memory is 1.0 times the body for every kind, compared with 2.0 times for a
        // filter of another system, which is taken over from the bytes that were read (any
        // machine).
        let factor = if self.info.kind() == Kind::Foreign { 2 } else { 1 };
        memory::check_for(&self.name, self.info.body_len().saturating_mul(factor))
    }

    /// The error for a filter that this command does not take.
    pub(crate) fn refused(&self, found: impl Into<String>) -> Error {
        Error::Input { name: self.name.clone(), found: found.into() }
    }

    pub(crate) fn unreadable(&self, source: LoadError) -> Error {
        unreadable(self.name.clone(), source)
    }

    pub(super) fn unmerged(&self, source: MergeError) -> Error {
        Error::Merge { name: self.name.clone(), source }
    }
}

/// Returns whether a file ends as a set of filters does, of this version or of another.
fn is_set(path: &Path) -> bool {
    let opened = SetInfo::open(path);
    !matches!(opened, Err(SetError::Magic { .. } | SetError::Io(_) | SetError::NotAFile))
}

/// The error for a file that cannot be loaded.
fn unreadable(name: String, source: LoadError) -> Error {
    match source {
        LoadError::Alloc { bytes: needed }
        | LoadError::Foreign { error: foreign::Error::Alloc { bytes: needed }, .. } => {
            Error::Short { name, needed, available: None }
        }
        // The bytes that are read at a time.
        LoadError::Io(error) if error.kind() == ErrorKind::OutOfMemory => {
            Error::Short { name, needed: READ, available: None }
        }
        source => Error::Load { name, source },
    }
}

/// The name of the policy of a filter.
fn policy_name(info: &Info) -> String {
    match info.normalization().name() {
        "" => "none".to_owned(),
        name => name.to_owned(),
    }
}
