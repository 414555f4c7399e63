//! Names inside the fence: a name on the list has the address that was set aside for it, every other name does not exist.
//! Nothing is asked outside, so a look-up carries nothing out.
//!
//! The reader is our own: one question, of plain labels, in one fixed layout. A library for all of DNS brings dozens of
//! crates for the hundred lines that are needed, and reads more than may be accepted here (names that point into
//! themselves, for one).

use std::net::Ipv4Addr;

use super::layout::is_address;
use super::names::Names;
use super::record::{Connection, Log, Outcome, Reason, Way};
use crate::network::canonical;

/// The longest message that is read.
pub(super) const LONGEST: usize = 4096;

const HEADER: usize = 12;
const A: u16 = 1;
const INTERNET: u16 = 1;
/// Long: an address stays with its name for as long as the fence lasts.
const SECONDS_TO_LIVE: u32 = 300;

/// How a message is answered, in the numbers of RFC 1035.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    Fine = 0,
    Malformed = 1,
    NoSuchName = 3,
    NotImplemented = 4,
    Refused = 5,
}

/// The one question of a message.
struct Question<'a> {
    /// As it came, to be given back: clients check its very letters.
    bytes: &'a [u8],
    labels: Vec<&'a [u8]>,
    kind: u16,
    class: u16,
}

/// The answer to a message; `None` where it deserves none.
pub(super) fn answer(message: &[u8], names: &Names, log: &Log) -> Option<Vec<u8>> {
    let header: [u8; HEADER] = message.get(..HEADER)?.try_into().ok()?;
    let [id_high, id_low, flags, _, questions @ ..] = header;
    // A reply is not answered: two of us would talk for ever.
    if flags & 0x80 != 0 || message.len() > LONGEST {
        return None;
    }
    let reply = |code: Code, question: &[u8], address: Option<Ipv4Addr>| {
        let mut reply = vec![id_high, id_low, 0x80 | (flags & 0x79), 0x80 | code as u8];
        reply.extend([0, u8::from(!question.is_empty()), 0, u8::from(address.is_some()), 0, 0, 0, 0]);
        reply.extend(question);
        if let Some(address) = address {
            // The name is the one of the question, at its place in the message.
            reply.extend([0xc0, HEADER as u8]);
            reply.extend(A.to_be_bytes());
            reply.extend(INTERNET.to_be_bytes());
            reply.extend(SECONDS_TO_LIVE.to_be_bytes());
            reply.extend([0, 4]);
            reply.extend(address.octets());
        }
        Some(reply)
    };
    if flags & 0x78 != 0 {
        return reply(Code::NotImplemented, &[], None);
    }
    // One question, no answers, no authorities, and behind the question at most the two records that clients add.
    let ([0, 1, 0, 0, 0, 0, 0, 0..=2], 0) = (questions, flags & 0x02) else {
        return reply(Code::Malformed, &[], None);
    };
    let Some(question) = question(message) else { return reply(Code::Malformed, &[], None) };
    if question.class != INTERNET {
        return reply(Code::Refused, question.bytes, None);
    }
    let (code, address) = judge(&question, names, log);
    reply(code, question.bytes, address)
}

fn question(message: &[u8]) -> Option<Question<'_>> {
    let mut rest = message.get(HEADER..)?;
    let mut labels = Vec::new();
    let mut length = 1;
    loop {
        let (count, after) = rest.split_first()?;
        if *count == 0 {
            rest = after;
            break;
        }
        // Above 63 it would point elsewhere in the message.
        let (label, after) = after.split_at_checked(usize::from(*count)).filter(|_| *count <= 63)?;
        length += label.len() + 1;
        if length > 255 {
            return None;
        }
        labels.push(label);
        rest = after;
    }
    let (fixed, _) = rest.split_at_checked(4)?;
    let [kind_high, kind_low, class_high, class_low] = fixed.try_into().ok()?;
    Some(Question {
        bytes: message.get(HEADER..HEADER + length + 4)?,
        labels,
        kind: u16::from_be_bytes([kind_high, kind_low]),
        class: u16::from_be_bytes([class_high, class_low]),
    })
}

