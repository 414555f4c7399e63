//! What is masked and what is not: tables, and generated tokens in generated places. Keeps SEC-5.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Text, and what is shown of it.
const MASKED_TEXTS: &[(&str, &str)] = &[
    // Headers.
    (
        "curl -H 'Authorization: Bearer abc123' https://x.test",
        "curl -H 'Authorization: [masked]' https://x.test",
    ),
    ("curl -H \"authorization: Basic dXNlcg==\" x", "curl -H \"authorization: [masked]\" x"),
    ("Authorization: Bearer abc", "Authorization: [masked]"),
    ("curl -H Authorization:abc x", "curl -H Authorization:[masked] x"),
    ("curl -H 'Cookie: sid=1; theme=dark' x", "curl -H 'Cookie: [masked]' x"),
    ("curl -H 'X-Api-Key: abc def' x", "curl -H 'X-Api-Key: [masked] def' x"),
    ("echo Bearer aB3xY9qq", "echo Bearer [masked]"),
    ("http x 'PRIVATE-TOKEN: hunter2'", "http x 'PRIVATE-TOKEN: [masked]'"),
    // Options.
    ("tool --password hunter2 -v", "tool --password [masked] -v"),
    ("tool --password=hunter2 -v", "tool --password=[masked] -v"),
    ("tool --password 'two words' -v", "tool --password '[masked]' -v"),
    ("tool --password=\"two words\" -v", "tool --password=\"[masked]\" -v"),
    ("tool -token hunter2", "tool -token [masked]"),
    ("tool --db-pass hunter2", "tool --db-pass [masked]"),
    ("tool --api-key hunter2; ls", "tool --api-key [masked]; ls"),
    ("tool --auth user:pw", "tool --auth [masked]"),
    ("tool --client-secret=a&& ls", "tool --client-secret=[masked]&& ls"),
    // Assignments and fields.
    ("TOKEN=abc ls", "TOKEN=[masked] ls"),
    ("export DB_PASSWORD='a b'", "export DB_PASSWORD='[masked]'"),
    ("PGPASSWORD=x psql", "PGPASSWORD=[masked] psql"),
    ("curl -d 'user=a&password=b&page=2' x", "curl -d 'user=a&password=[masked]&page=2' x"),
    ("curl 'https://x.test/?api_key=abc&page=2'", "curl 'https://x.test/?api_key=[masked]&page=2'"),
    (
        "curl -d '{\"user\": \"a\", \"password\": \"b c\"}' x",
        "curl -d '{\"user\": \"a\", \"password\": \"[masked]\"}' x",
    ),
    (
        "curl -d \"{\\\"token\\\":\\\"b\\\",\\\"a\\\":1}\" x",
        "curl -d \"{\\\"token\\\":\\\"[masked]\\\",\\\"a\\\":1}\" x",
    ),
    ("{\"client_secret\": \"x\"}", "{\"client_secret\": \"[masked]\"}"),
    ("password: hunter2", "password: [masked]"),
    ("password:hunter2", "password:[masked]"),
    ("PassWord : x", "PassWord : x"),
    ("Server=db;User Id=a;Password=b;Encrypt=yes", "Server=db;User Id=a;Password=[masked];Encrypt=yes"),
    ("Server=db;Uid=a;Pwd=b;", "Server=db;Uid=a;Pwd=[masked];"),
    ("AccountName=x;AccountKey=abc==;EndpointSuffix=y", "AccountName=x;AccountKey=[masked];EndpointSuffix=y"),
    ("python -c \"password = 'x'\"", "python -c \"password = '[masked]'\""),
    ("openssl enc -pass pass:hunter2 -in f", "openssl enc -pass [masked] -in f"),
    ("openssl rsa -passin pass:hunter2", "openssl rsa -passin pass:[masked]"),
    (
        "psql -c \"ALTER USER bob WITH PASSWORD 'hunter2'\"",
        "psql -c \"ALTER USER bob WITH PASSWORD '[masked]'\"",
    ),
    ("aws configure set aws_secret_access_key abc", "aws configure set aws_secret_access_key [masked]"),
    ("npm config set //r.test/:_authToken=abc", "npm config set //r.test/:_authToken=[masked]"),
    ("echo \"a\\npassword=x\" > f", "echo \"a\\npassword=[masked]\" > f"),
    (
        "kubectl create secret generic a --from-literal=password=x",
        "kubectl create secret generic a --from-literal=password=[masked]",
    ),
    ("TOKEN='$literal'", "TOKEN='[masked]'"),
    ("TOKEN=${TOKEN:-hunter2}", "TOKEN=[masked]"),
    // Programs.
    ("mysql -u root -phunter2 db", "mysql -u root -p[masked] db"),
    ("mysql -p!secret db", "mysql -p[masked] db"),
    ("mysqldump -p'a b' db", "mysqldump -p'[masked]' db"),
    ("curl -u bob:hunter2 x", "curl -u bob:[masked] x"),
    ("curl -ubob:hunter2 x", "curl -ubob:[masked] x"),
    ("curl --user 'bob:hunter2' x", "curl --user 'bob:[masked]' x"),
    ("curl --user=bob:hunter2 x", "curl --user=bob:[masked] x"),
    ("sshpass -p hunter2 ssh h", "sshpass -p [masked] ssh h"),
    ("redis-cli -a hunter2 ping", "redis-cli -a [masked] ping"),
    ("docker login -u a -p hunter2 r.test", "docker login -u a -p [masked] r.test"),
    ("smbclient -U bob%hunter2 //h/s", "smbclient -U bob%[masked] //h/s"),
    ("zip -P hunter2 a.zip b", "zip -P [masked] a.zip b"),
    ("npm config set //r.test/:_authToken hunter2", "npm config set //r.test/:_authToken [masked]"),
    ("keytool -list -storepass hunter2 -v", "keytool -list -storepass [masked] -v"),
    ("keytool -keypass hunter2", "keytool -keypass [masked]"),
    ("twine upload -u bob -p hunter2 dist/a", "twine upload -u bob -p [masked] dist/a"),
    ("ssh-keygen -t rsa -N hunter2 -f k", "ssh-keygen -t rsa -N [masked] -f k"),
    ("ssh-keygen -p -P 'old one' -N \"new one\"", "ssh-keygen -p -P '[masked]' -N \"[masked]\""),
    ("htpasswd -b f bob hunter2", "htpasswd -b f bob [masked]"),
    ("htpasswd -cB -b f bob 'hunter 2'; ls f", "htpasswd -cB -b f bob '[masked]'; ls f"),
    ("htpasswd -nbB bob hunter2", "htpasswd -nbB bob [masked]"),
    ("gh auth login --with-token <<< hunter2", "gh auth login --with-token <<< [masked]"),
    ("docker login --password-stdin <<<'hunter2'", "docker login --password-stdin <<<'[masked]'"),
    // Places.
    ("git clone https://bob:hunter2@git.test/r.git", "git clone https://bob:[masked]@git.test/r.git"),
    ("psql postgres://u:p@h/db", "psql postgres://u:[masked]@h/db"),
    ("psql 'postgres://u:p/w@h:5432/db?x=1'", "psql 'postgres://u:[masked]@h:5432/db?x=1'"),
    ("redis://:hunter2@h:6379", "redis://:[masked]@h:6379"),
    ("ftp bob:hunter2@files.test", "ftp bob:[masked]@files.test"),
    ("git clone https://abcdefghij0123456789@git.test/r", "git clone https://[masked]@git.test/r"),
    // Shapes.
    ("echo AKIAIOSFODNN7EXAMPLE", "echo [masked]"),
    (
        "git push https://x-access-token:ghp_0123456789abcdefghijABCDEFGHIJ012345@github.com/a/b",
        "git push https://x-access-token:[masked]@github.com/a/b",
    ),
    ("echo sk-ant-api03-abcdefghijklmnop_qrst", "echo [masked]"),
    ("slack xoxb-123456789012-abcdefghijkl", "slack [masked]"),
    ("x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_123 y", "x [masked] y"),
    (
        "curl -X POST https://hooks.slack.com/services/T00000000/B00000000/abcdefghijklmnopqrstuvwx",
        "curl -X POST https://[masked]",
    ),
    ("a-ghp_0123456789abcdefghijABCDEFGHIJ012345", "a-[masked]"),
    ("k='-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----'; ls", "k='[masked]'; ls"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nabc", "[masked]"),
    ("echo d41d8cd98f00b204e9800998ecf8427e", "echo [masked]"),
];

/// Text that holds no secret.
const PLAIN_TEXTS: &[&str] = &[
    "",
    "ls -la",
    "cat $TOKEN_FILE",
    "curl -H \"Authorization: Bearer $TOKEN\" https://x.test",
    "curl -H \"Authorization: Bearer ${TOKEN}\" https://x.test",
    "export TOKEN=$(cat token.txt)",
    "TOKEN=$TOKEN ls",
    "TOKEN=\"${TOKEN}\" ls",
    "tool --password \"$PASSWORD\"",
    "tool --password-stdin < f",
    "tool --no-password x",
    "docker login --password-stdin r.test",
    "gh auth login --with-token < f",
    "gh auth login --with-token <<< $TOKEN",
    "npm config set registry https://r.test",
    "set -e; ls",
    "htpasswd f bob",
    "htpasswd -c f bob; ls x",
    "htpasswd -b f bob $PASSWORD",
    "twine check -p dist",
    "ssh-keygen -t rsa -N '' -f k",
    "docker run -p 8080:80 -v $PWD:/app -w /app img",
    "PWD=/work ls",
    "mkdir -p src/a",
    "git commit -m 'auth: fix the login'",
    "git commit -m 'token: handle expiry in parser'",
    "git commit -m \"fix(auth): password reset\"",
    "grep -rn 'password:' src/",
    "grep -rn \"password=\" src/ | wc -l",
    "grep -r password .",
    "kubectl get secret my-secret -o yaml",
    "curl --max-tokens 100 x",
    "python train.py --num_tokens=512 --tokenizer=gpt2",
    "git checkout 0123456789abcdef0123456789abcdef01234567",
    "docker pull img@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "docker pull repo:tag@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "echo 123e4567-e89b-12d3-a456-426614174000",
    "cat /usr/share/doc/libfoo-bar-dev/examples/config/settings.example",
    "cat src/components/UserAccountSettings/NotificationPreferences/index.test.tsx",
    "npx create-react-app my-very-long-application-name-for-testing",
    "echo getUserAccountInformationByIdentifierAndReturnNothing",
    "sleep 12345678901234567890123456789012345678901234567890",
    "https://example.com/a/very/long/path/with/many/parts?page=2&sort=name",
    "git clone git@github.com:org/repo.git",
    "git clone ssh://git@github.com/org/repo.git",
    "npm install lodash@npm:lodash-es@4.17.21",
    "pip install package==1.2.3 --index-url https://packages.example/simple",
    "rsync -av user@host:/path/ ./local",
    "scp file.txt user@192.168.0.1:/tmp",
    "sort --key=2,3 file",
    "ssh -p 2222 host",
    "mysql -u root -p db",
    "curl -u bob x",
    "git log --author=bob --format='%h %s'",
    "aws s3 ls s3://my-bucket-name/with/a/prefix --region us-east-1",
    "cargo build --target x86_64-unknown-linux-musl --release",
    "echo 'if (token == null) return'",
    "test \"$password\" = x",
    "token = fetch_token(user)",
    "ansible-playbook site.yml --limit web-servers-production-eu-west-1",
    "echo \"the bearer of bad news\"",
    "Bearer authentication is described in the manual",
];

#[test]
fn secrets_in_text_are_replaced() {
    for (text, expected) in MASKED_TEXTS {
        assert_eq!(&mask(text), expected, "{text}");
    }
}

#[test]
fn text_without_secrets_is_left_as_it_is() {
    for text in PLAIN_TEXTS {
        assert_eq!(&mask(text), text);
        assert!(matches!(mask(text), Cow::Borrowed(_)), "{text}");
    }
}

#[test]
fn what_was_masked_stays_as_it_is() {
    for (text, expected) in MASKED_TEXTS {
        assert_eq!(&mask(expected), expected, "{text}");
    }
}

#[test]
fn words_of_a_command_are_masked_together() {
    let table: &[(&[&str], &[&str])] = &[
        (&["tool", "--password", "a b", "x"], &["tool", "--password", "[masked]", "x"]),
        (&["tool", "--password=a b", "x"], &["tool", "--password=[masked]", "x"]),
        (&["env", "TOKEN=a b", "x"], &["env", "TOKEN=[masked]", "x"]),
        (&["tool", "--password", "-v"], &["tool", "--password", "-v"]),
        (&["tool", "--password", "$PASSWORD"], &["tool", "--password", "$PASSWORD"]),
        (&["curl", "-H", "Authorization: Bearer a b"], &["curl", "-H", "Authorization: [masked]"]),
        (&["curl", "-u", "a:b:c"], &["curl", "-u", "a:[masked]"]),
        (&["/usr/bin/curl", "-ua:b"], &["/usr/bin/curl", "-ua:[masked]"]),
        (&["curl", "--user=a:b"], &["curl", "--user=a:[masked]"]),
        (&["sudo", "mysql", "-pa b"], &["sudo", "mysql", "-p[masked]"]),
        (&["sshpass", "-p", "a", "ssh"], &["sshpass", "-p", "[masked]", "ssh"]),
        (&["docker", "run", "-p", "80:80"], &["docker", "run", "-p", "80:80"]),
        (&["docker", "login", "-p", "a"], &["docker", "login", "-p", "[masked]"]),
        (&["sh", "-c", "tool --token a; ls"], &["sh", "-c", "tool --token [masked]; ls"]),
        (
            &["http", "x", "Authorization:", "Bearer", "a"],
            &["http", "x", "Authorization:", "[masked]", "[masked]"],
        ),
        (&["mkdir", "-p", "a"], &["mkdir", "-p", "a"]),
        (
            &["npm", "config", "set", "//r.test/:_authToken", "a"],
            &["npm", "config", "set", "//r.test/:_authToken", "[masked]"],
        ),
        (
            &["aws", "configure", "set", "aws_secret_access_key", "a"],
            &["aws", "configure", "set", "aws_secret_access_key", "[masked]"],
        ),
        (&["aws", "configure", "set", "region", "a"], &["aws", "configure", "set", "region", "a"]),
        (&["keytool", "-storepass", "a"], &["keytool", "-storepass", "[masked]"]),
        (&["twine", "upload", "-p", "a", "f"], &["twine", "upload", "-p", "[masked]", "f"]),
        (&["ssh-keygen", "-N", "a b", "-f", "k"], &["ssh-keygen", "-N", "[masked]", "-f", "k"]),
        (&["htpasswd", "-b", "f", "bob", "a"], &["htpasswd", "-b", "f", "bob", "[masked]"]),
        (&["/bin/htpasswd", "-nbB", "bob", "a"], &["/bin/htpasswd", "-nbB", "bob", "[masked]"]),
        (&["htpasswd", "f", "bob", "a"], &["htpasswd", "f", "bob", "a"]),
        (&[], &[]),
    ];
    for (words, expected) in table {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(&mask_argv(&words), expected);
    }
}

#[test]
fn json_is_masked_by_key_and_by_text() {
    let given = json!({
        "password": "x", "n": {"api_key": 7, "user": "a", "credentials": {"id": "u", "list": ["v", true, null]}},
        "args": ["--token", "x"], "text": "token=x", "mixed": [1, "token=x"], "ok": "plain",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345": 1, "auth": "",
    });
    let expected = json!({
        "password": "[masked]",
        "n": {"api_key": "[masked]", "user": "a", "credentials": {"id": "[masked]", "list": ["[masked]", true, null]}},
        "args": ["--token", "[masked]"], "text": "token=[masked]", "mixed": [1, "token=[masked]"], "ok": "plain",
        "[masked]": 1, "auth": "",
    });
    assert_eq!(mask_json(&given), expected);
}

/// A small generator of our own: the same tokens in every run.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % below as u64).unwrap()
    }

    fn of(&mut self, alphabet: &str, length: usize) -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        (0..length).map(|_| alphabet[self.next(alphabet.len())]).collect()
    }
}

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const WORD: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const CAPITALS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const BASE36: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &str = "0123456789abcdef";

