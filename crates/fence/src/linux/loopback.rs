//! The network of a fence: loopback, the supervisor's sockets in it, and addresses for hosts that may be connected to.

use super::namespaces::{MARK_SOCKET, Site};
use crate::network::Network;
use crate::plan::Plan;
use crate::sys::image::Builder;
use crate::sys::steps::SEND;

/// A socket that the supervisor wants from inside the network namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Connections are accepted on it; otherwise it takes datagrams.
    pub(crate) stream: bool,
    pub(crate) address: [u8; 4],
    pub(crate) port: u16,
}

/// Loopback works in a network of its own.
pub(crate) fn switch_on(s: &mut Builder) {
    let inet = libc::AF_INET;
    let socket = s.keep(
        "switch loopback on",
        libc::SYS_socket,
        [inet.into(), (libc::SOCK_DGRAM | libc::SOCK_CLOEXEC).into(), 0.into()],
    );
    // struct ifreq: the name, then the flags IFF_UP | IFF_RUNNING.
    let mut request = [0u8; 40];
    for (place, byte) in request.iter_mut().zip(*b"lo") {
        *place = byte;
    }
    if let Some(flags) = request.get_mut(16..18) {
        flags.copy_from_slice(&0x41u16.to_le_bytes());
    }
    let request = s.bytes(&request);
    s.step("switch loopback on", libc::SYS_ioctl, [socket.into(), libc::SIOCSIFFLAGS.into(), request.into()]);
    s.step("close", libc::SYS_close, [socket.into()]);
}

/// The supervisor's sockets inside.
pub(crate) fn sockets(s: &mut Builder, plan: &Plan, site: &Site<'_>) {
    if plan.network == Network::Open {
        return;
    }
    let inet = libc::AF_INET;
    if site.sockets.iter().any(|wanted| wanted.address.first() == Some(&198)) {
        local_route(s);
    }
    for (wanted, mark) in site.sockets.iter().zip(MARK_SOCKET..) {
        let kind = if wanted.stream { libc::SOCK_STREAM } else { libc::SOCK_DGRAM } | libc::SOCK_CLOEXEC;
        let port = s.text(wanted.port.to_string());
        let label = ("open port ", port);
        let socket = s.keep(label, libc::SYS_socket, [inet.into(), kind.into(), 0.into()]);
        let mut address = (libc::AF_INET as u16).to_le_bytes().to_vec();
        address.extend(wanted.port.to_be_bytes());
        address.extend(wanted.address);
        address.extend([0; 8]);
        let address = s.bytes(&address);
        s.step(label, libc::SYS_bind, [socket.into(), address.into(), 16.into()]);
        if wanted.stream {
            s.step(label, libc::SYS_listen, [socket.into(), 128.into()]);
        }
        s.step(label, SEND, [socket.into(), mark.into()]);
        s.step("close", libc::SYS_close, [socket.into()]);
    }
}

/// Every address of 198.18.0.0/15 is this machine's own, by a route of type local over loopback.
fn local_route(s: &mut Builder) {
    let family = libc::AF_NETLINK;
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    let socket =
        s.keep("route the egress addresses", libc::SYS_socket, [family.into(), kind.into(), 0.into()]);
    let mut message = Vec::new();
    // struct nlmsghdr: length, RTM_NEWROUTE, NLM_F_REQUEST | NLM_F_CREATE, sequence, port.
    message.extend(44u32.to_le_bytes());
    message.extend(24u16.to_le_bytes());
    message.extend(0x401u16.to_le_bytes());
    message.extend([0; 8]);
    // struct rtmsg: family, prefix length, source length, service; table local, protocol boot, scope host, type local.
    message.extend([2, 15, 0, 0, 255, 3, 254, 2]);
    message.extend([0; 4]);
    // RTA_DST, RTA_OIF: loopback is interface 1 of every network namespace.
    message.extend([8, 0, 1, 0, 198, 18, 0, 0]);
    message.extend([8, 0, 4, 0, 1, 0, 0, 0]);
    let length = message.len() as u64;
    let message = s.bytes(&message);
    s.step(
        "route the egress addresses",
        libc::SYS_sendto,
        [socket.into(), message.into(), length.into(), 0.into(), 0.into(), 0.into()],
    );
    s.step("close", libc::SYS_close, [socket.into()]);
}