fn judge(question: &Question<'_>, names: &Names, log: &Log) -> (Code, Option<Ipv4Addr>) {
    let record = |name: String, outcome: Outcome| {
        log.add(Connection {
            way: Way::Lookup,
            name,
            port: None,
            address: None,
            outcome,
            sent: 0,
            received: 0,
            times: 1,
        });
    };
    let Some(name) = name(&question.labels) else {
        record(shown(&question.labels), Reason::NoName.into());
        return (Code::NoSuchName, None);
    };
    // Each fence has a loopback of its own.
    if name == "localhost" || name.ends_with(".localhost") {
        return (Code::Fine, (question.kind == A).then_some(Ipv4Addr::LOCALHOST));
    }
    // Who asks which name an address has learns nothing and wants nothing.
    if name.ends_with(".arpa") {
        return (Code::NoSuchName, None);
    }
    // Only an address takes room: whoever asks for both kinds should not find out half of it.
    let found = match question.kind {
        A => names.address(&name).map(Some),
        _ => names.know(&name).map(|_| None),
    };
    match found {
        Ok(address) => {
            if address.is_some() {
                record(name, Outcome::Allowed);
            }
            (Code::Fine, address)
        }
        Err(reason) => {
            let code = if reason == Reason::PoolUsedUp { Code::Refused } else { Code::NoSuchName };
            record(name, reason.into());
            (code, None)
        }
    }
}

/// The name that these labels make, where they make one: a label with a dot in it makes none.
fn name(labels: &[&[u8]]) -> Option<String> {
    let plain = |label: &&[u8]| label.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte));
    if !labels.iter().all(plain) {
        return None;
    }
    let text = String::from_utf8(labels.join(&b'.')).ok()?;
    canonical(&text).filter(|name| !is_address(name))
}