/// Prefix, alphabet and length of well-known tokens, as their makers document or as they are seen.
const KINDS: &[(&str, &str, usize)] = &[
    ("AKIA", CAPITALS, 16),
    ("ASIA", CAPITALS, 16),
    ("ghp_", ALNUM, 36),
    ("gho_", ALNUM, 36),
    ("ghu_", ALNUM, 36),
    ("ghs_", ALNUM, 36),
    ("ghr_", ALNUM, 36),
    ("github_pat_", ALNUM, 82),
    ("glpat-", WORD, 20),
    ("gldt-", WORD, 20),
    ("glrt-", WORD, 20),
    ("xoxb-", "0123456789", 24),
    ("xoxp-", ALNUM, 60),
    ("xapp-1-", ALNUM, 40),
    ("sk_live_", ALNUM, 24),
    ("rk_live_", ALNUM, 24),
    ("sk_test_", ALNUM, 24),
    ("sk-", ALNUM, 48),
    ("sk-proj-", WORD, 48),
    ("sk-ant-api03-", WORD, 93),
    ("AIza", WORD, 35),
    ("ya29.", WORD, 60),
    ("GOCSPX-", WORD, 28),
    ("npm_", ALNUM, 36),
    ("pypi-AgEIcHlwaS5vcmc", WORD, 60),
    ("hf_", ALNUM, 34),
    ("dop_v1_", HEX, 64),
    ("SK", HEX, 32),
    ("shpat_", HEX, 32),
    ("dapi", HEX, 32),
    ("dckr_pat_", WORD, 27),
    ("hvs.", WORD, 90),
    ("lin_api_", ALNUM, 40),
    ("rubygems_", HEX, 48),
    ("glsa_", ALNUM, 41),
    ("gsk_", ALNUM, 52),
    ("xai-", ALNUM, 80),
    ("r8_", ALNUM, 37),
    ("tskey-auth-", ALNUM, 34),
    ("whsec_", ALNUM, 32),
    ("pul-", HEX, 40),
    ("ATATT3", WORD, 180),
    ("NRAK-", CAPITALS, 27),
    ("PMAK-", HEX, 59),
    ("figd_", WORD, 40),
    ("sntrys_", WORD, 60),
    ("", ALNUM, 32),
    ("", ALNUM, 40),
    ("", ALNUM, 64),
    ("", WORD, 43),
    ("", WORD, 86),
    ("", BASE64, 40),
    ("", BASE64, 44),
    ("", BASE64, 88),
    ("", HEX, 32),
    ("", HEX, 48),
    ("", HEX, 128),
    ("", BASE32, 52),
    ("", BASE36, 40),
];

