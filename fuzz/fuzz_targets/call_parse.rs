//! See `bodies::call_parse`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    bodies::call_parse(bytes);
});
