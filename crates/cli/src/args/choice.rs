//! What `--kind`, `--capacity` and `--window` select together.

use crate::error::Error;
use crate::file_kind::FileKind;
use crate::kind::Kind;

/// The kind and the size of a filter that is built. Without a size, the command finds one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) kind: Option<FileKind>,
    pub(crate) size: Option<u64>,
}

impl Choice {
    /// Returns what these options select, or an error if they contradict each other. (clap
    /// rejects a capacity together with a window.)
    pub(crate) fn new(
        kind: Option<FileKind>,
        capacity: Option<u64>,
        window: Option<u64>,
    ) -> Result<Self, Error> {
        match (kind, window) {
            (None | Some(FileKind::Rotating), Some(items)) => {
                Ok(Self { kind: Some(FileKind::Rotating), size: Some(items) })
            }
            (Some(FileKind::Rotating), None) => Err(Error::Usage(
                "--kind rotating needs --window, the number of records that it keeps".into(),
            )),
            (Some(kind), Some(_)) => Err(Error::Usage(format!(
                "--window is for --kind rotating, and has no meaning with --kind {kind}"
            ))),
            (kind, None) => {
                Ok(Self { kind, size: capacity.or(kind.and_then(FileKind::first_capacity)) })
            }
        }
    }

    /// Returns an error if `tamis new` cannot create a filter with these options.
    pub(crate) fn require_size(self, rate: Option<f64>) -> Result<Self, Error> {
        let asked = match (self.kind, rate) {
            _ if self.size.is_some() => return Ok(self),
            (None, None) => return Ok(self),
            (Some(kind), _) => format!("--kind {kind}"),
            (None, Some(_)) => "--rate".into(),
        };
        Err(Error::Usage(format!(
            "{asked} needs --capacity, the number of distinct records; without it, a filter of --kind {} or {} grows",
            FileKind::Scalable,
            FileKind::GrowingCuckoo
        )))
    }

    /// The kind, if none is given the fastest one.
    pub(crate) fn kind(self) -> FileKind {
        self.kind.unwrap_or(FileKind::Fixed(Kind::Blocked))
    }
}
