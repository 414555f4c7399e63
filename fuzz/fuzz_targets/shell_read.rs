//! See `bodies::shell_read`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    bodies::shell_read(bytes);
});
