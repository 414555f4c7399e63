//! Which name an address stands for, and which address a name has.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::layout::{Layout, Pool, is_address};
use super::record::Reason;
use crate::network::{Host, canonical};

/// The list of hosts, with the addresses that its names have.
#[derive(Debug)]
pub(super) struct Names {
    hosts: Vec<Host>,
    pools: Vec<Pool>,
    given: Mutex<Given>,
}

#[derive(Debug, Default)]
struct Given {
    addresses: HashMap<String, Ipv4Addr>,
    names: HashMap<Ipv4Addr, String>,
    /// By the base of a pool, how many of its addresses are taken.
    taken: HashMap<String, usize>,
}

impl Names {
    pub(super) fn of(layout: &Layout) -> Names {
        let mut given = Given::default();
        for named in &layout.names {
            given.addresses.insert(named.name.clone(), named.address);
            given.names.insert(named.address, named.name.clone());
        }
        Names { hosts: layout.hosts.clone(), pools: layout.pools.clone(), given: Mutex::new(given) }
    }

    /// Whether a connection to this name and port is on the list; in canonical form if so.
    pub(super) fn admit(&self, name: &str, port: u16) -> Result<String, Reason> {
        let name = read(name)?;
        match self.hosts.iter().any(|host| host.covers(&name, port)) {
            true => Ok(name),
            false => Err(Reason::NotListed),
        }
    }

    /// Whether some port of this name is on the list; in canonical form if so.
    pub(super) fn know(&self, name: &str) -> Result<String, Reason> {
        let name = read(name)?;
        match self.hosts.iter().any(|host| host.names(&name)) {
            true => Ok(name),
            false => Err(Reason::NotListed),
        }
    }

    /// The address that a name has inside. It keeps it: another name never gets the same one.
    pub(super) fn address(&self, name: &str) -> Result<Ipv4Addr, Reason> {
        let name = self.know(name)?;
        let mut given = self.given();
        if let Some(address) = given.addresses.get(&name) {
            return Ok(*address);
        }
        let below =
            |pool: &&Pool| name.strip_suffix(pool.base.as_str()).is_some_and(|rest| rest.ends_with('.'));
        let pool =
            self.pools.iter().filter(below).max_by_key(|pool| pool.base.len()).ok_or(Reason::NotListed)?;
        let taken = given.taken.entry(pool.base.clone()).or_default();
        let address = *pool.addresses.get(*taken).ok_or(Reason::PoolUsedUp)?;
        *taken += 1;
        given.addresses.insert(name.clone(), address);
        given.names.insert(address, name);
        Ok(address)
    }

    /// The name that an address inside stands for.
    pub(super) fn at(&self, address: Ipv4Addr) -> Option<String> {
        self.given().names.get(&address).cloned()
    }

    fn given(&self) -> MutexGuard<'_, Given> {
        // Nothing between two changes of the maps can panic, so what a panic elsewhere left behind is whole.
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(name: &str) -> Result<String, Reason> {
    let name = canonical(name).ok_or(Reason::NoName)?;
    match is_address(&name) {
        true => Err(Reason::Literal),
        false => Ok(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Names {
        let hosts: Vec<Host> = list.iter().map(|text| Host::parse(text).unwrap()).collect();
        Names::of(&Layout::of(&hosts).unwrap())
    }

    #[test]
    fn only_what_the_list_says_is_admitted() {
        let lists: [&[&str]; 5] = [
            &[],
            &["example.com"],
            &["*.example.com"],
            &["example.com:8443"],
            &["xn--exmple-cua.com", "localhost.example.com"],
        ];
        // For each name and port: which of the lists admit it.
        let rows: [(&str, u16, &[usize]); 27] = [
            ("example.com", 443, &[1]),
            ("EXAMPLE.Com.", 443, &[1]),
            ("example.com", 8443, &[3]),
            ("example.com", 25, &[]),
            ("a.example.com", 80, &[2]),
            ("b.a.example.com", 22, &[2]),
            ("localhost.example.com", 443, &[2, 4]),
            ("xn--exmple-cua.com", 443, &[4]),
            ("exаmple.com", 443, &[]), // a Cyrillic letter
            ("exämple.com", 443, &[]),
            ("example。com", 443, &[]), // an ideographic full stop
            ("example.com", 443, &[1]), // a soft hyphen would be invisible: the next row has one
            ("exam\u{ad}ple.com", 443, &[]),
            ("evilexample.com", 443, &[]),
            ("example.com.evil.net", 443, &[]),
            ("example.com\0.evil.net", 443, &[]),
            ("evil.net\0.example.com", 443, &[]),
            ("evil.net\n.example.com", 443, &[]),
            ("evil.net%00.example.com", 443, &[]),
            ("evil.net/.example.com", 443, &[]),
            ("evil.net@example.com", 443, &[]),
            (".example.com", 443, &[]),
            ("*.example.com", 443, &[]),
            ("example.com..", 443, &[]),
            ("", 443, &[]),
            (".", 443, &[]),
            ("127.0.0.1", 443, &[]),
        ];
        for (number, list) in lists.into_iter().enumerate() {
            let names = names(list);
            for (name, port, admitted) in rows {
                let expected = admitted.contains(&number);
                assert_eq!(names.admit(name, port).is_ok(), expected, "{name:?}:{port} against {list:?}");
                assert!(!expected || names.address(name).is_ok(), "{name:?} has an address with {list:?}");
            }
        }
    }

    #[test]
    fn a_pool_gives_each_name_its_own_address_until_it_is_used_up() {
        let names = names(&["*.example.com", "one.example.com", "*.deep.example.com"]);
        let mut seen = std::collections::HashSet::new();
        for number in 0..32 {
            let name = format!("h{number}.example.com");
            let address = names.address(&name).unwrap();
            assert!(seen.insert(address), "{name} shares {address}");
            assert_eq!(names.at(address).unwrap(), name);
            assert_eq!(names.address(&name.to_uppercase()).unwrap(), address);
        }
        assert_eq!(names.address("another.example.com"), Err(Reason::PoolUsedUp));
        for name in ["h0.example.com", "one.example.com", "a.deep.example.com"] {
            assert!(names.address(name).is_ok(), "{name} has room of its own");
        }
        assert_eq!(names.address("deep.example.com"), Err(Reason::PoolUsedUp));
        assert_eq!(names.address("example.com"), Err(Reason::NotListed));
        assert_eq!(names.at(Ipv4Addr::new(198, 18, 1, 200)), None);
    }
}
