//! The names that secrets go by: of variables, keys, headers and options. To teach a new one, add it here.

/// A name that ends in one of these words names a secret, however its words are joined: `DB_PASSWORD`, `X-Api-Key`,
/// `clientSecret`, `--auth-token`.
const ENDINGS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "credential",
    "credentials",
    "bearer",
    "authorization",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "encryptionkey",
    "signingkey",
    "authkey",
    "accountkey",
    "masterkey",
    "licensekey",
    "privkey",
    "secretaccesskey",
    "connectionstring",
    "requirepass",
    "storepass",
    "keypass",
    "sessid",
    "jwt",
    "setcookie",
];

/// A name that is one of these words, or ends in one after a separator, names a secret: `db_pass`, but not `compass`.
const WORDS: &[&str] = &["pass", "auth", "pwd", "passw", "pw", "sig", "cookie", "otp", "psk"];

/// These are not words that end in a secret, although they look so.
const HARMLESS: &[&str] =
    &["oldpwd", "nopassword", "notoken", "noauth", "nosecret", "nextpagetoken", "eventauth"];

/// What a name says about the value that follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    /// Nothing.
    Plain,
    /// It is secret.
    Secret,
    /// It is secret if an `=` or an option brings it; `auth: fix the login` is prose.
    SecretIfSet,
    /// It is secret, and the whole rest of the header line is the value.
    Header,
}

/// What `name` says about its value. Dashes before it do not count.
pub(super) fn name(name: &[u8]) -> Name {
    // Only the last letters decide, so a name of any length costs the same.
    let mut buffer = [0_u8; 24];
    let mut filled = 0;
    // Where the last word begins: after a separator, or at a capital that follows a small letter.
    let mut word = 0;
    let tail = name.get(name.len().saturating_sub(buffer.len())..).unwrap_or(name);
    let mut before = b'-';
    for byte in tail {
        if matches!(byte, b'_' | b'-' | b'.') {
            word = filled;
        } else if let Some(slot) = buffer.get_mut(filled) {
            if byte.is_ascii_uppercase() && before.is_ascii_lowercase() {
                word = filled;
            }
            *slot = byte.to_ascii_lowercase();
            filled += 1;
        }
        before = *byte;
    }
    let squeezed = buffer.get(..filled).unwrap_or_default();
    // Every word of the lists ends in one of these letters; most names end here.
    if !matches!(
        squeezed.last(),
        Some(b'd' | b'e' | b't' | b'n' | b'l' | b's' | b'r' | b'y' | b'g' | b'h' | b'w' | b'p' | b'k')
    ) {
        return Name::Plain;
    }
    if HARMLESS.iter().any(|word| squeezed == word.as_bytes()) {
        return Name::Plain;
    }
    let last_word = squeezed.get(word..).unwrap_or_default();
    if matches!(squeezed, b"authorization" | b"proxyauthorization" | b"cookie" | b"setcookie") {
        return Name::Header;
    }
    // Their last letters tell most of them apart, without a call for each.
    let last = squeezed.last();
    if ENDINGS.iter().map(|ending| ending.as_bytes()).any(|it| it.last() == last && squeezed.ends_with(it)) {
        return Name::Secret;
    }
    if WORDS.iter().any(|one| last_word == one.as_bytes()) {
        return Name::SecretIfSet;
    }
    Name::Plain
}

/// How a program takes a password by an option that means something else to other programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// In the next word: `sshpass -p secret`.
    Next,
    /// In the same word: `mysql -psecret`.
    Attached,
    /// In either.
    Either,
    /// After a colon, in the next or the same word: `curl -u user:secret`.
    AfterColon,
    /// After a percent sign, in the next or the same word: `smbclient -U user%secret`.
    AfterPercent,
}

/// A program and its options for passwords.
pub(super) struct Habit {
    /// A word that must come before the options count: `docker login -p`, but not `docker run -p`.
    pub(super) after: Option<&'static str>,
    /// The options.
    pub(super) options: &'static [(&'static str, Way)],
}

