//! Which sockets a network namespace needs so that a program in it reaches the hosts of a list by their names: pure data.
//!
//! Every name has an address of its own, so that the address to which a program connects says which name it meant. What
//! stands below a name (`*.name`) is not known beforehand: such an entry has a pool, and each name that is looked up takes
//! the next address of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};

use crate::network::Host;

/// The most sockets that a layout asks for.
pub const MOST_SOCKETS: usize = 1024;
/// How many names below one `*.name` can be looked up, where there is room.
pub const POOL: usize = 32;
/// How many must be possible, however long the list is.
pub const SMALLEST_POOL: usize = 8;
/// Connections that may be open at the same time.
pub const MOST_CONNECTIONS: usize = 256;

const DNS_PORT: u16 = 53;
const PROXY_PORT: u16 = 3128;
/// The sockets of every layout: names over UDP and over TCP, and the proxy.
const FIXED_SOCKETS: usize = 3;

/// A socket that must be made inside the namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// What kind of socket.
    pub kind: Kind,
    /// Where it is bound.
    pub address: SocketAddrV4,
}

/// The kinds of socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Datagrams: bound.
    Udp,
    /// A stream: bound and listening.
    TcpListener,
}

/// Where a layout lies: the network of its addresses, and how far its ports are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    network: Ipv4Addr,
    shift: u16,
}

impl Place {
    /// 198.18.0.0/15, which nobody routes, with every port at its own number.
    pub const USUAL: Place = Place { network: Ipv4Addr::new(198, 18, 0, 0), shift: 0 };

    /// Another network, with ports moved up: for tests on loopback, where nobody may bind port 53 or 443.
    #[must_use]
    pub fn at(network: Ipv4Addr, shift: u16) -> Place {
        Place { network, shift }
    }

    fn service(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.network.to_bits().saturating_add(1))
    }

    /// The address of the host with this number; .0 and .255 of each 256 are left out.
    fn host(self, number: u32) -> Ipv4Addr {
        let offset = (1 + number / 254) * 256 + 1 + number % 254;
        Ipv4Addr::from_bits(self.network.to_bits().saturating_add(offset))
    }

    fn port(self, port: u16) -> u16 {
        port.saturating_add(self.shift)
    }
}

/// Why a list of hosts has no layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// So many sockets would be needed.
    TooMany(usize),
    /// This entry is the address of a machine: connections are allowed by name.
    Address(String),
}

impl fmt::Display for Unfit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::TooMany(count) => write!(
                out,
                "the hosts of `sandbox.network.allow` and their ports need {count} sockets, and {MOST_SOCKETS} are the most: name fewer hosts, or the one port of each"
            ),
            Unfit::Address(host) => {
                write!(out, "`{host}` in `sandbox.network.allow` is an address: hosts are allowed by name")
            }
        }
    }
}

impl std::error::Error for Unfit {}

/// The sockets and addresses for one list of hosts.
#[derive(Debug, Clone)]
pub struct Layout {
    pub(super) hosts: Vec<Host>,
    pub(super) place: Place,
    pub(super) names: Vec<Named>,
    pub(super) pools: Vec<Pool>,
}

/// A name that is listed as it is.
#[derive(Debug, Clone)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) address: Ipv4Addr,
    pub(super) ports: BTreeSet<u16>,
}

/// The names below one.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    pub(super) base: String,
    pub(super) addresses: Vec<Ipv4Addr>,
    pub(super) ports: BTreeSet<u16>,
}

/// What a socket of the layout is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Datagrams,
    Lookups,
    Proxy,
    /// Connections to this port of whatever name the socket's address stands for.
    Direct(u16),
}

impl Layout {
    /// The layout for these hosts. An empty list has one too: it lets nothing through.
    ///
    /// # Errors
    /// The list is too long, or names an address.
    pub fn of(hosts: &[Host]) -> Result<Layout, Unfit> {
        Layout::within(hosts, Place::USUAL)
    }

