//! One agent's loop: ask the model, make its calls, tell it what came of them, until there is nothing more to do.

use std::sync::Arc;

use gate::journal::{Kind, Payload};

use crate::calls::Caller;
use crate::compaction::{compact, is_full};
use crate::control::{Control, Halt, Next};
use crate::conversation::{Conversation, Message};
use crate::event::{Failure, What};
use crate::kept::Kept;
use crate::model::{Heard, Offer, Reply, Request, Stop, Wrong};
use crate::tree::Tree;

/// One agent.
pub(crate) struct Life {
    pub(crate) caller: Caller,
    pub(crate) control: Arc<Control>,
    pub(crate) offers: Vec<Offer>,
    pub(crate) conversation: Conversation,
    pub(crate) kept: Option<Kept>,
    /// It waits for more when it is done.
    pub(crate) waits: bool,
    pub(crate) steps: u64,
    /// What the model said it read at its last step, and how many messages there were then.
    pub(crate) measured: Option<(u64, usize)>,
    /// How many messages are kept already.
    pub(crate) saved: usize,
}

/// How an agent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    Completed,
    Failed(Failure, String),
    Cancelled,
}

/// How one turn ended.
enum Turn {
    Done,
    Interrupted,
    Over(Ended),
}

impl Life {
    /// Lives until it is over. `first` is what it is told at the beginning.
    pub(crate) async fn live(&mut self, first: Option<String>) -> Ended {
        self.live_telling(first, &|_| {}).await
    }

    /// The same, and tells when it begins to wait, with its last words, and when it goes on.
    pub(crate) async fn live_telling(
        &mut self,
        first: Option<String>,
        waiting: &(dyn Fn(Option<&str>) + Send + Sync),
    ) -> Ended {
        let mut said: Vec<String> = first.into_iter().collect();
        let mut going_on = !self.conversation.messages.is_empty() && !self.waits;
        loop {
            if said.is_empty() && !going_on {
                match self.control.next().await {
                    Next::Said(texts) => said = texts,
                    Next::Finish => return Ended::Completed,
                    Next::Cancel => return self.stopped(),
                }
            }
            going_on = false;
            waiting(None);
            self.control.go_on();
            for text in said.drain(..) {
                self.conversation.messages.push(Message::User { text });
            }
            let turn = self.turn().await;
            if let Err(why) = self.save() {
                return Ended::Failed(Failure::Journal, why);
            }
            let interrupted = match turn {
                Turn::Over(ended) => return ended,
                Turn::Interrupted if !self.waits => return Ended::Cancelled,
                Turn::Interrupted => true,
                Turn::Done => false,
            };
            if !interrupted {
                said = self.control.take();
            }
            if said.is_empty() {
                let text = self.conversation.last_words().to_owned();
                waiting(Some(&text));
                self.caller.sink.tell(What::TurnEnded { text, interrupted }).await;
                if !self.waits {
                    return Ended::Completed;
                }
            }
        }
    }

    /// Steps until the model wants nothing more.
    async fn turn(&mut self) -> Turn {
        loop {
            if let Some(over) = self.over() {
                return Turn::Over(over);
            }
            self.shorten_if_full(false).await;
            self.steps = self.steps.saturating_add(1);
            self.caller.sink.tell(What::StepStarted { step: self.steps }).await;
            let reply = match self.ask().await {
                Ok(Some(reply)) => reply,
                Ok(None) => return self.halted(),
                Err(ended) => return Turn::Over(ended),
            };
            let (stop, calls) = (reply.stop, reply.calls.clone());
            self.conversation.messages.push(Message::Assistant { text: reply.text, calls: reply.calls });
            if calls.is_empty() {
                match stop {
                    Stop::Done => {}
                    Stop::Length => self.notice("the model was cut off: it may write no more at once").await,
                    Stop::Refused => self.notice("the model would not answer").await,
                }
                return Turn::Done;
            }
            let results = self.caller.make(&calls, &self.control).await;
            self.conversation.messages.push(Message::Results { results });
            if let Err(why) = self.save() {
                return Turn::Over(Ended::Failed(Failure::Journal, why));
            }
            if self.control.halt() != Halt::No {
                return self.halted();
            }
            for text in self.control.take() {
                self.conversation.messages.push(Message::User { text });
            }
        }
    }

