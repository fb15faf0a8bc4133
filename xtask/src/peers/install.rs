//! Installs a peer, and builds the program that asks it.

use std::cell::Cell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use super::list::{GO_PACKAGES, Origin, PYSPARK};
use crate::Result;

/// The directory of the sources.
const SOURCES: &str = "xtask/peers";

/// A program that asks a peer. Its arguments are the format, the type of the keys, the filter and
/// the keys. It prints 1 for each key that may be in the filter, and 0 for each other.
pub(super) struct Reader {
    pub(super) command: Vec<OsString>,
    /// The packages that it uses, with their versions.
    pub(super) version: String,
}

/// Where peers are installed.
pub(super) struct Installer<'s> {
    sh: &'s Shell,
    folder: PathBuf,
    /// Whether the list of Debian's packages is new.
    updated: Cell<bool>,
}

impl<'s> Installer<'s> {
    pub(super) fn new(sh: &'s Shell, folder: &Path) -> Self {
        Self { sh, folder: folder.to_owned(), updated: Cell::new(false) }
    }

    /// Installs what is missing.
    pub(super) fn reader(&self, origin: &Origin) -> Result<Reader> {
        match *origin {
            Origin::DebianJar { class, package, jar } => {
                let version = format!("{package} {}", self.debian(package)?);
                self.java(class, jar, version)
            }
            Origin::PySparkJar { class, jar } => {
                let jars = self.pyspark()?;
                let version = self.jar(&jars, jar)?;
                self.java(class, &format!("{}/*", jars.display()), version)
            }
            Origin::Library { source, package, library } => {
                self.tool("g++", "g++")?;
                let version = format!("{package} {}", self.debian(package)?);
                let (source, program) = (format!("{SOURCES}/{source}"), self.folder.join(library));
                let options = ["-std=c++17", "-O2", "-Wall", "-Wextra", "-o"];
                cmd!(self.sh, "g++ {options...} {program} {source} -l {library}").run()?;
                Ok(Reader { command: vec![program.into()], version })
            }
            Origin::Go { package } => self.go(package),
            Origin::Python { source, requirements, packages } => {
                let python = self.python(requirements)?;
                let mut versions: Vec<String> =
                    requirements.iter().map(|package| package.replace("==", " ")).collect();
                for package in packages {
                    versions.push(format!("{package} {}", self.debian(package)?));
                }
                let source = format!("{SOURCES}/{source}");
                Ok(Reader {
                    command: vec![python.into(), "-B".into(), source.into()],
                    version: versions.join(", "),
                })
            }
        }
    }

    fn java(&self, class: &str, jars: &str, version: String) -> Result<Reader> {
        self.tool("javac", "default-jdk-headless")?;
        let classes = self.folder.join("classes");
        let sources = ["Peer", class].map(|class| format!("{SOURCES}/{class}.java"));
        let options = ["-nowarn", "-proc:none", "-Xlint:-classfile", "-cp", jars];
        cmd!(self.sh, "javac {options...} -d {classes} {sources...}").run()?;
        let path = format!("{}:{jars}", classes.display());
        Ok(Reader {
            command: ["java", "-cp", path.as_str(), class].map(OsString::from).to_vec(),
            version,
        })
    }

    fn go(&self, package: &str) -> Result<Reader> {
        self.tool("go", "golang-go")?;
        let mut version = String::new();
        for needed in GO_PACKAGES {
            let found = self.debian(needed)?;
            if needed == package {
                version = format!("{package} {found}");
            }
        }
        let (program, source) = (self.folder.join("peer-go"), format!("{SOURCES}/peer.go"));
        cmd!(self.sh, "go build -o {program} {source}")
            // Debian's packages are there, and are used without the network.
            .envs([("GO111MODULE", "off"), ("GOPATH", "/usr/share/gocode"), ("GOFLAGS", "")])
            .env("GOCACHE", self.folder.join("go-cache"))
            .run()?;
        Ok(Reader { command: vec![program.into()], version })
    }

    /// Returns the directory of the jars of pyspark.
    fn pyspark(&self) -> Result<PathBuf> {
        let python = self.python(&[PYSPARK])?;
        let script =
            "import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent / 'jars')";
        Ok(cmd!(self.sh, "{python} -c {script}").quiet().read()?.into())
    }

    /// Returns the name of the jar that starts so, without its ending.
    fn jar(&self, jars: &Path, start: &str) -> Result<String> {
        let names = self.sh.read_dir(jars)?;
        let mut names = names.iter().filter_map(|jar| jar.file_stem()?.to_str());
        let name = names.find(|name| name.starts_with(start));
        Ok(name.ok_or_else(|| format!("{PYSPARK} has no jar {start}*"))?.to_owned())
    }

    /// Installs packages of PyPI into a directory of their own. Returns its Python.
    fn python(&self, requirements: &[&str]) -> Result<PathBuf> {
        let folder = self.folder.join("venv");
        let python = folder.join("bin").join("python");
        if !self.sh.path_exists(&python) {
            self.tool("python3", "python3")?;
            let made = cmd!(self.sh, "python3 -m venv {folder}").run();
            made.map_err(|error| format!("{error}; Debian's package python3-venv may be missing"))?;
        }
        let options = ["install", "--quiet", "--disable-pip-version-check"];
        cmd!(self.sh, "{python} -m pip {options...} {requirements...}").run()?;
        Ok(python)
    }

    /// Checks that a program is there, and otherwise installs the Debian package that has it.
    fn tool(&self, program: &str, package: &str) -> Result {
        let found = cmd!(self.sh, "which {program}").quiet().ignore_stdout().ignore_stderr();
        if found.run().is_err() {
            self.debian(package)?;
        }
        Ok(())
    }

    /// Installs a Debian package if it is missing. Returns its version.
    fn debian(&self, package: &str) -> Result<String> {
        if let Some(version) = self.debian_version(package) {
            return Ok(version);
        }
        eprintln!("the Debian package {package} is missing, and is installed now");
        if !self.updated.replace(true) {
            // An old list can still do.
            let _ = cmd!(self.sh, "apt-get update").ignore_stdout().run();
        }
        let options = ["install", "--yes", "--no-install-recommends"];
        cmd!(self.sh, "apt-get {options...} {package}").ignore_stdout().run().map_err(|error| {
            format!("{error}; install the Debian package {package} by hand, which may need root")
        })?;
        Ok(self.debian_version(package).ok_or_else(|| format!("{package} is not installed"))?)
    }

    fn debian_version(&self, package: &str) -> Option<String> {
        let format = "--showformat=${db:Status-Status} ${Version}";
        let query = cmd!(self.sh, "dpkg-query --show {format} {package}");
        let found = query.quiet().ignore_stderr().read().ok()?;
        found.strip_prefix("installed ").map(str::to_owned)
    }
}