/// Places where the token itself must be noticed, `@` for the token.
const PLACES: &[&str] = &[
    "@",
    "echo @",
    "tool login @ --verbose",
    "curl 'https://x.test/v1/@/me'",
    "X=@ ls",
    "echo \"value @ here\"",
    "tool -k @",
    "printf '%s' '@' | tool",
    "tool --option=@",
    "[@]",
];

/// Places where the name or the neighbours tell that anything is a secret, `@` for it.
const NAMED_PLACES: &[&str] = &[
    "tool --password @",
    "tool --password=@",
    "tool --password '@'",
    "TOKEN=@ tool",
    "export API_KEY=\"@\"",
    "curl -H 'Authorization: Bearer @' x",
    "curl -H \"X-Auth-Token: @\" x",
    "curl -u user:@ x",
    "git clone https://user:@@@host.test/r",
    "psql postgres://u:@@@h/db",
    "mysql -p@ db",
    "sshpass -p @ ssh h",
    "echo 'password: @'",
    "curl -d '{\"secret\": \"@\"}' x",
    "curl -d 'a=1&access_token=@&b=2' x",
    "Server=s;Password=@;Database=d",
    "tool --api-key @ --verbose",
    "docker login -u u -p @",
    "redis-cli -a @",
    "aws configure set aws_secret_access_key @",
];

