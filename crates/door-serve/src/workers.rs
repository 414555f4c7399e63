//! The threads that serve connections, one for each processor. A connection stays with one of them from its first byte to its last:
//! a request is read, judged and answered where it arrives, and nothing is handed from thread to thread in between.

use std::num::NonZero;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// More threads would not answer more: what takes long has threads of its own.
const MOST: usize = 16;
/// So long may what still waits for the disk, or for a program that is being ended, take at the end.
const LAST_WORK: Duration = Duration::from_secs(2);

pub(crate) struct Workers {
    all: Vec<Worker>,
}

struct Worker {
    runtime: Handle,
    /// Held by each connection that is here.
    here: Arc<()>,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

/// A place with one of the threads, until the connection that has it ends.
pub(crate) struct Seat {
    runtime: Handle,
    here: Arc<()>,
}

impl Workers {
    /// # Errors
    /// There is no thread to be had.
    pub(crate) fn start() -> Result<Workers, String> {
        let count = std::thread::available_parallelism().map_or(1, NonZero::get).min(MOST);
        let all = (0..count).map(Worker::start).collect::<std::io::Result<_>>();
        Ok(Workers { all: all.map_err(|error| format!("no threads: {error}"))? })
    }

    /// A place where the fewest connections are.
    pub(crate) fn seat(&self) -> Option<Seat> {
        let worker = self.all.iter().min_by_key(|worker| Arc::strong_count(&worker.here))?;
        Some(Seat { runtime: worker.runtime.clone(), here: Arc::clone(&worker.here) })
    }

    /// Ends them with what they still do.
    pub(crate) async fn end(self) {
        let threads: Vec<_> = self
            .all
            .into_iter()
            .map(|worker| {
                let _gone_already = worker.stop.send(());
                worker.thread
            })
            .collect();
        let joined = || threads.into_iter().for_each(|thread| drop(thread.join()));
        let _ended = tokio::task::spawn_blocking(joined).await;
    }
}

impl Worker {
    fn start(number: usize) -> std::io::Result<Worker> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name(format!("serve-{number}")).spawn(move || {
            let _told = runtime.block_on(stopped);
            runtime.shutdown_timeout(LAST_WORK);
        })?;
        Ok(Worker { runtime: handle, here: Arc::new(()), stop, thread })
    }
}

impl Seat {
    /// Serves a connection here.
    pub(crate) fn serve(self, connection: impl Future<Output = ()> + Send + 'static) {
        let Seat { runtime, here } = self;
        drop(runtime.spawn(async move {
            connection.await;
            drop(here);
        }));
    }
}
