//! `bailiwick hook HOST`: a coding agent's host asks before it runs a tool. Whatever goes wrong in here, the host blocks.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use door_hook::{Answer, Asked, Event, Host, Reply, Verdict};
use gate::call::{RawCall, mask, visible};
use gate::fence::LastWord;
use gate::policy::Fence;
use gate::{Considered, Desk, Gate, Hearing, Machine, Stopped};

use crate::approvers::Audience;
use crate::cli::{Hook, Setup};
use crate::setup::told_to_agents;

/// The exit code by which every host knows that it must block.
const BLOCK: u8 = 2;
/// A host's question is not longer than this; what is longer is refused unread.
const LONGEST: u64 = 8 * 1024 * 1024;
/// So long may an answer take: hosts wait longer, and some go on when they no longer do.
const PATIENCE: Duration = Duration::from_secs(10);
/// So long where a program of the user's is asked.
const MORE_PATIENCE: Duration = Duration::from_secs(45);

/// Runs the command. Its code is the host's to read.
pub(crate) fn run(arguments: &Hook) -> u8 {
    let Some(host) = Host::from_name(&arguments.host) else {
        Machine::tell(format_args!(
            "bailiwick: `{}` is no host that is known, so the call is blocked",
            visible(&arguments.host)
        ));
        return BLOCK;
    };
    // FAIL-CLOSED: a panic, and an answer that does not come, are refusals in the host's own words.
    std::panic::set_hook(Box::new(move |_| give_up(host, "something is broken in it")));
    let late = door_hook::failure(host, "it took too long");
    let (out, err) = (late.stdout.into_bytes(), late.stderr.into_bytes());
    if (LastWord { out, err, code: i32::from(BLOCK) }).after(PATIENCE).is_err() {
        return say(host, &door_hook::failure(host, "nobody could watch the time"));
    }
    match answer(host) {
        Ok(reply) => say(host, &reply),
        Err(why) => say(host, &door_hook::failure(host, &shown(told_to_agents(&why)))),
    }
}

/// Refuses, and ends this process.
fn give_up(host: Host, why: &str) {
    if LastWord::answer() {
        let reply = door_hook::failure(host, why);
        let _nobody_reads = std::io::stderr().write_all(reply.stderr.as_bytes());
        let _nobody_reads = std::io::stdout().write_all(reply.stdout.as_bytes());
        let _nobody_reads = std::io::stdout().flush();
    }
    std::process::exit(i32::from(BLOCK));
}

/// Gives the answer. One that cannot be given whole is a refusal.
fn say(host: Host, reply: &Reply) -> u8 {
    if !LastWord::answer() {
        return BLOCK;
    }
    let _nobody_reads = std::io::stderr().write_all(reply.stderr.as_bytes());
    if reply.stdout.is_empty() {
        return reply.exit;
    }
    let mut out = std::io::stdout().lock();
    let written = out.write_all(reply.stdout.as_bytes()).and_then(|()| out.flush());
    if written.is_ok() && !is_nowhere() {
        return reply.exit;
    }
    let failure = door_hook::failure(host, "its answer cannot be written");
    let _nobody_reads = std::io::stderr().write_all(failure.stderr.as_bytes());
    BLOCK
}

/// Whether standard output is the null device, which it also is where it was closed: nobody reads an answer there.
fn is_nowhere() -> bool {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &str| std::path::Path::new(path).metadata().ok().map(|file| file.rdev());
    device("/dev/stdout").is_some_and(|out| out != 0 && Some(out) == device("/dev/null"))
}

