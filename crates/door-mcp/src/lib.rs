//! What does an MCP client call?
//!
//! Two servers. [`Door`] offers the built-in tools; [`Proxy`] stands in front of other people's MCP servers, which it starts behind
//! the fence. Both translate `tools/call` into a [`gate::call::RawCall`] and hand it to the gate; they decide nothing.
//!
//! ```text
//! client ──tools/call──→ Calling ──→ Gate::perform ──┬─→ a built-in tool
//!    ↑                      │ a thread for each call  └─→ Upstream ──tools/call──→ a server behind the fence
//!    └──elicitation/create──┘ when the gate asks
//! ```
//!
//! A call of another server's tool that the policy allows by itself, while no other is under way, needs no such thread: `at_once.rs`.
//!
//! A client of the revision of 2026-07-28 is answered with `input_required` where older ones are sent a request: the call waits
//! under a name that only this client was told.

mod at_once;
mod beside;
mod bounded;
mod calls;
mod client;
mod door;
mod form;
mod http;
mod lines;
mod offer;
mod pinned;
mod proxy;
mod result;
mod upstream;

pub use client::Elicitation;
pub use door::Door;
pub use http::{Listening, Token};
pub use proxy::Proxy;
pub use upstream::Upstream;

use std::time::Duration;

use rmcp::ServiceExt as _;

/// How a server came to its end.
pub type Served = Result<(), String>;

/// How long what still runs at the end may take to come to its own.
const LAST_MOMENTS: Duration = Duration::from_secs(3);

/// Whom a server is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clients {
    /// The one that started it, on the standard streams. One thread reads and writes: every word that goes from one thread to
    /// another costs more than what is done with it.
    One,
    /// Whoever connects.
    Many,
}

/// Serves until the client is gone. Few threads do: calls have threads of their own.
///
/// # Errors
/// No thread or descriptor is to be had, or the serving failed.
pub fn run(clients: Clients, serving: impl Future<Output = Served>) -> Served {
    let mut builder = match clients {
        Clients::One => tokio::runtime::Builder::new_current_thread(),
        Clients::Many => tokio::runtime::Builder::new_multi_thread(),
    };
    if clients == Clients::Many {
        builder.worker_threads(2);
    }
    let runtime = builder
        .max_blocking_threads(512)
        .enable_all()
        .build()
        .map_err(|error| format!("nothing can be started: {error}"))?;
    let served = runtime.block_on(serving);
    runtime.shutdown_timeout(LAST_MOMENTS);
    served
}

/// Serves a client on the standard streams until it goes away.
///
/// # Errors
/// What it says first is not the protocol.
pub async fn serve_stdio<S: rmcp::ServerHandler>(server: S) -> Served {
    let serving = server.serve(rmcp::transport::io::stdio_pipes()).await.map_err(|error| match error {
        rmcp::service::ServerInitializeError::ConnectionClosed(_) => {
            "no client speaks on standard input: MCP clients start this themselves (`bailiwick init mcp` tells them how)"
                .to_owned()
        }
        other => other.to_string(),
    })?;
    serving.waiting().await.map(drop).map_err(|error| error.to_string())
}
