//! The index that a run finds under the name of the one that it writes.

use std::collections::HashSet;
use std::io::ErrorKind;

use tamis::formats::{FilterSet, LoadError, SetInfo, SetSaveError, SetWriter};
use tamis::hash::{Algorithm, AnyStable, StableHasher};

use super::super::which;
use crate::args::IndexArgs;
use crate::error::Error;
use crate::filters::command_without;
use crate::input::shown;
use crate::pipeline::{Hasher, Seed};
use crate::policy::Form;
use crate::units::counted;

/// The index before a run, and what the run does with its files.
pub(super) struct Before {
    /// The index, if its other files are kept.
    set: Option<FilterSet<[u8]>>,
    /// The numbers of the files that are kept.
    kept: Vec<usize>,
    /// How many files are indexed again.
    replaced: usize,
    /// How many files are no longer in the index.
    dropped: usize,
}

impl Before {
    /// Opens the index to which files are added. If there is none, it is created.
    pub(super) fn open(args: &IndexArgs, form: Form) -> Result<Self, Error> {
        let names: HashSet<&[u8]> =
            args.files.iter().map(|file| file.as_os_str().as_encoded_bytes()).collect();
        let others = |info: &SetInfo| -> Vec<usize> {
            (0..info.len())
                .filter(|&file| !names.contains(info.name(file).unwrap_or_default()))
                .collect()
        };
        if !args.add {
            // What cannot be read as an index has no files.
            let info = SetInfo::open(&args.output).ok();
            let [dropped, all] = info.map_or([0; 2], |info| [others(&info).len(), info.len()]);
            return Ok(Self { set: None, kept: Vec::new(), replaced: all - dropped, dropped });
        }
        let set = match which::open(&args.output, form) {
            Err(Error::Load { source: LoadError::Io(error), .. })
                if error.kind() == ErrorKind::NotFound =>
            {
                return Ok(Self { set: None, kept: Vec::new(), replaced: 0, dropped: 0 });
            }
            opened => opened?,
        };
        let kept = others(set.info());
        Ok(Self { replaced: set.len() - kept.len(), kept, dropped: 0, set: Some(set) })
    }

    /// The hash function of the index: that of the files that are kept, or what --seed stands for.
    pub(super) fn hasher(&self, args: &IndexArgs) -> Result<AnyStable, Error> {
        let Some(hasher) = self.set.as_ref().and_then(FilterSet::hasher) else {
            return Ok(Hasher::new(args.seed.unwrap_or(Seed::Fixed(0)))?.into());
        };
        // The seed is secret: it is compared, but never printed.
        let (algorithm, key) = (hasher.algorithm(), hasher.key());
        let is_it = match args.seed {
            None => true,
            Some(Seed::Fixed(seed)) => {
                algorithm == Algorithm::Rapid && key.starts_with(&seed.to_le_bytes())
            }
            // No run has the same random key; the algorithm is the same.
            Some(Seed::Random) => algorithm == Algorithm::SipHash13,
        };
        if !is_it {
            let next = command_without(&["--seed"]);
            let found = format!("has another seed than --seed; run: {next}");
            return Err(Error::Input { name: shown(&args.output), found });
        }
        Ok(hasher.clone())
    }

    /// Copies the files that are kept. Returns the bytes of their filters, and the sum of their
    /// false-positive rates.
    pub(super) fn copy(&self, to: &mut SetWriter<[u8]>) -> Result<(u64, f64), SetSaveError> {
        let (mut bytes, mut rates) = (0, 0.0);
        let Some(set) = &self.set else { return Ok((bytes, rates)) };
        for &file in &self.kept {
            let filter = set.get(file)?;
            bytes += filter.size_in_bytes();
            rates += filter.false_positive_rate();
            to.copy_from(set.info(), file)?;
        }
        Ok((bytes, rates))
    }

    /// What was done with the files, as a part of the summary.
    pub(super) fn summary(&self) -> String {
        let mut text = String::new();
        if self.set.is_some() {
            let kept = counted(self.kept.len() as u64, "other file");
            text += &format!("; {kept} kept, {} indexed again", self.replaced);
        }
        if self.dropped > 0 {
            let dropped = counted(self.dropped as u64, "other file");
            text += &format!("; the index before named {dropped}, which --add would have kept");
        }
        text
    }

    /// The same for programs.
    pub(super) fn counts(&self) -> [(&'static str, usize); 3] {
        [("kept", self.kept.len()), ("replaced", self.replaced), ("dropped", self.dropped)]
    }
}