/// The tests put `@` for the token; where the text itself needs an `@`, it is written `@@@`.
fn filled(place: &str, token: &str) -> String {
    place.replace("@@@", "\u{1}\u{2}").replace('@', "\u{1}").replace('\u{1}', token).replace('\u{2}', "@")
}

#[test]
fn of_generated_tokens_at_most_one_in_two_hundred_is_missed() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut cases, mut missed) = (0_usize, Vec::new());
    for (prefix, alphabet, length) in KINDS {
        for place in PLACES {
            for _ in 0..10 {
                let token = format!("{prefix}{}", random.of(alphabet, *length));
                let text = filled(place, &token);
                cases += 1;
                // The longest part that no prefix gives away must be gone.
                let tail: String = token.chars().skip(prefix.len() + 8).take(12).collect();
                if mask(&text).contains(&tail) {
                    missed.push(text);
                }
            }
        }
    }
    let named =
        ["hunter2", "correct-horse", "Tr0ub4dor&3", "p4ss", "s3cr3t!", "abc", "x9", "qwerty", "0000", "äöü"];
    for place in NAMED_PLACES {
        for secret in named {
            let text = filled(place, secret);
            // `&` ends an unquoted word.
            if secret.contains('&') && !place.contains(['\'', '"']) {
                continue;
            }
            cases += 1;
            if mask(&text).contains(secret) {
                missed.push(text);
            }
        }
    }
    assert!(cases >= 5_000, "{cases}");
    assert!(missed.len() * 200 <= cases, "{} of {cases}: {missed:#?}", missed.len());
}

