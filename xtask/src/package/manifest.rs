//! Checks the fields of a manifest that crates.io and docs.rs show or refuse.

use serde_json::{Value, json};

use crate::workspace::Package;

/// The categories in use. crates.io silently ignores an unknown category.
const CATEGORIES: [&str; 8] = [
    "algorithms",
    "asynchronous",
    "command-line-utilities",
    "concurrency",
    "data-structures",
    "database",
    "no-std",
    "text-processing",
];

/// The maximum number of keywords, and of characters per keyword, that crates.io accepts.
const KEYWORDS: usize = 5;
const KEYWORD_CHARS: usize = 20;

/// Returns the defects of a manifest.
pub(super) fn wrong(package: &Package) -> Vec<String> {
    let metadata = &package.metadata;
    let mut wrong = Vec::new();
    let mut demand = |holds: bool, what: &str| {
        if !holds {
            wrong.push(format!("{}: {what}", package.folder.join("Cargo.toml").display()));
        }
    };
    for field in ["description", "repository", "rust_version"] {
        demand(
            metadata[field].as_str().is_some_and(|text| !text.is_empty()),
            &format!("set `{field}`"),
        );
    }
    demand(metadata["license"] == "MIT OR Apache-2.0", "use the licence of the workspace");
    demand(metadata["readme"] == "README.md", "add a README.md to the crate");
    let keywords = texts(&metadata["keywords"]);
    demand((1..=KEYWORDS).contains(&keywords.len()), "set one to five keywords");
    demand(
        keywords.iter().all(|word| word.len() <= KEYWORD_CHARS),
        "a keyword has 20 characters at most",
    );
    let categories = texts(&metadata["categories"]);
    let known = categories.iter().all(|category| CATEGORIES.contains(category));
    demand(!categories.is_empty() && known, "set categories, and list a new one in xtask");
    demand(
        metadata["metadata"]["docs"]["rs"] == json!({ "all-features": true }),
        "set `all-features = true`, and nothing else, in `[package.metadata.docs.rs]`",
    );
    wrong
}

fn texts(json: &Value) -> Vec<&str> {
    json.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Package {
        let metadata = json!({
            "description": "A crate", "repository": "https://example.org", "rust_version": "1.89",
            "license": "MIT OR Apache-2.0", "readme": "README.md",
            "keywords": ["filter"], "categories": ["concurrency"],
            "metadata": { "docs": { "rs": { "all-features": true } } },
        });
        Package { metadata, ..Package::default() }
    }

    #[test]
    fn a_complete_manifest_passes() {
        assert_eq!(wrong(&good()), [""; 0]);
    }

    #[test]
    fn each_defect_is_found() {
        for (field, value) in [
            ("description", json!("")),
            ("repository", Value::Null),
            ("rust_version", Value::Null),
            ("license", json!("MIT")),
            ("readme", json!("../../README.md")),
            ("keywords", json!([])),
            ("keywords", json!(["a", "b", "c", "d", "e", "f"])),
            ("keywords", json!(["a-keyword-far-too-long"])),
            ("categories", json!([])),
            ("categories", json!(["sieves"])),
            ("metadata", Value::Null),
            ("metadata", json!({ "docs": { "rs": { "features": ["std"] } } })),
        ] {
            let mut package = good();
            package.metadata[field] = value;
            assert_eq!(wrong(&package).len(), 1, "{field}");
        }
    }
}
