//! Streamable HTTP, on loopback alone: the name that was asked for and the page that asks are checked, and nobody is let in
//! without the token.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use crate::Served;
use crate::door::Door;

/// Where the one route is.
const PATH: &str = "/mcp";
/// The shortest token that is taken.
const SHORTEST: usize = 32;

/// A session in which nobody says a word for so long is over. A command may run, and a person think, for longer than a few minutes.
const IDLE: Duration = Duration::from_secs(2 * 3600);

/// What a client must show. It is never printed.
pub struct Token(String);

impl Token {
    /// A token, as it was read.
    ///
    /// # Errors
    /// It is too short to be one.
    pub fn new(text: &str) -> Result<Token, String> {
        let text = text.trim();
        if text.len() < SHORTEST {
            return Err(format!("a token has at least {SHORTEST} characters"));
        }
        Ok(Token(text.to_owned()))
    }

    /// Whether this is it. It takes as long for every text of the same length.
    fn is(&self, text: &str) -> bool {
        let differing = self.0.bytes().zip(text.bytes()).fold(0, |all, (ours, theirs)| all | (ours ^ theirs));
        self.0.len() == text.len() && differing == 0
    }
}

/// A port that is open.
pub struct Listening {
    listener: TcpListener,
    address: SocketAddr,
}

impl Listening {
    /// Opens a port of the loopback interface.
    ///
    /// # Errors
    /// It is another interface's, or somebody else has the port.
    pub async fn at(address: SocketAddr) -> Result<Listening, String> {
        if !address.ip().is_loopback() {
            return Err(format!("{address} can be reached from elsewhere; listen on 127.0.0.1 or ::1"));
        }
        let listener = TcpListener::bind(address)
            .await
            .map_err(|error| format!("{address} cannot be listened on: {error}"))?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        Ok(Listening { listener, address })
    }

    /// Where clients go.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Serves clients until `stop` comes; what runs for them then ends with their sessions.
    ///
    /// # Errors
    /// The port broke.
    pub async fn serve(self, door: Door, token: Token, stop: impl Future<Output = ()>) -> Served {
        let port = self.address.port();
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}")))
            // No page has any business here.
            .enforce_origin_validation();
        let ended = config.cancellation_token.clone();
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(IDLE);
        let service = StreamableHttpService::new(
            move || door.another().map_err(std::io::Error::other),
            Arc::new(sessions),
            config,
        );
        let router = axum::Router::new()
            .route_service(PATH, service)
            .layer(from_fn_with_state(Arc::new(token), let_in));
        let served = axum::serve(self.listener, router).into_future();
        tokio::select! {
            served = served => served.map_err(|error| error.to_string()),
            () = stop => {
                ended.cancel();
                Ok(())
            }
        }
    }
}

/// Lets in whoever has the token.
async fn let_in(State(token): State<Arc<Token>>, request: Request, next: Next) -> Response {
    let shown = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let known = shown.and_then(|shown| shown.strip_prefix("Bearer ")).is_some_and(|shown| token.is(shown));
    if known {
        let ends = request.method() == Method::DELETE;
        let mut response = next.run(request).await;
        // A session that was ended is over: clients take "accepted" for less than that, and complain.
        if ends && response.status() == StatusCode::ACCEPTED {
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        return response;
    }
    let help = "the token of this server is wanted: `Authorization: Bearer …`\n";
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], help).into_response()
}