    /// The same at another place.
    ///
    /// # Errors
    /// As [`Layout::of`].
    pub fn within(hosts: &[Host], place: Place) -> Result<Layout, Unfit> {
        if let Some(host) = hosts.iter().find(|host| is_address(&name_of(host))) {
            return Err(Unfit::Address(host.to_string()));
        }
        let mut exact: BTreeMap<String, BTreeSet<u16>> = BTreeMap::new();
        let mut below: BTreeMap<String, BTreeSet<u16>> = BTreeMap::new();
        for host in hosts {
            // A name has the ports of every entry that means it: `a.example.com:8443` beside `*.example.com`.
            let (table, name, sample) = match host.exact() {
                Some(name) => (&mut exact, name.to_owned(), name.to_owned()),
                None => (&mut below, name_of(host), format!("x.{}", name_of(host))),
            };
            let meant = hosts.iter().filter(|other| *other == host || other.names(&sample));
            table.entry(name).or_default().extend(meant.flat_map(Host::ports));
        }
        let for_names = FIXED_SOCKETS + exact.values().map(BTreeSet::len).sum::<usize>();
        let for_pools = below.values().map(BTreeSet::len).sum::<usize>();
        let smallest = for_names + for_pools * SMALLEST_POOL;
        if smallest > MOST_SOCKETS {
            return Err(Unfit::TooMany(smallest));
        }
        let size = (MOST_SOCKETS - for_names).checked_div(for_pools).unwrap_or(POOL).min(POOL);
        let mut addresses = (0..).map(|number| place.host(number));
        let mut take = |count: usize| addresses.by_ref().take(count).collect::<Vec<Ipv4Addr>>();
        let names = exact
            .into_iter()
            .flat_map(|(name, ports)| {
                take(1).into_iter().map(move |address| Named {
                    name: name.clone(),
                    address,
                    ports: ports.clone(),
                })
            })
            .collect();
        let pools =
            below.into_iter().map(|(base, ports)| Pool { base, addresses: take(size), ports }).collect();
        Ok(Layout { hosts: hosts.to_vec(), place, names, pools })
    }

    /// The sockets, in the order in which [`super::Egress::start`] wants them.
    #[must_use]
    pub fn sockets(&self) -> Vec<Wanted> {
        self.roles().into_iter().map(|(wanted, _)| wanted).collect()
    }

    /// How many descriptors the supervisor may need at the same time: its limit must not be lower.
    #[must_use]
    pub fn descriptors(&self) -> usize {
        // Two ends of each connection, a look-up of each that opens some of its own, and the pair that says stop.
        self.roles().len() + 4 * MOST_CONNECTIONS + 2
    }

    /// The environment of the program: who asks a proxy to resolve names is served as well.
    #[must_use]
    pub fn variables(&self) -> Vec<(String, String)> {
        let proxy = format!("http://{}:{}", self.place.service(), self.place.port(PROXY_PORT));
        let direct = "localhost,127.0.0.1,::1";
        // `ALL_PROXY` is left out: it would send what no HTTP proxy speaks through one, and needs none.
        ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]
            .into_iter()
            .map(|name| (name.to_owned(), proxy.clone()))
            .chain(["NO_PROXY", "no_proxy"].into_iter().map(|name| (name.to_owned(), direct.to_owned())))
            .collect()
    }

    /// `/etc/resolv.conf` for the program. A name is looked up as it stands: no domain is put behind it.
    #[must_use]
    pub fn resolv_conf(&self) -> String {
        format!("nameserver {}\nsearch .\noptions timeout:2 attempts:2\n", self.place.service())
    }

    pub(super) fn roles(&self) -> Vec<(Wanted, Role)> {
        let at = |kind, ip, port| Wanted { kind, address: SocketAddrV4::new(ip, self.place.port(port)) };
        let service = self.place.service();
        let mut roles = vec![
            (at(Kind::Udp, service, DNS_PORT), Role::Datagrams),
            (at(Kind::TcpListener, service, DNS_PORT), Role::Lookups),
            (at(Kind::TcpListener, service, PROXY_PORT), Role::Proxy),
        ];
        let names = self.names.iter().map(|named| (std::slice::from_ref(&named.address), &named.ports));
        let pools = self.pools.iter().map(|pool| (pool.addresses.as_slice(), &pool.ports));
        for (addresses, ports) in names.chain(pools) {
            for address in addresses {
                roles.extend(
                    ports.iter().map(|port| (at(Kind::TcpListener, *address, *port), Role::Direct(*port))),
                );
            }
        }
        roles
    }
}