/// Parts of everyday commands.
const VERBS: &[&str] = &[
    "git commit -m",
    "cargo test -p",
    "npm run",
    "python3 -m",
    "docker build -t",
    "kubectl apply -f",
    "grep -rn",
    "ls -la",
    "pytest -k",
    "make -C",
    "terraform plan -out",
    "go test ./",
    "curl -sSL https://example.com/",
    "tar czf",
    "rg -n",
    "find . -name",
    "cat",
    "aws s3 cp s3://bucket/",
    "gh pr create --title",
    "pip install",
    "node scripts/",
    "vim",
    "ssh deploy@host.internal",
    "rsync -av host:/srv/",
    "psql -h localhost -U app -c",
    "jq '.items[]'",
    "sed -n 1,20p",
];
const NOUNS: &[&str] = &[
    "src/authentication/token_refresh_handler_test.rs",
    "my-company-frontend-application-production",
    "com.example.project.module.ServiceImplementationFactory",
    "feature/JIRA-1234-add-password-reset-to-login-form",
    "tests/integration/test_user_password_reset_flow.py::TestResetFlow::test_token_expiry",
    "v1.2.3-rc.4+build.567",
    "'fix: handle tokens that expire'",
    "\"Update the secret rotation docs\"",
    "0123456789abcdef0123456789abcdef01234567",
    "registry.example.com/team/service-name:2024-01-15-a1b2c3d",
    "--max-tokens=4096 --temperature 0.7",
    "node_modules/@babel/plugin-transform-modules-commonjs/lib/index.js",
    "x86_64-unknown-linux-gnu/release/deps",
    "123e4567-e89b-12d3-a456-426614174000",
    "$HOME/.config/app/settings.toml",
    "--format='{{.Names}}'",
    "'*.test.ts'",
    "target/debug/build/serde_json-4f3a2b1c9d8e7f6a/out",
    "'SELECT id, password_hash FROM users LIMIT 1'",
    "https://github.com/org/repo/blob/0123456789abcdef0123456789abcdef01234567/src/lib.rs#L10-L20",
    "aws_iam_role_policy_attachment.lambda_basic_execution_role",
    "20240115T120000Z-backup-of-the-database.sql.gz",
    "arn:aws:iam::123456789012:role/service-role/MyLambdaExecutionRole",
    "--key=value",
    "-p 8080:80",
    "author=alice",
    "ThisIsAVeryLongClassNameForAnAbstractFactoryBean",
    "AbstractSingletonProxyFactoryBeanTest#shouldReturnNull",
    "kube-system/coredns-5d78c9869d-abcde",
    "postgres://localhost:5432/app_test",
    "user@example.com",
    "a:b",
    "key: value",
];

