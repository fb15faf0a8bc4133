//! A build without the feature `redis` says how to get one with it.

use crate::common::{Files, tamis};

#[test]
fn an_address_names_the_feature() {
    let files = Files::new();
    files.write("in", "a\n");
    for args in [
        &["new", "redis://:secret@localhost/#seen", "in"][..],
        &["query", "redis://:secret@localhost/#seen", "in"],
        &["info", "redis://:secret@localhost/#seen"],
        &["merge", "-o", "copy", "redis://:secret@localhost/#seen"],
        &["delete", "--yes", "redis://:secret@localhost/#seen"],
    ] {
        let output = tamis().current_dir(&files.0).args(args).assert().code(2).stdout("");
        let text = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        let (start, end) = (
            "tamis: redis://:***@localhost/#seen: ",
            "cargo install --path crates/cli --features redis\n",
        );
        assert!(text.starts_with(start) && text.ends_with(end), "{args:?}: {text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
    for address in ["rediss://localhost/#seen", "VALKEYS://localhost/#seen"] {
        let encrypted = tamis().args(["info", address]).assert().code(2);
        let text = String::from_utf8_lossy(&encrypted.get_output().stderr).into_owned();
        assert!(text.ends_with("cargo install --path crates/cli --features tls\n"), "{text}");
    }
    assert!(!files.path("copy").exists());
}