/// Whether a resolver would read this name as the address of a machine: its last part is a number (`127.1`, `0x7f000001`).
pub(super) fn is_address(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    let hexadecimal = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(last) || hexadecimal.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The name of an entry, without `*.` and without its port.
fn name_of(host: &Host) -> String {
    let text = host.to_string();
    let text = text.strip_prefix("*.").unwrap_or(&text);
    text.split_once(':').map_or(text, |(name, _)| name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(list: &[&str]) -> Vec<Host> {
        list.iter().map(|text| Host::parse(text).unwrap()).collect()
    }

    #[test]
    fn an_empty_list_has_names_and_proxy_but_no_host() {
        let layout = Layout::of(&[]).unwrap();
        let at = |port| SocketAddrV4::new(Ipv4Addr::new(198, 18, 0, 1), port);
        assert_eq!(
            layout.sockets(),
            [
                Wanted { kind: Kind::Udp, address: at(53) },
                Wanted { kind: Kind::TcpListener, address: at(53) },
                Wanted { kind: Kind::TcpListener, address: at(3128) },
            ]
        );
        assert!(layout.resolv_conf().starts_with("nameserver 198.18.0.1\n"));
        let variables = layout.variables();
        assert!(variables.contains(&("https_proxy".into(), "http://198.18.0.1:3128".into())));
        assert!(variables.contains(&("NO_PROXY".into(), "localhost,127.0.0.1,::1".into())));
    }

    #[test]
    fn entries_of_one_name_share_an_address_and_every_name_has_its_own() {
        let layout =
            Layout::of(&hosts(&["b.example:8443", "a.example", "B.example.", "a.example:25"])).unwrap();
        let direct: Vec<String> =
            layout.sockets().iter().skip(3).map(|wanted| wanted.address.to_string()).collect();
        let expected = [
            "198.18.1.1:22",
            "198.18.1.1:25",
            "198.18.1.1:80",
            "198.18.1.1:443",
            "198.18.1.1:9418",
            "198.18.1.2:22",
            "198.18.1.2:80",
            "198.18.1.2:443",
            "198.18.1.2:8443",
            "198.18.1.2:9418",
        ];
        assert_eq!(direct, expected);
    }

    #[test]
    fn a_name_has_the_ports_of_every_entry_that_means_it() {
        let layout =
            Layout::of(&hosts(&["a.example.com:8443", "*.example.com:443", "*.x.example.com:1"])).unwrap();
        assert_eq!(layout.names[0].ports, [443, 8443].into());
        let ports: Vec<_> =
            layout.pools.iter().map(|pool| (pool.base.as_str(), pool.ports.clone())).collect();
        assert_eq!(ports, [("example.com", [443].into()), ("x.example.com", [1, 443].into())]);
    }

    #[test]
    fn addresses_are_all_different_and_inside_the_network() {
        let many: Vec<Host> = (0..1000).map(|n| Host::parse(&format!("h{n}.example:443")).unwrap()).collect();
        let sockets = Layout::of(&many).unwrap().sockets();
        let all: BTreeSet<_> = sockets.iter().map(|wanted| (wanted.kind as u8, wanted.address)).collect();
        assert_eq!(all.len(), 1003);
        for wanted in sockets {
            let [a, b, c, d] = wanted.address.ip().octets();
            assert!(a == 198 && b == 18 && c < 8 && d != 0 && d != 255, "{}", wanted.address);
        }
    }

    #[test]
    fn the_number_of_sockets_is_bounded_and_pools_give_way_first() {
        let stars = |count: usize| -> Vec<Host> {
            (0..count).map(|n| Host::parse(&format!("*.h{n}.example")).unwrap()).collect()
        };
        for (count, pool) in [(1, 32), (7, 32), (8, 31), (16, 15), (31, 8)] {
            let layout = Layout::of(&stars(count)).unwrap();
            assert_eq!(layout.pools[0].addresses.len(), pool, "{count}");
            assert!(layout.sockets().len() <= MOST_SOCKETS);
        }
        let error = Layout::of(&stars(32)).unwrap_err();
        assert_eq!(error, Unfit::TooMany(3 + 32 * 4 * 8));
        assert!(error.to_string().contains("1027 sockets"), "{error}");
    }

    #[test]
    fn addresses_are_no_names() {
        for text in
            ["127.0.0.1", "10.1", "2130706433", "0x7f000001", "1.2.3.0x4", "*.0.0.1", "a.0x", "1.2.3.4:443"]
        {
            assert!(matches!(Layout::of(&hosts(&[text])), Err(Unfit::Address(_))), "{text}");
        }
        for text in ["1.example", "0x7f.example", "a.0xyz", "3com.com", "1e100.net"] {
            assert!(Layout::of(&hosts(&[text])).is_ok(), "{text}");
        }
    }
}