/// What is no name, made harmless for whoever reads the log.
fn shown(labels: &[&[u8]]) -> String {
    labels.join(&b'.').escape_ascii().to_string().chars().take(253).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egress::layout::Layout;
    use crate::network::Host;
    use proptest::prelude::*;

    fn names() -> Names {
        let hosts = ["example.com", "*.below.example"].map(|text| Host::parse(text).unwrap());
        Names::of(&Layout::of(&hosts).unwrap())
    }

    fn query(labels: &[&[u8]], kind: u16) -> Vec<u8> {
        let mut message = vec![0x12, 0x34, 0x01, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in labels {
            message.push(label.len() as u8);
            message.extend_from_slice(label);
        }
        message.push(0);
        message.extend(kind.to_be_bytes());
        message.extend([0, 1]);
        message
    }

    fn ask(labels: &[&[u8]], kind: u16) -> (u8, Option<[u8; 4]>, Vec<Connection>) {
        let log = Log::default();
        let asked = query(labels, kind);
        let reply = answer(&asked, &names(), &log).unwrap();
        assert_eq!(reply[..2], [0x12, 0x34]);
        assert_eq!(reply[2], 0x81);
        assert!(reply.len() <= 512, "fits a datagram");
        assert!(reply[12..].starts_with(&asked[12..]), "the question comes back letter by letter");
        let address = (reply[7] == 1).then(|| reply[reply.len() - 4..].try_into().unwrap());
        (reply[3] & 15, address, log.take())
    }

    #[test]
    fn names_on_the_list_have_addresses_and_others_do_not_exist() {
        let long = [b'a'; 63];
        type Row<'a> = (&'a [&'a [u8]], u16, u8, Option<[u8; 4]>);
        let rows: [Row<'_>; 21] = [
            (&[b"example", b"com"], 1, 0, Some([198, 18, 1, 1])),
            (&[b"eXAmple", b"cOM"], 1, 0, Some([198, 18, 1, 1])),
            (&[b"example", b"com"], 28, 0, None),
            (&[b"example", b"com"], 65, 0, None),
            (&[b"example", b"com"], 255, 0, None),
            (&[b"a", b"below", b"example"], 1, 0, Some([198, 18, 1, 2])),
            (&[b"b", b"a", b"below", b"example"], 1, 0, Some([198, 18, 1, 2])),
            (&[b"below", b"example"], 1, 3, None),
            (&[b"www", b"example", b"com"], 1, 3, None),
            (&[b"www", b"example", b"com"], 28, 3, None),
            (&[b"example.com"], 1, 3, None),
            (&[b"evil.net\0", b"below", b"example"], 1, 3, None),
            (&[b"evil.net", b"below", b"example"], 1, 3, None),
            (&[b"\x01", b"below", b"example"], 1, 3, None),
            (&[b"\xc3\xa4", b"below", b"example"], 1, 3, None),
            (&[b"example", b"com\0"], 1, 3, None),
            (&[], 1, 3, None),
            (&[b"1", b"2", b"3", b"4"], 1, 3, None),
            (&[&long, &long, &long, &[b'a'; 61]], 1, 3, None),
            (&[b"localhost"], 1, 0, Some([127, 0, 0, 1])),
            (&[b"1", b"1", b"18", b"198", b"in-addr", b"arpa"], 12, 3, None),
        ];
        for (labels, kind, code, address) in rows {
            let (got, given, log) = ask(labels, kind);
            let shown = shown(labels);
            assert_eq!((got, given), (code, address), "{shown} of type {kind}");
            let refused = log.iter().any(|entry| matches!(entry.outcome, Outcome::Refused(_)));
            assert_eq!(refused, code != 0 && !shown.ends_with("arpa"), "{shown} in the log");
            assert!(log.iter().all(|entry| entry.name.bytes().all(|byte| (32..127).contains(&byte))));
        }
    }

    #[test]
    fn what_is_no_plain_question_has_no_name_and_no_address() {
        let good = query(&[b"example", b"com"], 1);
        let changed = |place: usize, byte: u8| {
            let mut message = good.clone();
            message[place] = byte;
            message
        };
        let mut pointing = good[..12].to_vec();
        pointing.extend([0xc0, 12, 0, 1, 0, 1]);
        let mut after = good[..12].to_vec();
        after.extend([1, b'a', 0xc0, 12, 0, 1, 0, 1]);
        let rows = [
            ("control", good.clone(), Some(0)),
            ("a reply", changed(2, 0x81), None),
            ("another operation", changed(2, 0x29), Some(4)),
            ("cut off", changed(2, 0x03), Some(1)),
            ("no question", changed(5, 0), Some(1)),
            ("two questions", changed(5, 2), Some(1)),
            ("an answer", changed(7, 1), Some(1)),
            ("an authority", changed(9, 1), Some(1)),
            ("a record of the client", changed(11, 1), Some(0)),
            ("many records", changed(11, 3), Some(1)),
            ("another class", changed(good.len() - 1, 3), Some(5)),
            ("a name that is itself", pointing, Some(1)),
            ("a name that goes on elsewhere", after, Some(1)),
            ("a label of 64", changed(12, 64), Some(1)),
            ("a label past the end", changed(12, 63), Some(1)),
            ("short", good[..good.len() - 1].to_vec(), Some(1)),
            ("shorter than a header", good[..11].to_vec(), None),
            ("too long", [good.clone(), vec![0; LONGEST]].concat(), None),
        ];
        for (what, message, code) in rows {
            let reply = answer(&message, &names(), &Log::default());
            assert_eq!(reply.as_ref().map(|reply| reply[3] & 15), code, "{what}");
            let addresses = reply.map_or(0, |reply| reply[7]);
            assert_eq!(addresses, u8::from(code == Some(0)), "{what}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic_or_give_an_address_to_a_strange_name(
            mut message in prop::collection::vec(any::<u8>(), 0..600),
            plain in any::<bool>(),
        ) {
            if plain && message.len() >= 12 {
                message[..12].copy_from_slice(&[0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
            }
            if let Some(reply) = answer(&message, &names(), &Log::default()) {
                prop_assert!(reply.len() <= 512 && reply[7] == 0);
            }
        }
    }
}
