//! What an agent asks a person (`ask_human`, `request_user_input`), held for whoever is here to answer. An answer goes to the
//! agent that asked, and nowhere else: no list, event or record has it.
//!
//! Nobody here: nobody can be asked. Whoever is here has as long as `run.human_timeout_ms` says; when the last of them has gone,
//! nobody is waited for.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gate::Machine;
use gate::approval::{Clock as _, SystemClock, rfc3339};
use gate::call::{mask, visible};
use gate::tools::{Given, Human, HumanAnswer, HumanQuestion, Item as HumanItem};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::watch;

use crate::presence::Presence;

/// So many may wait; beyond, nobody can be asked.
const MOST: usize = 256;
/// How often it is looked whether somebody is still here.
const LOOK: Duration = Duration::from_millis(100);
/// So many that were answered are remembered, for whoever answers second.
const REMEMBERED: usize = 256;

/// An agent's questions that wait for a person.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Inquiry {
    /// Its name.
    pub(crate) id: String,
    /// The tool that asks.
    #[serde(rename = "toolName")]
    pub(crate) tool_name: String,
    /// What is asked, all at once.
    pub(crate) questions: Vec<Item>,
    /// What helps to answer.
    pub(crate) context: Map<String, Value>,
    /// The call that waits for it.
    pub(crate) call_id: String,
    pub(crate) session: String,
    pub(crate) principal: String,
    pub(crate) asked_at: String,
    pub(crate) expires_at: String,
    pub(crate) seconds_left: u64,
}

/// One of the questions.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Item {
    /// By which its answer is known.
    pub(crate) id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) header: Option<String>,
    pub(crate) question: String,
    /// Answers to choose from, numbered from 1; none means that any text answers.
    pub(crate) options: Vec<Choice>,
    /// Whether words of one's own answer.
    pub(crate) takes_words: bool,
}

/// One answer to choose.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Choice {
    pub(crate) label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
}

/// Whose call asks.
#[derive(Debug, Clone)]
pub(crate) struct Asker {
    pub(crate) tool: String,
    pub(crate) call: String,
    pub(crate) session: String,
    pub(crate) principal: String,
}

/// All that wait.
pub(crate) struct Inquiries {
    held: Mutex<Held>,
    presence: Arc<Presence>,
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct Held {
    open: BTreeMap<String, Open>,
    answered: VecDeque<(String, String)>,
}

struct Open {
    shown: Inquiry,
    items: Vec<HumanItem>,
    /// On the clock that only goes forward.
    expires: Duration,
    answer: SyncSender<HumanAnswer>,
}

/// Why an answer does not count.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotTaken {
    /// There is no such inquiry, or it is over.
    Unknown,
    /// Somebody else was first.
    Answered(String),
    /// It does not answer what was asked.
    Unfit(String),
}

/// What a person says.
#[derive(Debug)]
pub(crate) enum Words {
    /// The answers, by the ids of the questions.
    Answers(BTreeMap<String, Value>),
    /// No answer.
    Declined,
}

impl Inquiries {
    pub(crate) fn new(presence: Arc<Presence>) -> Arc<Inquiries> {
        let (changes, _) = watch::channel(0);
        Arc::new(Inquiries { held: Mutex::default(), presence, changes })
    }

    /// Whoever is here, as somebody whom this call can ask.
    pub(crate) fn human(self: &Arc<Self>, asker: Asker) -> Box<dyn Human> {
        Box::new(AtConsole { inquiries: Arc::clone(self), asker })
    }

    /// Word of every change.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// All that wait, the most urgent first.
    pub(crate) fn all(&self) -> Vec<Inquiry> {
        let held = self.held();
        let mut all: Vec<(Duration, Inquiry)> =
            held.open.values().map(|open| (open.expires, open.now())).collect();
        all.sort_by_key(|(expires, _)| *expires);
        all.into_iter().map(|(_, inquiry)| inquiry).collect()
    }

    /// One that waits.
    pub(crate) fn one(&self, id: &str) -> Option<Inquiry> {
        self.held().open.get(id).map(Open::now)
    }

