//! The two-way interface: questions go out over a WebSocket, decisions come in.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use crate::server::Served;

/// The other end, polled by hand: one message at a time is all that is needed.
pub(crate) struct Client(WebSocketStream<TcpStream>);

impl Client {
    pub(crate) async fn new(served: &Served) -> Result<Client, String> {
        let mut request =
            format!("ws://{}/v1/connect", served.address).into_client_request().expect("a request");
        let token = format!("Bearer {}", served.token).parse().expect("a header");
        request.headers_mut().insert("Authorization", token);
        let stream = served.connect().await;
        let connected = tokio_tungstenite::client_async(request, stream).await;
        connected.map(|(stream, _)| Client(stream)).map_err(|error| error.to_string())
    }

    pub(crate) async fn next(&mut self) -> Option<Value> {
        use futures_core::Stream as _;
        let next = std::future::poll_fn(|context| std::pin::Pin::new(&mut self.0).poll_next(context));
        match tokio::time::timeout(Duration::from_secs(10), next).await.expect("a message in time")?.ok()? {
            Message::Text(text) => serde_json::from_str(&text).ok(),
            Message::Close(_) => None,
            _ => Box::pin(self.next()).await,
        }
    }

    /// The next message of this type.
    pub(crate) async fn next_of(&mut self, kind: &str) -> Value {
        loop {
            let message = self.next().await.expect("a message");
            if message["type"] == kind {
                return message;
            }
        }
    }

    pub(crate) async fn say(&mut self, message: &Value) {
        use futures_sink::Sink as _;
        let text = Message::Text(message.to_string().into());
        std::future::poll_fn(|context| std::pin::Pin::new(&mut self.0).poll_ready(context))
            .await
            .expect("ready");
        std::pin::Pin::new(&mut self.0).start_send(text).expect("sent");
        std::future::poll_fn(|context| std::pin::Pin::new(&mut self.0).poll_flush(context))
            .await
            .expect("flushed");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_go_out_and_decisions_come_in() {
    let served = Arc::new(Served::new().await);
    // The control: without anybody connected there is nobody to ask.
    assert_eq!(served.post("/v1/calls", &served.asked_about("before")).await.status, 409);
    let (mut one, mut two) =
        (Client::new(&served).await.expect("connected"), Client::new(&served).await.expect("connected"));
    for (name, decision, runs) in [("ws-yes", "approved", true), ("ws-no", "denied", false)] {
        let (asking, call) = (Arc::clone(&served), served.asked_about(name));
        let call = tokio::spawn(async move { asking.post("/v1/calls", &call).await });
        let request = loop {
            let request = one.next_of("onToolCallRequest").await["request"].clone();
            if request["waits"] == "here" {
                break request;
            }
        };
        assert_eq!(request["toolName"], "file_write");
        assert!(request["security_warning"]["level"].is_string() && request["confirmationId"].is_string());
        for wrong in [
            json!("x"),
            json!({"type": "decision"}),
            json!({"type": "hello", "id": request["id"]}),
            json!({"type": "decision", "id": request["id"], "decision": "perhaps"}),
            json!({"type": "decision", "id": "0", "decision": "approved"}),
        ] {
            one.say(&wrong).await;
            assert_eq!(one.next_of("rejected").await["type"], "rejected", "{wrong}");
        }
        assert!(!served.ran(name));
        one.say(&json!({"type": "decision", "id": request["id"], "decision": decision, "reason": "so"}))
            .await;
        assert_eq!(one.next_of("accepted").await["decision"], decision);
        assert_eq!(call.await.expect("an answer").status == 200, runs);
        assert_eq!(served.ran(name), runs);
        let settled = loop {
            let settled = two.next_of("settled").await;
            if settled["id"] == request["id"] {
                break settled;
            }
        };
        assert_eq!((settled["decision"].as_str(), settled["by"].as_str()), (Some(decision), Some("tester")));
        two.say(&json!({"type": "decision", "id": request["id"], "decision": "approved"})).await;
        assert!(two.next_of("rejected").await["reason"].to_string().contains("settled before"));
    }
    drop((one, two));
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(
        served.post("/v1/calls", &served.asked_about("after")).await.status,
        409,
        "nobody is there any more"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_connects_without_the_token_or_from_another_page() {
    let mut served = Served::new().await;
    assert!(Client::new(&served).await.is_ok());
    let more = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: https://evil.example\r\n\r\n";
    let head = served.head("GET", "/v1/connect", more).replace("Connection: close\r\n", "");
    let mut stream = served.connect().await;
    tokio::io::AsyncWriteExt::write_all(&mut stream, head.as_bytes()).await.expect("written");
    let mut bytes = [0; 64];
    let count = tokio::io::AsyncReadExt::read(&mut stream, &mut bytes).await.expect("read");
    assert!(bytes[..count].starts_with(b"HTTP/1.1 403"), "{}", String::from_utf8_lossy(&bytes[..count]));
    served.token = served.token.to_lowercase();
    assert!(Client::new(&served).await.is_err_and(|why| why.contains("401")));
}
