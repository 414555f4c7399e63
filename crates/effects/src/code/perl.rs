//! x
pub(super) fn read(_: &str, reading: &mut super::Reading) { reading.incomplete(); }
