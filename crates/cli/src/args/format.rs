//! The formats of filters in files, as the command line names them.

use core::fmt;

use tamis::formats::foreign;

/// The format of a filter in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// The format of all commands. It is read in any of its forms, live or not, and written as an
    /// ordinary filter.
    Tamis,
    /// A format of another system, or several, of which the bytes say which one it is.
    Foreign(Named),
}

/// The formats of another system that a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    name: &'static str,
    pub(crate) formats: &'static [foreign::Format],
}

impl Named {
    /// The name, such as `guava` or `guava:mitz32`.
    pub(crate) const fn name(self) -> &'static str {
        self.name
    }

    /// The format that is built.
    pub(crate) const fn built(self) -> foreign::Format {
        self.formats[0]
    }

    /// The formats of this name, or an error that lists the names.
    fn parse(name: &str) -> Result<Self, String> {
        let found = names().find(|found| *found == name);
        let named = found.and_then(|name| Some((name, foreign::Format::named(name)?)));
        named.map(|(name, formats)| Self { name, formats }).ok_or_else(|| {
            let names: Vec<_> = names().collect();
            format!("expected one of {}", names.join(", "))
        })
    }
}

/// The names of formats of other systems: each system, and each of its variants if it has several.
fn names() -> impl Iterator<Item = &'static str> {
    let mut last = "";
    foreign::Format::ALL.iter().flat_map(move |format| {
        let system = format.system();
        let first = core::mem::replace(&mut last, system) != system;
        let variant = (format.name() != system).then_some(format.name());
        first.then_some(system).into_iter().chain(variant)
    })
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tamis => "tamis",
            Self::Foreign(named) => named.name(),
        })
    }
}

/// Parses the name of a format.
pub(super) fn format(name: &str) -> Result<Format, String> {
    match name {
        "tamis" => Ok(Format::Tamis),
        name => Named::parse(name).map(Format::Foreign).map_err(|error| format!("{error}, tamis")),
    }
}

/// Parses the name of a format of another system.
pub(super) fn foreign(name: &str) -> Result<Named, String> {
    Named::parse(name)
}

/// The names of all formats of other systems, for a help text.
pub(super) fn help() -> String {
    format!("Formats of other systems: {}.", names().collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_stands_for_formats_of_its_system() {
        let mut count = 0;
        for name in names() {
            let Ok(Format::Foreign(named)) = format(name) else { panic!("{name} is not parsed") };
            let (system, variant) = name.split_once(':').unwrap_or((name, ""));
            assert!(named.formats.iter().all(|format| format.system() == system));
            if !variant.is_empty() {
                assert_eq!(
                    named.formats.iter().map(|format| format.name()).collect::<Vec<_>>(),
                    [name]
                );
            }
            count += 1;
        }
        assert!(count > foreign::Format::ALL.len());
        assert!(format("guava:mitz65").unwrap_err().contains("guava:mitz64, "));
    }
}
