//! A look at what was written last: whether the journal has something among its latest records.

use std::path::Path;

use journal::{Filter, Going, Reader, Record};

/// So far back is looked.
const LOOKED_AT: usize = 1_000;

/// Whether one of the latest records fits. A journal that cannot be read has none.
pub(crate) fn any(journal: &Path, fits: impl Fn(&Record) -> bool) -> bool {
    let Ok(reader) = Reader::open(journal) else { return false };
    let (mut found, mut looked) = (false, 0_usize);
    let seen = reader.backward(&Filter::default(), |record| {
        looked += 1;
        found = fits(&record);
        if found || looked >= LOOKED_AT { Going::Stop } else { Going::On }
    });
    seen.is_ok() && found
}