    /// Takes an answer. The first that fits counts.
    pub(crate) fn answer(&self, id: &str, words: &Words, by: &str) -> Result<(), NotTaken> {
        let mut held = self.held();
        let Some(open) = held.open.get(id) else {
            let before = held.answered.iter().find(|(known, _)| known == id);
            return Err(before.map_or(NotTaken::Unknown, |(_, by)| NotTaken::Answered(by.clone())));
        };
        let answer = match words {
            Words::Declined => HumanAnswer::Closed,
            Words::Answers(answers) => HumanAnswer::Answers(read(&open.items, answers)?),
        };
        let given = held.open.remove(id).is_some_and(|open| open.answer.try_send(answer).is_ok());
        if held.answered.len() >= REMEMBERED {
            held.answered.pop_front();
        }
        held.answered.push_back((id.to_owned(), by.to_owned()));
        drop(held);
        self.changed();
        if given { Ok(()) } else { Err(NotTaken::Unknown) }
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn now(&self) -> Inquiry {
        let left = self.expires.saturating_sub(SystemClock.now());
        Inquiry { seconds_left: left.as_secs(), ..self.shown.clone() }
    }
}

/// What somebody who listens has been told of.
#[derive(Default)]
pub(crate) struct Known(BTreeSet<String>);

impl Known {
    /// What is new, and the names of what is over.
    pub(crate) fn news(&mut self, inquiries: &Inquiries) -> (Vec<Inquiry>, Vec<String>) {
        let mut all = inquiries.all();
        let now: BTreeSet<String> = all.iter().map(|inquiry| inquiry.id.clone()).collect();
        let over = self.0.difference(&now).cloned().collect();
        all.retain(|inquiry| !self.0.contains(&inquiry.id));
        self.0 = now;
        (all, over)
    }
}

/// What was answered to each of the questions.
fn read(items: &[HumanItem], answers: &BTreeMap<String, Value>) -> Result<Vec<Given>, NotTaken> {
    let unfit = |why: String| NotTaken::Unfit(why);
    if let Some(extra) = answers.keys().find(|id| !items.iter().any(|item| item.id == **id)) {
        return Err(unfit(format!("there is no question `{}`", visible(extra))));
    }
    let one = |item: &HumanItem| {
        let shown = visible(&item.id);
        let given =
            answers.get(&item.id).ok_or_else(|| unfit(format!("the question `{shown}` has no answer")))?;
        let found = match given {
            Value::Number(number) => number
                .as_u64()
                .and_then(|number| usize::try_from(number).ok()?.checked_sub(1))
                .and_then(|at| Some((at, item.options.get(at)?)))
                .map(|(at, option)| Given {
                    id: item.id.clone(),
                    choice: Some(at),
                    text: option.label.clone(),
                }),
            Value::String(text) => item.read(text),
            _ => None,
        };
        found.ok_or_else(|| unfit(format!("this does not answer the question `{shown}`")))
    };
    items.iter().map(one).collect()
}

/// Whoever is here, for one call.
struct AtConsole {
    inquiries: Arc<Inquiries>,
    asker: Asker,
}

impl Human for AtConsole {
    fn ask(&self, question: &HumanQuestion, deadline: Duration) -> HumanAnswer {
        if !self.inquiries.presence.is_somebody_here() {
            return HumanAnswer::Nobody;
        }
        let Ok(id) = Machine::random::<16>() else { return HumanAnswer::Nobody };
        let id = id.map(|byte| format!("{byte:02x}")).concat();
        let expires = SystemClock.now().saturating_add(deadline);
        let (send, answered) = sync_channel(1);
        let open = Open {
            shown: shown(&id, &self.asker, question, deadline),
            items: question.items.clone(),
            expires,
            answer: send.clone(),
        };
        // However this ends, it is not waited for any more.
        let _over = Over { inquiries: &self.inquiries, id: &id };
        {
            let mut held = self.inquiries.held();
            if held.open.len() >= MOST {
                return HumanAnswer::Nobody;
            }
            held.open.insert(id.clone(), open);
        }
        self.inquiries.changed();
        let _hooked = question.cancel.hook(move || {
            let _settled = send.try_send(HumanAnswer::Closed);
        });
        loop {
            let left = expires.saturating_sub(SystemClock.now());
            match answered.recv_timeout(left.min(LOOK)) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Disconnected) => return HumanAnswer::Closed,
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return HumanAnswer::TimedOut,
                Err(RecvTimeoutError::Timeout) if self.inquiries.presence.is_deserted() => {
                    return HumanAnswer::Closed;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

struct Over<'a> {
    inquiries: &'a Inquiries,
    id: &'a str,
}

impl Drop for Over<'_> {
    fn drop(&mut self) {
        if self.inquiries.held().open.remove(self.id).is_some() {
            self.inquiries.changed();
        }
    }
}

/// An inquiry as everybody may see it: secrets masked, and what could deceive spelt out.
fn shown(id: &str, asker: &Asker, question: &HumanQuestion, deadline: Duration) -> Inquiry {
    let text = |text: &str| visible(&mask(text));
    let choice = |option: &gate::tools::Offered| Choice {
        label: text(&option.label),
        description: option.description.as_deref().map(text),
    };
    let item = |item: &HumanItem| Item {
        id: item.id.clone(),
        header: item.header.as_deref().map(text),
        question: text(&item.question),
        options: item.options.iter().map(choice).collect(),
        takes_words: item.takes_words(),
    };
    let now_ms = SystemClock.date_ms();
    let millis = u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX);
    Inquiry {
        id: id.to_owned(),
        tool_name: asker.tool.clone(),
        questions: question.items.iter().map(item).collect(),
        context: question
            .context
            .iter()
            .map(|(name, value)| {
                let value = value.as_str().map_or_else(|| text(&value.to_string()), text);
                (text(name), value.into())
            })
            .collect(),
        call_id: asker.call.clone(),
        session: text(&asker.session),
        principal: text(&asker.principal),
        asked_at: rfc3339(now_ms),
        expires_at: rfc3339(now_ms.saturating_add(millis)),
        seconds_left: deadline.as_secs(),
    }
}
