//! Secrets that are known by where they stand: between a user and a host.

use super::scan::Scanner;

/// How far ahead an `@` is looked for.
const USERINFO: usize = 256;

/// Words that stand before a colon and an `@` without being a user: packages, addresses, fields of a search.
const NOT_USERS: &[&str] = &[
    "npm",
    "pkg",
    "workspace",
    "github",
    "gitlab",
    "file",
    "jsr",
    "gem",
    "cargo",
    "golang",
    "pypi",
    "patch",
    "portal",
    "link",
    "node",
    "mailto",
    "sip",
    "acct",
    "email",
    "cc",
    "author",
    "committer",
    "assignee",
    "reviewer",
];

impl Scanner<'_> {
    /// `scheme://user:password@host`, and `user:password@host` without a scheme.
    pub(super) fn colon(&mut self, colon: usize) {
        let with_scheme = self.bytes.get(colon..colon + 3) == Some(b"://");
        let from = if with_scheme { colon + 3 } else { colon + 1 };
        if self.next_at < from {
            let ahead = self.bytes.get(from..).unwrap_or_default();
            let at = ahead.iter().position(|byte| *byte == b'@');
            self.next_at = at.map_or(usize::MAX, |at| from + at);
        }
        if self.next_at.saturating_sub(from) > USERINFO {
            return;
        }
        if !with_scheme {
            return self.bare_userinfo(colon, from, self.next_at);
        }
        let ends = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'`');
        let ahead = self.bytes.get(from..).unwrap_or_default();
        let length = ahead.iter().take(USERINFO).take_while(|byte| !ends(**byte)).count();
        let rest = ahead.get(..length).unwrap_or_default();
        let last_at = |part: &[u8]| part.iter().rposition(|byte| *byte == b'@');
        let authority = rest.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(rest.len());
        let authority = rest.get(..authority).unwrap_or_default();
        let port = |after: &[u8]| after.iter().all(u8::is_ascii_digit);
        let colon_in = |part: &[u8]| part.iter().position(|byte| *byte == b':');
        let at = match (last_at(authority), colon_in(authority)) {
            (Some(at), _) => Some(at),
            // A password with a slash in it: `u:p/w@host`. What follows the colon of a host is a number.
            (None, Some(colon)) if !port(authority.get(colon + 1..).unwrap_or_default()) => last_at(rest),
            (None, _) => None,
        };
        let Some(at) = at else { return };
        let user = rest.get(..at).unwrap_or_default();
        match colon_in(user) {
            Some(colon) => self.hide_unless_reference(from + colon + 1..from + at),
            // A token in place of the user. `git@` and other names are none.
            None if user.len() >= 20 && user.iter().any(u8::is_ascii_digit) => self.hide(from..from + at),
            None => {}
        }
    }

    fn bare_userinfo(&mut self, colon: usize, from: usize, at: usize) {
        let password = self.bytes.get(from..at).unwrap_or_default();
        let host = self.bytes.get(at + 1..).unwrap_or_default();
        let user = self.bytes.get(self.before.clone()).unwrap_or_default();
        let adjoins = self.before.end == colon && !user.is_empty();
        let apart = self.before.start.checked_sub(1).and_then(|at| self.byte(at));
        let digest = host.starts_with(b"sha256:") || host.starts_with(b"sha512:");
        let version = !host.first().is_some_and(u8::is_ascii_alphanumeric)
            || (host.first().is_some_and(u8::is_ascii_digit)
                && host.iter().take(15).filter(|byte| **byte == b'.').count() < 3);
        let package = NOT_USERS.iter().any(|word| user == word.as_bytes());
        let plain = password.iter().any(|byte| {
            matches!(byte, b'/' | b'(' | b')' | b'{' | b'|' | b';' | b',' | b'"' | b'\'' | b'<' | b'>' | b'`')
                || byte.is_ascii_whitespace()
        });
        let inside = matches!(apart, Some(b'@' | b'/' | b'$' | b'{' | b':'));
        if adjoins && !(password.is_empty() || plain || digest || version || package || inside) {
            self.hide_unless_reference(from..at);
        }
    }
}
