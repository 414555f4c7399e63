//! How much is approved without a question: automatic approval that ends by itself, is written down, and lifts no denial.

use std::time::Duration;

use gate::approval::{AskId, Grant, GrantKind};
use gate::call::Shown;
use gate::{Gate, GrantChange, Machine};

use crate::event::Mode;

/// How long a mode lasts, if the configuration does not say less (`approval.auto_approve_max_s`).
const LASTS: Duration = Duration::from_secs(3600);
/// The tools that write files.
const EDITS: [&str; 2] = ["file_write", "apply_patch"];

/// Sets the mode of a session. How long it lasts, where it ends by itself.
///
/// # Errors
/// It could not be set, or not be written down; then the default holds.
pub fn set_mode(gate: &Gate, session: &str, mode: Mode, by: &str) -> Result<Option<Duration>, String> {
    let office = gate.office().ok_or("there is nobody whom anything could be approved by")?;
    let failed = |error: &dyn std::fmt::Display| format!("the mode cannot be set: {error}");
    let held: Vec<Grant> = office.grants.list(Some(session));
    office.grants.end_auto_approve(session).map_err(|error| failed(&error))?;
    for grant in held.iter().filter(|grant| matches!(grant.kind, GrantKind::Auto(_))) {
        gate.record_grant(GrantChange::Revoked, grant)?;
    }
    let tools: &[Option<&str>] = match mode {
        Mode::Default => &[],
        Mode::Edit => &EDITS.map(Some),
        Mode::Auto => &[None],
    };
    let mut lasts = None;
    for tool in tools {
        let id = AskId::from_bytes(Machine::random()?);
        let grant = office
            .grants
            .auto_approve(id, session, *tool, LASTS, &Shown::of(by))
            .map_err(|error| failed(&error))?;
        if let Err(why) = gate.record_grant(GrantChange::Added, &grant) {
            // FAIL-CLOSED: what is not written down does not hold.
            let _until_it_ends = office.grants.end_auto_approve(session);
            return Err(why);
        }
        lasts = Some(grant.left);
    }
    Ok(lasts)
}

/// The mode that holds in a session, and for how long still.
#[must_use]
pub fn mode_of(gate: &Gate, session: &str) -> (Mode, Option<Duration>) {
    let Some(office) = gate.office() else { return (Mode::Default, None) };
    let status = office.grants.auto_status(session);
    if let Some(left) = status.blanket {
        return (Mode::Auto, Some(left));
    }
    let left = |name: &str| status.tools.iter().find(|(tool, _)| tool == name).map(|(_, left)| *left);
    match EDITS.map(left) {
        [Some(one), Some(two)] => (Mode::Edit, Some(one.min(two))),
        _ => (Mode::Default, None),
    }
}
