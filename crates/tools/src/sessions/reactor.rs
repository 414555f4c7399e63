//! One thread for the terminals and pipes of all sessions, and for those that nobody asks about any more.

use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::event::Timespec;
use rustix::event::epoll::{self, Event};

use super::Shared;
use super::live::{Line, Live};
use crate::clock::now;

/// Read at once.
const PIECE: usize = 64 * 1024;
/// Descriptors that are seen at once.
const SEEN: usize = 256;
/// How long output may be on its way after its program has ended.
const LATE: Duration = Duration::from_secs(2);

pub(crate) fn turn(shared: &Arc<Shared>) {
    let mut piece = vec![0u8; PIECE];
    let mut space = vec![MaybeUninit::<Event>::uninit(); SEEN];
    let round = (shared.bounds.idle / 4).clamp(Duration::from_millis(10), Duration::from_secs(1));
    let mut looked = now();
    while !shared.closing.load(Ordering::Acquire) {
        let wait = Timespec {
            tv_sec: i64::try_from(round.as_secs()).unwrap_or(1),
            tv_nsec: i64::from(round.subsec_nanos()),
        };
        // While there is no session, nothing has to be looked after.
        let wait = if shared.sessions().is_empty() { None } else { Some(&wait) };
        let seen = match epoll::wait(&*shared.epoll, space.as_mut_slice(), wait) {
            Ok((seen, _)) => seen,
            Err(_) => Default::default(),
        };
        for event in seen.iter() {
            let mark = event.data;
            match Line::of(mark.u64()) {
                Some((0, _)) | None => {
                    let mut count = [0u8; 8];
                    let _none = rustix::io::read(&shared.wake, &mut count);
                }
                Some((session, line)) => {
                    if let Some(live) = shared.live(session) {
                        live.pump(line, &mut piece);
                    }
                }
            }
        }
        if now().saturating_duration_since(looked) >= round {
            looked = now();
            look_after(shared);
        }
    }
}

/// Ends what nobody has asked about for long, and forgets what has ended and nobody asked about.
fn look_after(shared: &Shared) {
    let mut forgotten = Vec::new();
    shared.sessions().retain(|_, session| {
        let live: &Live = &session.live;
        let state = live.state();
        let idle = now().saturating_duration_since(state.touched);
        let (over, ended_at) = (state.is_over(), state.ended_at);
        drop(state);
        if !over && ended_at.is_some_and(|at| now().saturating_duration_since(at) > LATE) {
            live.close_all();
        }
        if idle < shared.bounds.idle {
            return true;
        }
        session.reins.end();
        if over && idle >= shared.bounds.idle.saturating_mul(2) {
            forgotten.push(Arc::clone(session));
            return false;
        }
        true
    });
    forgotten.iter().for_each(|session| session.join());
}
