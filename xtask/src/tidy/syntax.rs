//! Recognises test code for the rules that read the syntax of a file.

use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Token};

/// Returns whether only tests compile an item with these attributes: `#[cfg(test)]`,
/// `#[cfg(all(test, …))]`.
pub(super) fn is_test(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .filter_map(|attribute| attribute.parse_args::<Meta>().ok())
        .any(|condition| needs_test(&condition))
}

/// Returns whether the condition of a `cfg` holds only in tests.
fn needs_test(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("test") || path.is_ident("doctest"),
        Meta::List(list) => {
            let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
            let Ok(parts) = parts else { return false };
            if list.path.is_ident("all") {
                parts.iter().any(needs_test)
            } else {
                list.path.is_ident("any") && parts.iter().all(needs_test)
            }
        }
        Meta::NameValue(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_code_is_recognised_by_its_cfg() {
        for (condition, test) in [
            ("test", true),
            ("all(test, tamis_loom)", true),
            ("any(test, doctest)", true),
            ("any(test, feature = \"rayon\")", false),
            ("not(test)", false),
            ("tamis_loom", false),
        ] {
            let file = syn::parse_file(&format!("#![cfg({condition})]")).expect("an attribute");
            assert_eq!(is_test(&file.attrs), test, "{condition}");
        }
    }
}