/// Programs and their habits.
static HABITS: &[(&[&str], Habit)] = &[
    (
        &[
            "mysql",
            "mysqldump",
            "mysqladmin",
            "mysqlimport",
            "mysqlsh",
            "mariadb",
            "mariadb-dump",
            "7z",
            "7za",
            "7zr",
            "rar",
            "unrar",
        ],
        Habit { after: None, options: &[("-p", Way::Attached)] },
    ),
    (
        &["sshpass", "mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport"],
        Habit { after: None, options: &[("-p", Way::Either)] },
    ),
    (
        &["curl"],
        Habit {
            after: None,
            options: &[
                ("-u", Way::AfterColon),
                ("-U", Way::AfterColon),
                ("--user", Way::AfterColon),
                ("--proxy-user", Way::AfterColon),
                ("-b", Way::Next),
                ("--cookie", Way::Next),
            ],
        },
    ),
    (
        &["http", "https", "xh"],
        Habit { after: None, options: &[("-a", Way::AfterColon), ("--auth", Way::AfterColon)] },
    ),
    (&["redis-cli"], Habit { after: None, options: &[("-a", Way::Next)] }),
    (
        &["docker", "podman", "nerdctl", "helm", "buildah", "skopeo", "oras", "az"],
        Habit { after: Some("login"), options: &[("-p", Way::Either)] },
    ),
    (
        &["sqlcmd", "bcp", "osql", "zip", "unzip", "zipcloak"],
        Habit { after: None, options: &[("-P", Way::Either)] },
    ),
    (
        &["ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldappasswd", "ldapwhoami"],
        Habit { after: None, options: &[("-w", Way::Either), ("-s", Way::Next)] },
    ),
    (
        &["smbclient", "rpcclient", "smbmap"],
        Habit { after: None, options: &[("-U", Way::AfterPercent), ("--user", Way::AfterPercent)] },
    ),
    (
        &["snmpwalk", "snmpget", "snmpset"],
        Habit { after: None, options: &[("-A", Way::Next), ("-X", Way::Next), ("-c", Way::Next)] },
    ),
    (&["xfreerdp", "rdesktop"], Habit { after: None, options: &[("-p", Way::Either)] }),
    (&["twine"], Habit { after: Some("upload"), options: &[("-p", Way::Either)] }),
    (&["ssh-keygen"], Habit { after: None, options: &[("-N", Way::Either), ("-P", Way::Either)] }),
];

/// `htpasswd -b FILE USER PASSWORD`, and with `-n` without the file: the password has no option of its own, it is the last of
/// the operands. How many come before it; nothing where the option is none of these.
pub(super) fn before_password(option: &[u8]) -> Option<usize> {
    let letters = option.strip_prefix(b"-").filter(|letters| letters.iter().all(u8::is_ascii_alphabetic))?;
    letters.contains(&b'b').then(|| if letters.contains(&b'n') { 1 } else { 2 })
}

/// The program whose [last operand](before_password) is a password.
pub(super) const BY_PLACE: &[u8] = b"htpasswd";

/// How long the names are that begin with a letter, a bit for each length: most words are compared with none of them.
static LENGTHS: [u32; 256] = {
    let mut table = [0; 256];
    let mut row = 0;
    while row < HABITS.len() {
        #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
        let names = HABITS[row].0;
        let mut name = 0;
        while name < names.len() {
            #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
            {
                let name = names[name].as_bytes();
                table[name[0] as usize] |= 1 << name.len();
            }
            name += 1;
        }
        row += 1;
    }
    table
};

/// What is known of a program.
pub(super) fn habit(program: &[u8]) -> Option<&'static Habit> {
    let lengths = LENGTHS.get(usize::from(*program.first()?))?;
    let length = u32::try_from(program.len()).ok()?;
    if lengths.checked_shr(length).unwrap_or_default() & 1 == 0 {
        return None;
    }
    let known = |(names, _): &&(&[&str], Habit)| names.iter().any(|name| name.as_bytes() == program);
    HABITS.iter().find(known).map(|(_, habit)| habit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_in_the_list_is_found_by_its_name_and_nothing_else_is() {
        for (names, habit_of_these) in HABITS {
            for name in *names {
                assert!(
                    habit(name.as_bytes()).is_some_and(|found| std::ptr::eq(found, habit_of_these)),
                    "{name}"
                );
            }
        }
        for other in ["", "m", "mysqlx", "cur", "Curl", "cargo", &"m".repeat(40)] {
            assert!(habit(other.as_bytes()).is_none(), "{other}");
        }
    }

    #[test]
    fn names_are_told_apart() {
        let table = [
            ("password", Name::Secret),
            ("DB_PASSWORD", Name::Secret),
            ("--db-password", Name::Secret),
            ("userPassword", Name::Secret),
            ("clientSecret", Name::Secret),
            ("X-Api-Key", Name::Secret),
            ("api.key", Name::Secret),
            ("AWS_SECRET_ACCESS_KEY", Name::Secret),
            ("a_very_long_prefix_for_a_name_of_a_token", Name::Secret),
            ("_authToken", Name::Secret),
            ("Authorization", Name::Header),
            ("proxy-authorization", Name::Header),
            ("Cookie", Name::Header),
            ("--auth", Name::SecretIfSet),
            ("db_pass", Name::SecretIfSet),
            ("dbPass", Name::SecretIfSet),
            ("PWD", Name::SecretIfSet),
            ("OLDPWD", Name::Plain),
            ("--no-auth", Name::Plain),
            ("compass", Name::Plain),
            ("oauth", Name::Plain),
            ("max_tokens", Name::Plain),
            ("tokenizer", Name::Plain),
            ("key", Name::Plain),
            ("public_key", Name::Plain),
            ("--password-stdin", Name::Plain),
            ("author", Name::Plain),
            ("", Name::Plain),
            ("---", Name::Plain),
        ];
        for (text, expected) in table {
            assert_eq!(name(text.as_bytes()), expected, "{text}");
        }
    }
}
