//! One request over a connection of its own choosing: kept ones are used again, redirects are not followed, proxies not asked.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::address::Address;

/// How long a connection may take to stand.
const CONNECT: Duration = Duration::from_secs(20);
/// How long a server may think before its answer begins.
const ANSWER: Duration = Duration::from_secs(300);
/// Connections that are kept for the next request.
const KEPT: usize = 64;

type Connection = SendRequest<Full<Bytes>>;

/// Connections to one server.
pub(super) struct Connections {
    address: Address,
    tls: Option<TlsConnector>,
    kept: Mutex<Vec<Connection>>,
}

/// What went wrong before there was an answer.
#[derive(Debug)]
pub(super) struct NoAnswer(pub(super) String);

/// An answer that is still coming, and the connection that it comes over.
pub(super) struct Answer {
    pub(super) response: Response<Incoming>,
    connection: Option<Connection>,
}

impl Connections {
    pub(super) fn new(address: Address) -> Result<Connections, String> {
        let tls = if address.secure { Some(connector()?) } else { None };
        Ok(Connections { address, tls, kept: Mutex::default() })
    }

    /// Sends a request and waits for the beginning of the answer.
    pub(super) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Answer, NoAnswer> {
        // A kept connection may have been closed meanwhile; then nothing was sent, and a new one is tried.
        while let Some(mut connection) = self.take_kept() {
            if connection.ready().await.is_err() {
                continue;
            }
            match waited(connection.send_request(request.clone())).await {
                Ok(response) => return Ok(Answer { response, connection: Some(connection) }),
                Err(_closed) => break,
            }
        }
        let mut connection = tokio::time::timeout(CONNECT, self.connect())
            .await
            .map_err(|_| NoAnswer("the connection took too long".into()))??;
        let response = waited(connection.send_request(request)).await?;
        Ok(Answer { response, connection: Some(connection) })
    }

    /// The answer was read whole: its connection may serve again.
    pub(super) fn keep(&self, mut answer: Answer) {
        if let Some(connection) = answer.connection.take()
            && !connection.is_closed()
        {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() < KEPT {
                kept.push(connection);
            }
        }
    }

    fn take_kept(&self) -> Option<Connection> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    async fn connect(&self) -> Result<Connection, NoAnswer> {
        let failed = |error: &dyn std::fmt::Display| NoAnswer(format!("no connection: {error}"));
        let stream = TcpStream::connect((self.address.host.as_str(), self.address.port))
            .await
            .map_err(|error| failed(&error))?;
        // A request is one write; waiting for more to send with it would only cost time.
        let _slower = stream.set_nodelay(true);
        match &self.tls {
            None => handshake(TokioIo::new(stream)).await,
            Some(tls) => {
                let name = ServerName::try_from(self.address.host.clone()).map_err(|error| failed(&error))?;
                let stream = tls.connect(name, stream).await.map_err(|error| failed(&error))?;
                handshake(TokioIo::new(stream)).await
            }
        }
    }
}

async fn waited(
    answer: impl Future<Output = hyper::Result<Response<Incoming>>>,
) -> Result<Response<Incoming>, NoAnswer> {
    match tokio::time::timeout(ANSWER, answer).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(error)) => Err(NoAnswer(format!("the connection broke: {error}"))),
        Err(_) => Err(NoAnswer("the server did not answer".into())),
    }
}

async fn handshake<T>(io: T) -> Result<Connection, NoAnswer>
where
    T: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let (sender, connection) =
        http1::handshake(io).await.map_err(|error| NoAnswer(format!("no connection: {error}")))?;
    tokio::spawn(async move {
        // Whoever waits for the answer learns of an error there.
        let _told_elsewhere = connection.await;
    });
    Ok(sender)
}

fn connector() -> Result<TlsConnector, String> {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS cannot be used: {error}"))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// The next bytes of an answer; `None` at its end.
pub(super) async fn more(answer: &mut Answer) -> Option<Result<Bytes, String>> {
    loop {
        match answer.response.body_mut().frame().await? {
            Ok(frame) => {
                if let Ok(bytes) = frame.into_data() {
                    return Some(Ok(bytes));
                }
            }
            Err(error) => return Some(Err(error.to_string())),
        }
    }
}