    /// Asks the model. `None`: somebody halted the agent.
    async fn ask(&mut self) -> Result<Option<Reply>, Ended> {
        let mut shortened = false;
        loop {
            let tree = Arc::clone(&self.caller.tree);
            let left = tree.limits.output_tokens.saturating_sub(tree.used.output());
            let request = Request {
                system: &tree.instructions,
                messages: &self.conversation.messages,
                tools: &self.offers,
                most: left,
            };
            let sink = self.caller.sink.clone();
            let mut heard = |heard: Heard| -> crate::model::Told {
                let sink = sink.clone();
                Box::pin(async move {
                    match heard {
                        Heard::Text(text) => sink.tell(What::TextDelta { text }).await,
                        Heard::Again { attempt, wait, reason } => {
                            let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                            sink.tell(What::Retrying { attempt, wait_ms, reason }).await;
                        }
                    }
                })
            };
            let answer = tokio::select! {
                answer = tree.client.ask(&request, &mut heard) => answer,
                _halt = self.control.halted() => return Ok(None),
            };
            match answer {
                Ok(reply) => {
                    self.count(&tree, &reply).await;
                    return Ok(Some(reply));
                }
                Err(Wrong::TooLong(why)) if shortened => return Err(Ended::Failed(Failure::Model, why)),
                Err(Wrong::TooLong(_)) => {
                    shortened = true;
                    self.shorten_if_full(true).await;
                }
                Err(Wrong::Setup(why)) => return Err(Ended::Failed(Failure::ConfigError, why)),
                Err(Wrong::Failed(why)) => return Err(Ended::Failed(Failure::Model, why)),
            }
        }
    }

    async fn count(&mut self, tree: &Tree, reply: &Reply) {
        let guess = Message::Assistant { text: reply.text.clone(), calls: reply.calls.clone() }.tokens();
        let input = reply.input.unwrap_or_else(|| self.tokens());
        let output = reply.output.unwrap_or(guess);
        let (total_input, total_output) = tree.used.add(input, output);
        self.measured =
            Some((input.saturating_add(output), self.conversation.messages.len().saturating_add(1)));
        let context = (input.saturating_add(output), tree.limits.context_tokens);
        self.caller.sink.tell(What::Tokens { input, output, total_input, total_output, context }).await;
    }

    /// About how many tokens the conversation takes: what the model said and a guess for what came since, or a guess for all of it;
    /// a server that counts nothing must not make it grow without end.
    fn tokens(&self) -> u64 {
        let guess = self.conversation.tokens();
        let told = self.measured.map_or(0, |(tokens, count)| {
            let since = self.conversation.messages.get(count..).unwrap_or_default();
            tokens.saturating_add(since.iter().map(Message::tokens).sum())
        });
        told.max(guess)
    }

    async fn shorten_if_full(&mut self, must: bool) {
        let tree = Arc::clone(&self.caller.tree);
        let (before, most) = (self.tokens(), tree.limits.context_tokens);
        if !must && !is_full(before, most) || self.conversation.messages.len() < 3 {
            return;
        }
        let work = compact(&mut self.conversation, &tree.client, &tree.instructions, most);
        let how = tokio::select! {
            how = work => how,
            _halt = self.control.halted() => return,
        };
        self.measured = None;
        let after = self.tokens();
        if let Some(kept) = &mut self.kept
            && let Err(why) = kept.replace(&tree.run, &self.conversation)
        {
            self.notice(&why).await;
        }
        self.saved = self.conversation.messages.len();
        self.caller.sink.tell(What::Compacted { before, after, how: how.name() }).await;
    }

    /// Whether a limit is reached.
    fn over(&self) -> Option<Ended> {
        let tree = &self.caller.tree;
        if let Some((reason, message)) = tree.failed() {
            return Some(Ended::Failed(reason, message));
        }
        if self.control.halt() == Halt::Cancel {
            return Some(Ended::Cancelled);
        }
        let limits = &tree.limits;
        if self.steps >= limits.max_steps {
            let why = format!("{} steps were made, which is the most (agent.max_steps)", self.steps);
            return Some(Ended::Failed(Failure::MaxSteps, why));
        }
        if tree.used.output() >= limits.output_tokens {
            let why = format!(
                "the model wrote {} tokens, which is the most (agent.output_tokens)",
                tree.used.output()
            );
            return Some(Ended::Failed(Failure::OutputBudget, why));
        }
        None
    }

    fn halted(&self) -> Turn {
        match self.control.halt() {
            Halt::Cancel => Turn::Over(self.stopped()),
            Halt::Interrupt | Halt::No => Turn::Interrupted,
        }
    }

    fn stopped(&self) -> Ended {
        match self.caller.tree.failed() {
            Some((reason, message)) => Ended::Failed(reason, message),
            None => Ended::Cancelled,
        }
    }

    async fn notice(&self, text: &str) {
        self.caller.sink.tell(What::Notice { text: text.to_owned() }).await;
    }

    /// Keeps what was said since, and lets the journal know.
    fn save(&mut self) -> Result<(), String> {
        let Some(kept) = &mut self.kept else { return Ok(()) };
        let new = self.conversation.messages.get(self.saved..).unwrap_or_default();
        if new.is_empty() {
            return Ok(());
        }
        kept.add(new)?;
        self.saved = self.conversation.messages.len();
        let facts = Payload::new().with("conversation_sha256", kept.digest()).with("steps", self.steps);
        let tree = &self.caller.tree;
        tree.record(Kind::RunSaved, &tree.run, &self.caller.principal, facts)
    }
}
