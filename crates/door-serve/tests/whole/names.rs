//! SRV-2: a foreign page reaches nothing, by whatever name it comes.

use serde_json::json;

use crate::server::Served;

#[tokio::test(flavor = "multi_thread")]
async fn only_requests_by_a_name_of_our_own_are_answered() {
    let served = Served::new().await;
    let port = served.address.port();
    let ask = |host: &str| {
        format!(
            "GET /v1/tools HTTP/1.1\r\n{host}Authorization: Bearer {}\r\nConnection: close\r\n\r\n",
            served.token
        )
    };
    for good in [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")] {
        assert_eq!(served.raw(ask(&format!("Host: {good}\r\n")).as_bytes()).await.status, 200, "{good}");
    }
    let foreign = [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        "localhost".into(),
        "127.0.0.1".into(),
        "[::1]".into(),
        format!("localhost.evil:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("127.0.0.1.nip.io:{port}"),
        format!("127-0-0-1.nip.io:{port}"),
        format!("localtest.me:{port}"),
        format!("localhost.:{port}"),
        format!("127.0.0.1.:{port}"),
        format!("LOCALHOST:{port}"),
        format!("LocalHost:{port}"),
        format!("127.1:{port}"),
        format!("127.0.1:{port}"),
        format!("0x7f000001:{port}"),
        format!("2130706433:{port}"),
        format!("0177.0.0.1:{port}"),
        format!("127.0.0.2:{port}"),
        format!("0.0.0.0:{port}"),
        format!("::1:{port}"),
        format!("[::]:{port}"),
        format!("[0:0:0:0:0:0:0:1]:{port}"),
        format!("[::ffff:127.0.0.1]:{port}"),
        format!("[::1%lo]:{port}"),
        format!("localhost:{}", port ^ 1),
        format!("localhost:0{port}"),
        format!("localhost:{port}0"),
        format!("localhost:{port}/"),
        format!("localhost:{port}@evil.example"),
        format!("evil.example@localhost:{port}"),
        format!("user@localhost:{port}"),
        format!("localhost:{port}, evil.example"),
        format!("localhost:{port}#x"),
        format!("localhost:{port}?x"),
        format!("http://localhost:{port}"),
        format!("loc\u{430}lhost:{port}"),
        String::new(),
    ];
    let mut refused = 0;
    for host in &foreign {
        let reply = served.raw(ask(&format!("Host: {host}\r\n")).as_bytes()).await;
        // What is not even a name the parser refuses.
        assert!(reply.status == 403 || reply.status == 400, "{host}: {reply:?}");
        refused += 1;
    }
    let good = format!("Host: 127.0.0.1:{port}\r\n");
    for heads in [
        String::new(),
        format!("{good}{good}"),
        format!("{good}Host: evil.example\r\n"),
        format!("Host: evil.example\r\n{good}"),
    ] {
        let reply = served.raw(ask(&heads).as_bytes()).await;
        assert!(reply.status == 403 || reply.status == 400, "{heads:?}: {reply:?}");
        refused += 1;
    }
    // A whole address in the request line, an old version.
    for line in [
        "GET http://evil.example/v1/tools HTTP/1.1".to_owned(),
        format!("GET http://127.0.0.1:{port}/v1/tools HTTP/1.1"),
        format!("GET http://evil.example@127.0.0.1:{port}/v1/tools HTTP/1.1"),
        "GET /v1/tools HTTP/1.0".to_owned(),
    ] {
        let request =
            format!("{line}\r\n{good}Authorization: Bearer {}\r\nConnection: close\r\n\r\n", served.token);
        let reply = served.raw(request.as_bytes()).await;
        assert!(reply.status == 403 || reply.status == 400, "{line}: {reply:?}");
        refused += 1;
    }
    assert!(refused >= 40, "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_other_pages_are_refused_even_with_the_token() {
    let served = Served::new().await;
    let own = format!("http://{}", served.address);
    let table = [
        (String::new(), 200),
        (format!("Origin: {own}\r\n"), 200),
        (format!("Origin: http://localhost:{}\r\n", served.address.port()), 200),
        (format!("Origin: {own}\r\nSec-Fetch-Site: same-origin\r\n"), 200),
        ("Sec-Fetch-Site: none\r\n".into(), 200),
        ("Origin: null\r\n".into(), 403),
        ("Origin: \r\n".into(), 403),
        ("Origin: https://evil.example\r\n".into(), 403),
        (format!("Origin: https://{}\r\n", served.address), 403),
        (format!("Origin: {own}.evil.example\r\n"), 403),
        (format!("Origin: {own}/\r\n"), 403),
        ("Origin: http://localhost\r\n".into(), 403),
        ("Origin: http://localhost:1\r\n".into(), 403),
        ("Origin: file://\r\n".into(), 403),
        ("Origin: chrome-extension://abc\r\n".into(), 403),
        (format!("Origin: {own}\r\nOrigin: https://evil.example\r\n"), 403),
        (format!("Origin: {own} https://evil.example\r\n"), 403),
        ("Sec-Fetch-Site: cross-site\r\n".into(), 403),
        ("Sec-Fetch-Site: same-site\r\n".into(), 403),
        ("Sec-Fetch-Site: \r\n".into(), 403),
        ("Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n".into(), 403),
        (format!("Origin: {own}\r\nSec-Fetch-Site: cross-site\r\n"), 403),
    ];
    for (headers, status) in table {
        let reply = served.post_with("/v1/check", &headers, r#"{"command": "ls"}"#).await;
        assert_eq!(reply.status, status, "{headers:?}: {reply:?}");
        assert!(reply.header("access-control-allow-origin").is_none(), "no page may read answers");
        let page = served.raw(format!("{}\r\n", served.head("GET", "/", &headers)).as_bytes()).await;
        assert_eq!(page.status, status, "the page itself, {headers:?}");
    }
    let preflight = "Origin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\n\r\n";
    assert_eq!(served.raw(served.head("OPTIONS", "/v1/check", preflight).as_bytes()).await.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_json_changes_anything() {
    let served = Served::new().await;
    let body = json!({"command": "ls"}).to_string();
    let table = [
        ("Content-Type: application/json\r\n", 200),
        ("Content-Type: Application/JSON; charset=UTF-8\r\n", 200),
        ("", 415),
        ("Content-Type: text/plain\r\n", 415),
        ("Content-Type: application/x-www-form-urlencoded\r\n", 415),
        ("Content-Type: multipart/form-data; boundary=x\r\n", 415),
        ("Content-Type: application/jsonp\r\n", 415),
        ("Content-Type: application/json, text/plain\r\n", 415),
        ("Content-Type: application/json; charset=utf-7\r\n", 415),
        ("Content-Type: text/plain\r\nContent-Type: application/json\r\n", 415),
        ("Content-Type: application/json\r\nContent-Encoding: gzip\r\n", 415),
    ];
    for (headers, status) in table {
        let head = served.head(
            "POST",
            "/v1/check",
            &format!("{headers}Content-Length: {}\r\n\r\n{body}", body.len()),
        );
        assert_eq!(served.raw(head.as_bytes()).await.status, status, "{headers:?}");
    }
    for method in ["PUT", "PATCH", "TRACE"] {
        let head =
            served.head(method, "/v1/check", "Content-Type: application/json\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(served.raw(head.as_bytes()).await.status, 405, "{method}");
    }
    let form = served.head(
        "DELETE",
        "/v1/grants/00000000000000000000000000000000",
        "Content-Type: text/plain\r\n\r\n",
    );
    assert_eq!(served.raw(form.as_bytes()).await.status, 415);
}
