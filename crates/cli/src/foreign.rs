//! A filter of another system in a file: as that system writes it, or wrapped in a file of this program.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tamis::formats::replace::Target;
use tamis::formats::{Kind, Options, SaveError, foreign};

use crate::args::{Format, FromArgs, KeyArgs, Named};
use crate::filters::Header;
use crate::input::shown;
use crate::remote::Address;
use crate::{Error, ending, memory};

mod decide;

pub(crate) use self::decide::{Change, ForeignLookup, How};

/// A filter of another system.
pub(crate) struct Foreign {
    pub(crate) filter: foreign::AnyFilter,
    /// Whether the file is one of this program, which holds the other.
    wrapped: bool,
}

/// What a file turned out to be.
pub(crate) enum Opened<'p> {
    /// A filter of this program, whose header is valid.
    Ours(Header<'p>),
    /// A filter of another system, all of which has been read.
    Theirs(Foreign),
}

impl<'p> Opened<'p> {
    /// Opens the filter in a file.
    pub(crate) fn open(path: &'p Path, args: &FromArgs) -> Result<Self, Error> {
        if Address::is_one(path) {
            return Err(Address::unexpected(path));
        }
        match args.from {
            Format::Foreign(named) => {
                let bytes = read(path)?;
                let read = Foreign::parse(&bytes, named, args.column.as_deref(), shown(path));
                read.map(Self::Theirs).map_err(|error| match Header::open(path) {
                    Ok(header) => header.refused("is a filter of tamis: omit --from"),
                    Err(_) => error,
                })
            }
            Format::Tamis => Self::of_header(Header::open(path)?, args.column.as_deref()),
        }
    }

    /// Unwraps the filter of a file of this program, if it is one of another system.
    pub(crate) fn of_header(header: Header<'p>, column: Option<&str>) -> Result<Self, Error> {
        if header.info.kind() != Kind::Foreign {
            return match column {
                None => Ok(Self::Ours(header)),
                Some(_) => Err(header.refused("is no Parquet file: omit --column")),
            };
        }
        header.check_memory()?;
        let options = Options::new();
        let filter = match column {
            None => options.load_foreign(header.path),
            Some(column) => options.load_foreign_column(header.path, column),
        };
        let filter = filter.map_err(|error| header.unreadable(error))?;
        Ok(Self::Theirs(Foreign { filter, wrapped: true }))
    }

    /// Opens the filter in a file for a command that takes its records with these options.
    pub(crate) fn open_for(path: &'p Path, args: &FromArgs, keys: KeyArgs) -> Result<Self, Error> {
        let opened = Self::open(path, args)?;
        match &opened {
            Self::Ours(header) if keys.key_type.is_some() => {
                return Err(header.refused(
                    "is a filter of tamis, whose keys are bytes: omit --key-type, or give a --from",
                ));
            }
            Self::Ours(_) => {}
            Self::Theirs(theirs) => theirs.require_keys(keys, path)?,
        }
        Ok(opened)
    }
}

impl Foreign {
    /// Reads a filter from its bytes. `name` is that of the file in messages.
    pub(crate) fn parse(
        bytes: &[u8],
        named: Named,
        column: Option<&str>,
        name: String,
    ) -> Result<Self, Error> {
        match foreign::read(named.formats, bytes, column) {
            Ok(filter) => Ok(Self { filter, wrapped: false }),
            Err(source) => Err(Error::Foreign { name, format: named.name(), source }),
        }
    }

    /// Builds an empty filter, as its system does.
    pub(crate) fn build(
        format: foreign::Format,
        capacity: u64,
        rate: Option<f64>,
        seed: Option<u64>,
    ) -> Result<Self, foreign::Error> {
        Ok(Self { filter: format.build(capacity, rate, seed)?, wrapped: false })
    }

    /// Adds the keys of a filter of the same sizes. `path`: the file of that filter.
    pub(crate) fn merge(&mut self, other: &Self, path: &Path) -> Result<(), Error> {
        let merged = self.filter.union_with(&*other.filter);
        merged.map_err(|source| other.refused(path, source))
    }

    /// The same filter in a file of this program.
    pub(crate) fn wrap(self) -> Self {
        Self { wrapped: true, ..self }
    }

    /// The same filter in another format, if that has the same hash and layout. `path`: the file it was read from.
    pub(crate) fn convert(self, to: foreign::Format, path: &Path) -> Result<Self, Error> {
        match foreign::convert(&*self.filter, to) {
            Ok(filter) => Ok(Self { filter, wrapped: false }),
            Err(source) => Err(self.refused(path, source)),
        }
    }

    /// Saves the filter as it was read: the file of this name is then this filter, or what it was before.
    pub(crate) fn save(&self, path: &Path) -> Result<(), Error> {
        let unsaved = |source| Error::Save { name: shown(path), source };
        ending::save(|| {
            if self.wrapped {
                return Options::new().save_foreign(&*self.filter, path).map_err(unsaved);
            }
            let target = Target::new(path).map_err(unsaved)?;
            let saved = target.temporary().and_then(|mut file| {
                self.filter.write(&mut file)?;
                target.replace(file)
            });
            saved.map_err(|error| unsaved(SaveError::Io(error)))
        })
    }

    /// Returns an error if the system has no keys of this type.
    pub(crate) fn require_keys(&self, keys: KeyArgs, path: &Path) -> Result<(), Error> {
        let found = keys.key_type();
        if self.filter.takes(found) {
            return Ok(());
        }
        Err(self.refused(path, foreign::Error::Key { found }))
    }

    /// Returns an error if nothing can be removed from the filter.
    pub(crate) fn require_removal(&self, path: &Path) -> Result<(), Error> {
        if self.filter.format().removes() {
            return Ok(());
        }
        Err(self.refused(path, foreign::Error::NoRemoval))
    }

    /// The error of the system, for a file of this name.
    pub(crate) fn refused(&self, path: &Path, source: foreign::Error) -> Error {
        Error::Foreign { name: shown(path), format: self.filter.format().name(), source }
    }

    /// Whether the file is one of this program, which holds the other.
    pub(crate) const fn is_wrapped(&self) -> bool {
        self.wrapped
    }
}

/// Locks a filter. After a panic its records are still whole.
pub(crate) fn held(filter: &Mutex<Foreign>) -> MutexGuard<'_, Foreign> {
    filter.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a whole file.
fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let refused = |found: String| Error::Input { name: shown(path), found };
    let read = || {
        let mut file = File::open(path)?;
        let len = file.metadata()?.len();
        if let Some(lack) = memory::lack(len) {
            return Ok(Err(refused(lack)));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(Ok(bytes))
    };
    read().unwrap_or_else(|error: std::io::Error| Err(refused(error.to_string())))
}
