//! See `bodies::effects_analyse`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    bodies::effects_analyse(bytes);
});
