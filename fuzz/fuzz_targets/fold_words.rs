//! See `bodies::fold_words`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    bodies::fold_words(bytes);
});
