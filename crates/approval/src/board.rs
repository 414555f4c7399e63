//! All open questions, and who won the last ones.
//!
//! Every change of who is open happens under one lock, so that an answer, a time-out, a cancel and a shutdown stand in one
//! order, and nothing can be put up after a shutdown.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::PoisonError;
use std::task::Waker;
use std::time::Duration;

use crate::slot::Slot;
use crate::sync::{Arc, Mutex};

/// How many of the last outcomes are kept for those who answer late.
const REMEMBERED: usize = 4096;

/// Open questions by their ids.
pub(crate) struct Board<A, O> {
    inner: Mutex<Inner<A, O>>,
}

struct Inner<A, O> {
    open: BTreeMap<u128, Entry<A, O>>,
    deadlines: BTreeSet<(Duration, u128)>,
    groups: BTreeMap<String, usize>,
    decided: BTreeMap<u128, O>,
    order: VecDeque<u128>,
    closed: bool,
}

struct Entry<A, O> {
    asked: Arc<A>,
    slot: Arc<Slot<O>>,
    deadline: Duration,
    group: String,
}

/// A place on the board that is wanted.
pub(crate) struct Wanted<A> {
    pub(crate) id: u128,
    pub(crate) asked: Arc<A>,
    /// Whose place it is: a session.
    pub(crate) group: String,
    pub(crate) deadline: Duration,
}

/// Why there is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoPlace {
    Closed,
    Full,
    FullForGroup,
    Taken,
}

/// What came of settling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Settled<O, E> {
    /// This one won.
    Won(O),
    /// Somebody else had won.
    Lost(O),
    /// There is no such question, or it is long forgotten.
    Unknown,
    /// The answer was not valid; the question stays open.
    Refused(E),
}

impl<A, O: Clone> Board<A, O> {
    pub(crate) fn new() -> Self {
        Board {
            inner: Mutex::new(Inner {
                open: BTreeMap::new(),
                deadlines: BTreeSet::new(),
                groups: BTreeMap::new(),
                decided: BTreeMap::new(),
                order: VecDeque::new(),
                closed: false,
            }),
        }
    }

    /// Puts a question up.
    pub(crate) fn open(
        &self,
        wanted: Wanted<A>,
        most: usize,
        most_of_group: usize,
    ) -> Result<Arc<Slot<O>>, NoPlace> {
        let Wanted { id, asked, group, deadline } = wanted;
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.closed {
            return Err(NoPlace::Closed);
        }
        if inner.open.contains_key(&id) || inner.decided.contains_key(&id) {
            return Err(NoPlace::Taken);
        }
        if inner.open.len() >= most {
            return Err(NoPlace::Full);
        }
        let of_group = inner.groups.get(&group).copied().unwrap_or(0);
        if of_group >= most_of_group {
            return Err(NoPlace::FullForGroup);
        }
        inner.groups.insert(group.clone(), of_group + 1);
        inner.deadlines.insert((deadline, id));
        let slot = Arc::new(Slot::new());
        inner.open.insert(id, Entry { asked, slot: Arc::clone(&slot), deadline, group });
        Ok(slot)
    }

    /// Settles a question with what `judge` makes of it. It runs under the lock, and sees the question and its deadline.
    pub(crate) fn settle<E>(
        &self,
        id: u128,
        judge: impl FnOnce(&A, Duration) -> Result<O, E>,
    ) -> Settled<O, E> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(winner) = inner.decided.get(&id) {
            return Settled::Lost(winner.clone());
        }
        let Some(entry) = inner.open.get(&id) else { return Settled::Unknown };
        match judge(&entry.asked, entry.deadline) {
            Err(refusal) => Settled::Refused(refusal),
            Ok(outcome) => {
                let waker = inner.close(id, outcome.clone());
                drop(inner);
                waker.into_iter().for_each(Waker::wake);
                Settled::Won(outcome)
            }
        }
    }

    /// Settles everything whose deadline has come.
    pub(crate) fn expire(&self, now: Duration, judge: impl Fn(&A) -> O) -> usize {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut count, mut wakers) = (0, Vec::new());
        while let Some((deadline, id)) =
            inner.deadlines.first().copied().filter(|(deadline, _)| *deadline <= now)
        {
            match inner.open.get(&id).map(|entry| judge(&entry.asked)) {
                Some(outcome) => wakers.extend(inner.close(id, outcome)),
                None => drop(inner.deadlines.remove(&(deadline, id))),
            }
            count += 1;
        }
        drop(inner);
        wakers.into_iter().for_each(Waker::wake);
        count
    }

    /// Settles everything, and takes nothing more.
    pub(crate) fn shut(&self, judge: impl Fn(&A) -> O) -> usize {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.closed = true;
        let all: Vec<(u128, O)> = inner.open.iter().map(|(id, entry)| (*id, judge(&entry.asked))).collect();
        let count = all.len();
        let wakers: Vec<Waker> =
            all.into_iter().filter_map(|(id, outcome)| inner.close(id, outcome)).collect();
        drop(inner);
        wakers.into_iter().for_each(Waker::wake);
        count
    }

    /// The earliest deadline.
    pub(crate) fn next_deadline(&self) -> Option<Duration> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// One open question.
    pub(crate) fn get(&self, id: u128) -> Option<Arc<A>> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.open.get(&id).map(|entry| Arc::clone(&entry.asked))
    }

    /// One open question with its deadline.
    pub(crate) fn one(&self, id: u128) -> Option<(Arc<A>, Duration)> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.open.get(&id).map(|entry| (Arc::clone(&entry.asked), entry.deadline))
    }

    /// Who won one of the last ones.
    pub(crate) fn decided(&self, id: u128) -> Option<O> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).decided.get(&id).cloned()
    }

    /// Every open question with its deadline.
    pub(crate) fn list(&self) -> Vec<(Arc<A>, Duration)> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.open.values().map(|entry| (Arc::clone(&entry.asked), entry.deadline)).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).open.len()
    }
}

impl<A, O: Clone> Inner<A, O> {
    /// INVARIANT: the only way off the board; the entry leaves, the winner is kept and the slot settled under one lock.
    fn close(&mut self, id: u128, outcome: O) -> Option<Waker> {
        let entry = self.open.remove(&id)?;
        self.deadlines.remove(&(entry.deadline, id));
        match self.groups.get_mut(&entry.group) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(self.groups.remove(&entry.group)),
        }
        if self.order.len() >= REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.decided.remove(&oldest);
        }
        self.order.push_back(id);
        self.decided.insert(id, outcome.clone());
        entry.slot.settle(outcome).ok().flatten()
    }
}
