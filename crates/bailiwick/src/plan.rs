//! A fence plan as text, for `exec --plan`.

use std::fmt::Write;

use gate::Prepared;
use gate::fence::{Access, Network};
use gate::policy::{Config, Decision};

/// The plan, line by line.
pub(crate) fn text(prepared: &Prepared, decision: Decision, config: &Config) -> String {
    let mut out = String::new();
    let Some(plan) = prepared.plan() else {
        return "backend   none (`sandbox.mode: local`, or `sandbox.default_policy: none`)\n\
                no fence: the program would run as it is, and could touch all that you can\n"
            .into();
    };
    // Writing to a string does not fail.
    let mut line = |text: std::fmt::Arguments<'_>| {
        let _ = writeln!(out, "{text}");
    };
    line(format_args!("decision  {}", decision.name()));
    line(format_args!("program   {}", prepared.program().display()));
    line(format_args!("backend   {}", config.sandbox_mode().value));
    line(format_args!("cwd       {}", plan.cwd.display()));
    for (path, access) in &plan.places {
        match access {
            Access::Link(target) => {
                line(format_args!("{:<9} {} -> {}", access.name(), path.display(), target.display()))
            }
            _ => line(format_args!("{:<9} {}", access.name(), path.display())),
        }
    }
    for path in &plan.forbidden {
        line(format_args!("{:<9} {}", "no new", path.display()));
    }
    match &plan.network {
        Network::Off => line(format_args!("network   off")),
        Network::Open => line(format_args!("network   open")),
        Network::Allow(hosts) => {
            for host in hosts {
                line(format_args!("network   {host}"));
            }
        }
    }
    let names: Vec<String> =
        plan.environment.keys().map(|name| name.to_string_lossy().into_owned()).collect();
    line(format_args!("env       {}", names.join(" ")));
    let limits = &plan.limits;
    line(format_args!(
        "limits    memory {} MiB, {} processes, {} open files",
        limits.memory_mb, limits.processes, limits.open_files
    ));
    line(format_args!("limits    files of {} MiB, scratch {} MiB in all", limits.file_mb, limits.scratch_mb));
    match limits.wall_ms {
        Some(limit) => line(format_args!(
            "limits    {} s of time (none with a terminal, unless --time is given)",
            limit / 1000
        )),
        None => line(format_args!("limits    no limit of time")),
    }
    out
}
