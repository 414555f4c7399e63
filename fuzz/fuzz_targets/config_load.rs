//! See `bodies::config_load`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    bodies::config_load(bytes);
});