#[test]
fn of_everyday_commands_at_most_one_in_two_hundred_is_touched() {
    let mut random = Random(0x0dd0_beef);
    let mut touched = Vec::new();
    let cases = 10_000;
    for _ in 0..cases {
        let verb = VERBS[random.next(VERBS.len())];
        let text = format!("{verb} {} {}", NOUNS[random.next(NOUNS.len())], NOUNS[random.next(NOUNS.len())]);
        if mask(&text) != text {
            touched.push(format!("{text} -> {}", mask(&text)));
        }
    }
    assert!(touched.len() * 200 <= cases, "{}: {:#?}", touched.len(), touched.get(..touched.len().min(20)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_can_be_masked_and_masking_twice_changes_nothing(text in any::<String>()) {
        let once = mask(&text).into_owned();
        prop_assert_eq!(mask(&once), once.as_str());
    }

    #[test]
    fn text_made_of_meaningful_pieces_can_be_masked(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "password", "token", "=", ":", " ", "\"", "'", "\\", "--", "-p", "curl", "-u", "@", "://", "a", "B7",
                "$(", ")", "${", "}", "\n", ";", "&", "Authorization", "Bearer", "eyJ", ".", "ghp_", "é", "-----BEGIN",
                "PRIVATE KEY", "-----END", "{", ",", "0123456789abcdefABCDEF", "set", "login", "docker",
            ]),
            0..40,
        )
    ) {
        let text = pieces.concat();
        let once = mask(&text).into_owned();
        let words: Vec<String> = pieces.iter().map(|piece| (*piece).to_owned()).collect();
        prop_assert_eq!(mask_argv(&words).len(), words.len());
        prop_assert!(once.len() <= text.len() + MASKED.len() * (pieces.len() + 1));
    }
}

#[test]
fn the_cost_grows_with_the_length_and_not_faster() {
    // Each would be quadratic for a scanner that looks ahead without a bound: at 64 KiB they would take minutes.
    let pieces = [
        "password=$(",
        "token=$(a)",
        "Authorization: $A ",
        "eyJ-",
        "a:b",
        "x://",
        "password='",
        "password=\\\"",
        "-----BEGIN ",
        "a&b=",
        "curl -u ",
        "=",
        "-",
        "Bearer ",
        "a_",
        "0aA",
        "/a",
        "'\"",
        "\"Cookie: ",
        "token = [",
    ];
    for piece in pieces {
        let text = piece.repeat(64 * 1024 / piece.len());
        let masked = mask(&text);
        assert!(masked.len() <= text.len() * 2, "{piece}");
    }
}
