//! The end of a server: somebody asks for it with a signal.

/// Comes when somebody wants this process to end. What it serves then ends in order.
pub(crate) fn stop() -> Result<impl Future<Output = ()>, String> {
    use tokio::signal::unix::{SignalKind, signal};
    let failed = |error: std::io::Error| format!("signals: {error}");
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    Ok(async move {
        std::future::poll_fn(|context| {
            if terminate.poll_recv(context).is_ready() || interrupt.poll_recv(context).is_ready() {
                std::task::Poll::Ready(())
            } else {
                std::task::Poll::Pending
            }
        })
        .await;
    })
}
