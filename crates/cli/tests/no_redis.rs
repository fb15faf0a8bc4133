//! A build without the feature `redis` says how to get one with it.

use crate::common::Files;

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
        let text = files.refused(2, args);
        let (start, end) = (
            "tamis: redis://:***@localhost/#seen: ",
            "cargo install --path crates/cli --features redis\n",
        );
        assert!(text.starts_with(start) && text.ends_with(end), "{args:?}: {text}");
    }
    for address in ["rediss://localhost/#seen", "VALKEYS://localhost/#seen"] {
        let text = files.refused(2, &["info", address]);
        assert!(text.ends_with("cargo install --path crates/cli --features tls\n"), "{text}");
    }
    assert!(!files.path("copy").exists());
}