fn answer(host: Host) -> Result<Reply, String> {
    let mut question = Vec::new();
    let limit = std::io::stdin().lock().take(LONGEST + 1).read_to_end(&mut question);
    limit.map_err(|error| format!("the question cannot be read: {error}"))?;
    if u64::try_from(question.len()).unwrap_or(u64::MAX) > LONGEST {
        return Err("the question is too long".into());
    }
    let mut asked = door_hook::read(host, &question).map_err(|refused| refused.to_string())?;
    for call in asked.calls.iter_mut().filter(|call| call.session.is_none()) {
        // Without a name of the host's own, its session is the terminal that it was started from.
        call.session = Some(format!("{}-{}", host.name(), Machine::session()));
    }
    let directory = asked.calls.first().and_then(|call| call.cwd.clone());
    let setup = Setup::none();
    let gate = setup.gate_for(directory.as_deref(), Vec::new())?;
    let binary = own_path()?;
    let before = handed_on_before(&asked, &binary, &gate)?;
    let wrapped = before.is_some();
    let prefix = match before {
        Some(Before { prefix, id }) => {
            // A second event about the same call.
            for call in &mut asked.calls {
                call.id.clone_from(&id);
            }
            prefix
        }
        None => {
            name_shell_calls(&mut asked)?;
            prefix(&asked, &binary)
        }
    };
    let asked = if wrapped { asked.unwrapped(&prefix) } else { asked };

    // What is judged as fenced must come back rewritten: a command that stays as it is runs without a fence.
    let fences = gate.config().fences_hooks() && gate.config().restricted() && rewrites(&asked);
    let rewritten = asked
        .shell
        .as_deref()
        .filter(|_| fences || wrapped)
        .and_then(|text| door_hook::rewrite(text, &prefix));
    let gate = if rewritten.is_some() || wrapped {
        gate
    } else {
        gate.with_fence(Fence::none("the host runs it without one"))
    };
    if gate.config().approval().command.is_some() {
        LastWord::wait(MORE_PATIENCE);
    }
    let gate = setup.with_office(gate.running(), &[], Audience::Host)?;
    if asked.event == Event::After {
        // What was run by `exec` has its end from there; not every host tells which command it ran.
        let desk = Desk::of(gate.world(), gate.config())?;
        if let Some(call) = asked.calls.first()
            && !wrapped
            && !(call.tool == "Bash" && gate.has_ended(call, desk.journal_directory()))
        {
            gate.considered_ended(call, asked.succeeded);
        }
        return Ok(door_hook::write(&asked, &Answer::new(Verdict::Allow, "")));
    }
    let answer = consider(&gate, &asked, rewritten, wrapped);
    Ok(door_hook::write(&asked, &answer))
}

/// The words in front of a command that is to run behind the fence.
fn prefix(asked: &Asked, binary: &str) -> Vec<String> {
    asked.calls.first().map_or_else(|| door_hook::exec_prefix(binary, &[]), |call| prefix_of(call, binary))
}

fn prefix_of(call: &RawCall, binary: &str) -> Vec<String> {
    let (session, id) = (call.session.as_deref().unwrap_or_default(), call.id.as_deref().unwrap_or_default());
    let who: Vec<&str> = [call.principal.id.as_str()]
        .into_iter()
        .chain(call.principal.groups.iter().map(String::as_str))
        .collect();
    let by = who.join(",");
    let mut flags = Vec::new();
    if session.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        flags.extend(["--session", session]);
        if is_plain(id) {
            flags.extend(["--call", id]);
            if who.iter().all(|name| is_plain(name)) {
                flags.extend(["--by", &by]);
            }
        }
    }
    door_hook::exec_prefix(binary, &flags)
}

