//! Which addresses may be dialled, whatever name they belong to: those of the public internet, and of it not this machine.
//!
//! Whoever owns a name decides what it resolves to, so a name on the list says nothing about where a connection would end.
//! Where an address carries another one inside, the inner one is judged.
//! Not seen: an operator's own NAT64 prefix in public space, behind which private addresses of IPv4 may lie.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Which addresses may be dialled.
#[derive(Debug, Clone, Default)]
pub struct Addresses {
    /// With loopback, for tests: which port stands for which.
    loopback: Option<HashMap<u16, u16>>,
}

/// What no configuration reaches.
pub mod danger {
    use super::Addresses;

    /// Loopback addresses too, where each port may stand for another: for tests, whose servers are there.
    #[must_use]
    pub fn loopback_too(ports: impl IntoIterator<Item = (u16, u16)>) -> Addresses {
        Addresses { loopback: Some(ports.into_iter().collect()) }
    }
}

impl Addresses {
    /// Only addresses of the public internet.
    #[must_use]
    pub fn public_only() -> Addresses {
        Addresses::default()
    }

    /// Where a connection to this port of a host with this address goes.
    ///
    /// # Errors
    /// The kind of address that it is, where that kind is never dialled.
    pub fn check(&self, address: IpAddr, port: u16) -> Result<SocketAddr, &'static str> {
        let address = address.to_canonical();
        if let (Some(ports), true) = (&self.loopback, address.is_loopback()) {
            return Ok(SocketAddr::new(address, ports.get(&port).copied().unwrap_or(port)));
        }
        let refused = match address {
            IpAddr::V4(address) => refused_v4(address),
            IpAddr::V6(address) => refused_v6(address),
        };
        match refused {
            Some(kind) => Err(kind),
            None if is_this_machine(address) => Err("an address of this machine"),
            None => Ok(SocketAddr::new(address, port)),
        }
    }
}

/// Networks of IPv4 that are not the public internet, and single addresses where clouds keep credentials.
const NETWORKS_V4: [(Ipv4Addr, u32, &str); 17] = [
    (Ipv4Addr::new(169, 254, 169, 254), 32, "a metadata address"),
    (Ipv4Addr::new(168, 63, 129, 16), 32, "a metadata address"),
    (Ipv4Addr::new(0, 0, 0, 0), 8, "an unspecified address"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "a private address"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "an address shared behind a carrier"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "a loopback address"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "a link-local address"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "a private address"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "an address for protocols"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "an address for documentation"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "an address of a relay"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "a private address"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "an address for benchmarks"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "an address for documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "an address for documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "a multicast address"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "a reserved or broadcast address"),
];

fn refused_v4(address: Ipv4Addr) -> Option<&'static str> {
    let inside = |network: Ipv4Addr, bits: u32| {
        let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
        address.to_bits() & mask == network.to_bits()
    };
    NETWORKS_V4.iter().find(|(network, bits, _)| inside(*network, *bits)).map(|(_, _, kind)| *kind)
}

fn refused_v6(address: Ipv6Addr) -> Option<&'static str> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let inner = Ipv4Addr::from_bits(u32::from(g) << 16 | u32::from(h));
    match (a, b) {
        (0, 0) if address.is_unspecified() => Some("an unspecified address"),
        (0, 0) if address.is_loopback() => Some("a loopback address"),
        // The well-known prefix of NAT64 is how a host that has IPv6 alone reaches the public IPv4 internet.
        (0x64, 0xff9b) if [c, d, e, f] == [0; 4] => refused_v4(inner),
        (0xfd00, 0x0ec2) => Some("a metadata address"),
        (0xfc00..=0xfdff, _) => Some("a private address"),
        (0xfe80..=0xfebf, _) => Some("a link-local address"),
        (0xff00.., _) => Some("a multicast address"),
        (0x2001, 0x0db8) | (0x3fff, 0..=0x0fff) => Some("an address for documentation"),
        (0x2001, 0) => Some("an address inside a Teredo tunnel"),
        (0x2001, 0..=0x01ff) => Some("an address for protocols"),
        (0x2002, _) => Some("an address inside a 6to4 tunnel"),
        (0x2000..=0x3fff, _) if matches!(e, 0 | 0x0200) && f == 0x5efe => {
            Some("an address inside an ISATAP tunnel")
        }
        (0x2000..=0x3fff, _) => None,
        _ => Some("not an address of the public internet"),
    }
}

/// Whether the machine itself has this address: then the kernel would use it as the connection's own. Nothing is sent.
fn is_this_machine(address: IpAddr) -> bool {
    let any: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let own = UdpSocket::bind((any, 0)).and_then(|socket| {
        socket.connect((address, 9))?;
        socket.local_addr()
    });
    // An address to which there is no way cannot be dialled either: the attempt will say so.
    own.is_ok_and(|own| own.ip() == address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_addresses_are_dialled_and_nothing_else() {
        let refused = [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.0.1",
            "169.254.169.254",
            "169.254.170.2",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "192.168.255.255",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::2",
            "::127.0.0.1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::ffff:0:127.0.0.1",
            "64:ff9b::127.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b::169.254.169.254",
            "64:ff9b:1::8.8.8.8",
            "64:ff9b:0:1::8.8.8.8",
            "100::1",
            "100:0:0:1::1",
            "2001::1",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:30::1",
            "2001:1ff::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "2002:a00:1::1",
            "2002:808:808::1",
            "3fff::1",
            "3fff:fff::1",
            "2a00:1::5efe:a00:1",
            "2a00:1::200:5efe:a00:1",
            "4000::1",
            "5f00::1",
            "8000::1",
            "fc00::1",
            "fd00:ec2::254",
            "fd12:3456::1",
            "fdff::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "feff::1",
            "ff02::1",
            "ffff::1",
        ];
        let allowed = [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.1",
            "100.63.255.255",
            "100.128.0.1",
            "128.0.0.1",
            "168.63.129.17",
            "169.253.255.255",
            "172.15.255.255",
            "172.32.0.1",
            "192.0.1.1",
            "192.167.255.255",
            "192.169.0.1",
            "198.17.255.255",
            "198.20.0.1",
            "223.255.255.255",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2003::1",
            "2606:4700::1111",
            "2a00:1450::1",
            "3ffe::1",
            "3fff:1000::1",
        ];
        let addresses = Addresses::public_only();
        for text in refused {
            assert!(addresses.check(text.parse().unwrap(), 443).is_err(), "{text} is dialled");
        }
        for text in allowed {
            let address: IpAddr = text.parse().unwrap();
            let expected = SocketAddr::new(address.to_canonical(), 443);
            assert_eq!(addresses.check(address, 443), Ok(expected), "{text} is refused");
        }
    }

    #[test]
    fn loopback_is_dialled_only_where_a_test_says_so_and_opens_nothing_else() {
        let addresses = danger::loopback_too([(443, 4443)]);
        let check = |text: &str| addresses.check(text.parse().unwrap(), 443);
        assert_eq!(check("127.0.0.1"), Ok("127.0.0.1:4443".parse().unwrap()));
        for text in ["10.0.0.1", "169.254.169.254", "::", "fe80::1", "192.168.1.1"] {
            assert!(check(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_address_of_this_machine_is_known() {
        assert!(is_this_machine("127.0.0.1".parse().unwrap()));
        assert!(!is_this_machine("192.0.2.1".parse().unwrap()));
    }
}
