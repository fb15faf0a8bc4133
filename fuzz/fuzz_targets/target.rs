//! Passes the inputs of libFuzzer to the target that the variable `TAMIS_FUZZ_TARGET` names.
#![no_main]

use std::sync::LazyLock;

use tamis_fuzz::{TARGETS, Target};

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("TAMIS_FUZZ_TARGET").expect("TAMIS_FUZZ_TARGET names a target");
    let of_name = TARGETS.iter().find(|target| target.0 == name);
    of_name.unwrap_or_else(|| panic!("there is no target {name}")).1
});

libfuzzer_sys::fuzz_target!(init: { LazyLock::force(&TARGET); }, |data: &[u8]| TARGET(data));
