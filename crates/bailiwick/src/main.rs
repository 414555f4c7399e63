//! The binary: command line, wiring, output. It decides nothing itself.

mod agent_setup;
mod always;
mod approvers;
mod call;
mod chat;
mod check;
mod cli;
mod diff;
mod doctor;
mod exec;
mod grants;
mod hook;
mod human;
mod init;
mod journal_command;
mod mcp;
mod narration;
mod person;
mod plan;
mod policy_command;
mod progress;
mod replace;
mod replay;
mod run;
mod samples;
mod sandbox;
mod serve;
mod setup;
mod stop;
mod terminal;
mod tools;
mod transport;
mod tui;

use std::process::ExitCode;

use crate::cli::{Cli, Command};

/// Bailiwick itself failed: configuration, input or output.
const OWN_FAILURE: u8 = 125;

fn main() -> ExitCode {
    let cli = Cli::of_this_process();
    let done = match cli.command {
        Command::Check(arguments) => check::run(&arguments),
        Command::Exec(arguments) => exec::run(&arguments),
        Command::Call(arguments) => call::run(&arguments),
        Command::Sandbox(arguments) => sandbox::run(&arguments),
        Command::Tools(arguments) => tools::run(&arguments),
        Command::Mcp(arguments) => mcp::run(&arguments),
        Command::Policy(arguments) => policy_command::run(&arguments),
        Command::Grants(arguments) => grants::run(&arguments),
        Command::Journal(arguments) => journal_command::run(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Chat(arguments) => chat::run(&arguments),
        Command::Tui(arguments) => tui::run(&arguments),
        Command::Hook(arguments) => return ExitCode::from(hook::run(&arguments)),
        Command::Init(arguments) => init::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Completions(arguments) => cli::completions(&arguments),
        Command::Man => cli::man(),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            gate::Machine::tell(format_args!("bailiwick: {failure}"));
            ExitCode::from(OWN_FAILURE)
        }
    }
}