/// Whether a word is one for a command line whoever reads it.
fn is_plain(word: &str) -> bool {
    let inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/');
    (1..=128).contains(&word.len())
        && word.bytes().all(inner)
        && word.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// A shell command that its host gives no name gets one, so that what the hook says of it and what runs are one story.
fn name_shell_calls(asked: &mut Asked) -> Result<(), String> {
    if asked.shell.is_none() || asked.event == Event::After {
        return Ok(());
    }
    let bytes = Machine::random::<16>()?;
    let name: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    for call in asked.calls.iter_mut().filter(|call| call.id.is_none()) {
        call.id = Some(name.clone());
    }
    Ok(())
}

/// The words in front of a command that this hook has rewritten before, and the id among them.
struct Before {
    prefix: Vec<String>,
    id: Option<String>,
}

/// Whether, and how, this hook has rewritten a command before.
///
/// An agent can write such words itself, and with them who is said to have asked for what. So they count only where they are
/// exactly those that this hook writes for this very call: its session, its asker, and its id, or, where the host gives it none,
/// one under which this command was asked about before. Whatever else looks like them is a command like any other.
fn handed_on_before(asked: &Asked, binary: &str, gate: &Gate) -> Result<Option<Before>, String> {
    let Some((call, id)) = named_before(asked, binary) else { return Ok(None) };
    let prefix = prefix_of(&call, binary);
    let command = call.args.get("command").and_then(serde_json::Value::as_str).unwrap_or_default();
    let Some(original) = door_hook::unwrap(command, &prefix) else { return Ok(None) };
    // After it has run there is nothing left to be let through.
    let over = asked.event == Event::After;
    if id.is_some() && !over && !Desk::of(gate.world(), gate.config())?.has_been_asked(&call, &original)? {
        return Ok(None);
    }
    Ok(Some(Before { prefix, id: call.id }))
}

/// The call under the id that its command names, where the host names none itself; that id comes along.
fn named_before(asked: &Asked, binary: &str) -> Option<(RawCall, Option<String>)> {
    let mut call = asked.calls.iter().find(|call| call.tool == "Bash")?.clone();
    if call.id.is_some() {
        return Some((call, None));
    }
    let command = call.args.get("command")?.as_str()?;
    let session = door_hook::quote(call.session.as_deref().unwrap_or_default());
    let start = format!("{} exec --session {session} --call ", door_hook::quote(binary));
    let (id, _) = command.strip_prefix(&start)?.split_once(' ')?;
    let id = Some(id.to_owned()).filter(|id| is_plain(id))?;
    call.id = Some(id.clone());
    Some((call, Some(id)))
}

/// Where this program is.
pub(crate) fn own_path() -> Result<String, String> {
    let path = std::env::current_exe().map_err(|error| format!("where this program is: {error}"))?;
    path.into_os_string().into_string().map_err(|_| "the path of this program is not UTF-8 text".into())
}

/// Whether the host runs the command as this answer gives it back.
fn rewrites(asked: &Asked) -> bool {
    let honoured = match asked.event {
        Event::Before => true,
        Event::Permission => asked.host == Host::ClaudeCode,
        Event::After => false,
    };
    honoured && asked.shell.is_some()
}

fn consider(gate: &Gate, asked: &Asked, rewritten: Option<String>, wrapped: bool) -> Answer {
    let hearing = Hearing {
        asks: asked.can_ask(),
        again: asked.asks_again(),
        gated_again: rewritten.is_some() || wrapped,
        passing: asked.event == Event::Permission,
        told_before: wrapped,
    };
    let fenced = rewritten.is_some();
    match gate.consider(asked.calls.clone(), hearing) {
        Considered::Allowed { reason, .. } => {
            let answer = Answer::new(Verdict::Allow, format!("Bailiwick: {}", shown(&reason)));
            // A yes that was used up here waits for exactly this command under its id.
            match rewritten {
                Some(command) => answer.running(command),
                None => answer,
            }
        }
        Considered::Asked(stopped) => {
            // Where the host asks the person itself, it runs the command as it stands; elsewhere it comes back here after the yes.
            let unfenced = if fenced && hearing.asks { " It would run without the fence." } else { "" };
            let why = told(&stopped);
            let mut answer = Answer::new(Verdict::Ask, format!("Bailiwick asks: {why}{unfenced}"));
            if let Some(id) = &stopped.pending {
                answer = answer.pending(id.chars().take(12).collect::<String>());
            }
            answer
        }
        Considered::Denied(stopped) => {
            let why = told(&stopped);
            let mut answer = Answer::new(Verdict::Deny, format!("Bailiwick denied this call: {why}"));
            answer.for_agent.push_str(
                " Do not look for a way round it: find another way to the goal, or tell the person what you need and why.",
            );
            answer
        }
    }
}

/// What was refused, by which rule, and what would help.
fn told(stopped: &Stopped) -> String {
    let mut text = ended(&shown(&stopped.why));
    if let Some(rule) = &stopped.rule {
        text.push_str(&format!(" Rule: {}.", shown(rule)));
    }
    if !stopped.help.is_empty() {
        let help: Vec<String> = stopped.help.iter().map(|help| shown(help)).collect();
        text.push_str(&format!(" What the person could do: {}", ended(&help.join("; "))));
    }
    text
}

fn ended(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

/// A text that may be shown to anybody.
fn shown(text: &str) -> String {
    visible(&mask(text))
}
