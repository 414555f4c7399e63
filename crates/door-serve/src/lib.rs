//! Who is asking, over HTTP?
//!
//! ```text
//! connection ─→ guard: Host, Origin, token, form ─→ route ─→ gate ─→ JSON
//! listen.rs     guard.rs, token.rs                  routes.rs
//! ```
//!
//! Any program asks for decisions or has tools run, any person answers questions from a page: `bailiwick serve`. The door
//! translates and decides nothing. [`ROUTES`] is the one table of what can be asked: the router, the document that describes
//! the interface and the test that every route wants its token are made from it.
//!
//! What comes from the network is bounded before it is believed: connections, headers, bodies, nesting, time.

mod app;
mod approvals;
mod authzen;
mod body;
mod calls;
mod check;
mod connect;
mod events;
mod follow;
mod gates;
mod grants;
mod guard;
mod health;
mod history;
mod inquiries;
mod inquiry;
mod listen;
mod metrics;
mod openapi;
mod page;
mod policy;
mod presence;
mod question;
mod refusal;
mod routes;
mod seed;
mod stall;
mod stats;
mod token;
mod workers;

pub use app::{App, Place, Setup};
pub use gates::{Loader, Unfit};
pub use guard::Hosts;
pub use listen::{Listening, bind, bind_socket, serve};
pub use openapi::document;
pub use presence::{Console, Presence};
pub use routes::{Access, Method, ROUTES, Route};
pub use token::{Tokens, new_token};
