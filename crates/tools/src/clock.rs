//! The clock for how long something takes and when it is late.

use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "a tool times what it runs")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
