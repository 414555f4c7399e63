//! What the probes are let loose on: a home full of secrets, a neighbour's home, a workspace, files and sockets outside,
//! victims. All of it is made for one run and ended and removed after it.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::runner::{Who, ground, install, is_root, probe};
use crate::servers::Servers;
use crate::trace::{self, Trace};

/// One line of `probe list`.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) family: String,
    pub(crate) name: String,
    pub(crate) judge: String,
    pub(crate) needs: Vec<String>,
    pub(crate) place: String,
    pub(crate) past: String,
}

/// Every probe there is.
pub(crate) fn rows() -> Vec<Row> {
    let output = Command::new(probe()).arg("list").output().expect("the probes");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines()
        .map(|line| {
            let parts: Vec<&str> = line.split('\t').collect();
            Row {
                family: parts[0].to_owned(),
                name: parts[1].to_owned(),
                judge: parts[2].to_owned(),
                needs: parts[3].split(',').filter(|need| !need.is_empty()).map(str::to_owned).collect(),
                place: parts[4].to_owned(),
                past: parts[5].to_owned(),
            }
        })
        .collect()
}

impl Row {
    fn has_victim(&self) -> bool {
        let name = self.name.as_str();
        self.judge == "victim"
            || name.contains("victim")
            || name.starts_with("memory_")
            || name.starts_with("enter_")
            || ["steal_descriptor", "trace_seize"].contains(&name)
    }
}

/// A directory of our own, gone when dropped.
pub(crate) struct Ground {
    pub(crate) root: PathBuf,
}

impl Ground {
    pub(crate) fn new() -> Ground {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = ground().join(format!("fence-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&root).expect("a directory");
        Ground { root }
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.root.join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(&path, text).expect("a file");
        path
    }

    /// Gives all of it to a user.
    pub(crate) fn give(&self, who: Who) {
        self.give_below("", who);
    }

    pub(crate) fn give_below(&self, name: &str, who: Who) {
        give(&self.root.join(name), who);
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.root));
    }
}

/// Gives a tree to a user.
pub(crate) fn give(path: &Path, who: Who) {
    if let Some((user, group)) = who.ids() {
        given(path, user, group);
    }
}

fn given(path: &Path, user: u32, group: u32) {
    drop(lchown(path, Some(user), Some(group)));
    if path.is_dir() && !path.is_symlink() {
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            given(&entry.path(), user, group);
        }
    }
}

pub(crate) fn executable(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a file of ours");
}

struct Victim {
    name: String,
    child: Child,
    input: Option<ChildStdin>,
}

/// The whole setting.
pub(crate) struct Setting {
    pub(crate) ground: Ground,
    pub(crate) who: Who,
    pub(crate) servers: Servers,
    /// Stands in every secret, and in nothing that a probe may know.
    pub(crate) canary: String,
    victims: Vec<Victim>,
    objects: Child,
    other_terminal: Child,
    elsewhere: Vec<(&'static str, PathBuf)>,
    before: Trace,
}

const SECRETS: &[&str] = &[
    ".ssh/id_rsa",
    ".aws/credentials",
    ".cargo/credentials.toml",
    ".bash_history",
    ".config/gh/hosts.yml",
    ".config/gcloud/credentials.db",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".docker/config.json",
    ".kube/config",
    ".gnupg/private-keys-v1.d/key.key",
    ".mozilla/firefox/default/logins.json",
    ".config/google-chrome/Default/Cookies",
    ".local/share/keyrings/login.keyring",
    ".password-store/bank.gpg",
    ".claude/.credentials.json",
    ".codex/auth.json",
    "Documents/letter.txt",
    ".local/state/bailiwick/digest.key",
];

impl Setting {
    pub(crate) fn new(who: Who, rows: &[Row]) -> Setting {
        let ground = Ground::new();
        let root = ground.root.clone();
        let label = root.file_name().expect("a name").to_string_lossy().into_owned();
        let canary = format!("CANARY-{}", random());
        install(&root);
        for name in SECRETS {
            ground.file(&format!("home/{name}"), &format!("{canary}\n"));
        }
        ground.file(&format!("home/.ssh/CANARYNAME-{label}"), "");
        symlink(&canary, root.join("home/.ssh/link")).expect("a link");
        ground.file("home/.bashrc", "# untouched\n");
        ground.file("home/.gitconfig", "[user]\n\tname = Nobody\n\temail = nobody@example.com\n");
        ground.file("home/.config/bailiwick/config.yaml", "config_version: 1\n");
        ground.file("home/.local/state/bailiwick/journal.jsonl", &format!("{{\"canary\": \"{canary}\"}}\n"));
        ground.file("other/.bashrc", "# untouched\n");
        ground.file("other/letter.txt", &format!("{canary}\n"));
        ground.file("other/.ssh/id_rsa", &format!("{canary}\n"));
        ground.file("program-copy", "untouched\n");
        ground.file("work/.env", &format!("TOKEN={canary}\n"));
        ground.file("work/.bailiwick.yaml", "config_version: 1\n");
        ground.file("work/.git/HEAD", "ref: refs/heads/main\n");
        ground.file("work/.git/config", "[core]\n\trepositoryformatversion = 0\n");
        ground.file("work/.git/hooks/post-checkout", "#!/bin/sh\n");
        std::fs::create_dir_all(root.join("work/.git/objects")).expect("a directory");
        std::fs::create_dir_all(root.join("work/.git/refs/heads")).expect("a directory");
        std::fs::create_dir_all(root.join("work/links")).expect("a directory");
        symlink(root.join("outside"), root.join("work/links/outside")).expect("a link");
        symlink(root.join("home"), root.join("work/links/home")).expect("a link");
        for row in rows {
            let own = format!("outside/{}", row.name);
            ground.file(&format!("{own}/file"), &format!("untouched\n{}", "-".repeat(4096)));
            ground.file(&format!("{own}/secret"), &format!("{canary}\n"));
            std::fs::create_dir_all(root.join(&own).join("directory")).expect("a directory");
        }
        ground.file(&format!("outside/CANARYNAME-{label}"), "");
        let elsewhere: Vec<(&'static str, PathBuf)> =
            [("TMP_FILE", "/tmp"), ("VAR_TMP_FILE", "/var/tmp"), ("SHM_FILE", "/dev/shm")]
                .map(|(key, place)| (key, Path::new(place).join(format!("CANARYNAME-{label}"))))
                .into();
        for (_, path) in &elsewhere {
            std::fs::write(path, format!("{canary}\n")).expect("a file in a temporary directory");
        }
        for name in ["probe", "gain-setuid", "gain-capable", "gain-plain"] {
            std::fs::copy(probe(), root.join("work").join(name)).expect("a copy of the probes");
            executable(&root.join("work").join(name), 0o755);
        }
        ground.give(who);
        if let Some((user, group)) = who.ids() {
            for (_, path) in &elsewhere {
                lchown(path, Some(user), Some(group)).expect("root may");
            }
            // The neighbour is somebody else: what is open there is open to all.
            given(&root.join("other"), 0, 0);
            std::fs::set_permissions(root.join("other/.ssh/id_rsa"), std::fs::Permissions::from_mode(0o600))
                .expect("root may");
            lchown(root.join("work/gain-setuid"), Some(0), Some(0)).expect("root may");
            executable(&root.join("work/gain-setuid"), 0o4755);
            lchown(root.join("work/gain-capable"), Some(0), Some(0)).expect("root may");
            let gained = Command::new(probe()).arg("setcap").arg(root.join("work/gain-capable")).status();
            assert!(gained.expect("the probes").success(), "a file with capabilities");
        }
        let mut others = vec![("TMP_SOCK", format!("/tmp/{label}.sock"))];
        if is_root() {
            others.push(("RUN_SOCK", format!("/run/{label}.sock")));
        }
        let servers = Servers::new(&root.join("sockets"), &others, &label);
        if let Some((user, group)) = who.ids() {
            given(&root.join("sockets"), user, group);
        }
        let mut setting = Setting {
            objects: started(who, &["objects"], &canary),
            other_terminal: terminal(who, &root),
            ground,
            who,
            servers,
            canary,
            victims: Vec::new(),
            elsewhere,
            before: Trace::new(),
        };
        setting.write_down(rows);
        setting.before = setting.trace();
        setting
    }

    pub(crate) fn root(&self) -> &Path {
        &self.ground.root
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.root().join("work")
    }

    /// Tells the probes what there is, in the workspace, where they can read it.
    fn write_down(&mut self, rows: &[Row]) {
        let root = self.ground.root.clone();
        let at = |name: &str| root.join(name).display().to_string();
        let mut text = format!(
            "OUT={}\nWS={}\nHOME={}\nOTHER={}\nSOCKS={}\nCONFIG={}\nPROGRAM={}\nPROGRAM_COPY={}\n",
            at("outside"),
            at("work"),
            at("home"),
            at("other"),
            at("sockets"),
            at("config/linux.yaml"),
            at("program"),
            at("program-copy")
        );
        for (key, path) in &self.elsewhere {
            text.push_str(&format!("{key}={}\n", path.display()));
        }
        text.push_str(&self.servers.settings);
        let handle = Command::new(probe())
            .arg("handle")
            .arg(root.join("outside/open_by_handle/file"))
            .output()
            .expect("the probes");
        text.push_str(&format!("HANDLE={}", String::from_utf8_lossy(&handle.stdout)));
        if handle.stdout.is_empty() {
            text.push('\n');
        }
        use std::os::unix::fs::MetadataExt;
        text.push_str(&format!("ROOT_DEV={}\n", std::fs::metadata("/").expect("a root").dev()));
        for line in lines_of(&mut self.objects) {
            text.push_str(&format!("{line}\n"));
        }
        for _ in 0..200 {
            let known = std::fs::read_to_string(root.join("home/terminal")).unwrap_or_default();
            if let Some(name) = known.strip_prefix("TERMINAL=") {
                text.push_str(&format!("OTHER_TERMINAL={name}"));
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        drop(std::fs::remove_file(root.join("home/terminal")));
        for row in rows.iter().filter(|row| row.has_victim()) {
            let place = root.join("outside").join(&row.name);
            let mut child =
                started(self.who, &["victim", place.to_str().expect("UTF-8"), &self.canary], &self.canary);
            // The number of a victim must not be the number of a process inside.
            while child.id() < 3000 {
                end(&mut child);
                child = started(
                    self.who,
                    &["victim", place.to_str().expect("UTF-8"), &self.canary],
                    &self.canary,
                );
            }
            let address = lines_of(&mut child).first().cloned().unwrap_or_default();
            text.push_str(&format!("VICTIM_{}={}\nSECRET_{}={address}\n", row.name, child.id(), row.name));
            self.victims.push(Victim { name: row.name.clone(), input: child.stdin.take(), child });
        }
        self.ground.file("work/setting.conf", &text);
        let ports: String =
            text.lines().filter(|line| line.starts_with("T4=")).map(|line| format!("{line}\n")).collect();
        self.ground.file("work/ports.sh", &ports);
        if let Some((user, group)) = self.who.ids() {
            for name in ["work/setting.conf", "work/ports.sh"] {
                lchown(root.join(name), Some(user), Some(group)).expect("root may");
            }
        }
    }

    fn trace(&self) -> Trace {
        // Bailiwick may keep its own state while it runs; what a probe does there is seen in the journal's text.
        let left_out =
            ["work", "home/.local/state/bailiwick", "home/.cache/bailiwick", "home/.local/share/bailiwick"];
        let mut trace = trace::of_tree(self.root(), &left_out);
        let journal = "home/.local/state/bailiwick/journal.jsonl";
        let text = std::fs::read_to_string(self.root().join(journal)).unwrap_or_default();
        trace.insert(journal.to_owned(), (text.contains("escaped") || text.is_empty()).to_string());
        for (key, path) in &self.elsewhere {
            let mut alone = Trace::new();
            trace::visit(
                path.parent().expect("a parent"),
                &path.file_name().expect("a name").to_string_lossy(),
                &[],
                &mut alone,
            );
            trace.insert((*key).to_owned(), alone.into_values().collect());
        }
        trace
    }

    /// The paths outside the workspace that are not as they were.
    pub(crate) fn changed(&self) -> Vec<String> {
        trace::changes(&self.before, &self.trace())
    }

    /// The victims that are not as they were: ends them all.
    pub(crate) fn harmed(&mut self) -> Vec<(String, String)> {
        let mut harmed = Vec::new();
        for mut victim in self.victims.drain(..) {
            drop(victim.input.take());
            let status = victim.child.wait().expect("a child of ours");
            if status.code() != Some(0) {
                let how = status.code().map_or_else(
                    || format!("ended by signal {}", status.signal().unwrap_or(0)),
                    |code| format!("says {code}"),
                );
                harmed.push((victim.name, how));
            }
        }
        harmed
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        self.harmed();
        end(&mut self.objects);
        end(&mut self.other_terminal);
        for (_, path) in &self.elsewhere {
            drop(std::fs::remove_file(path));
        }
        for line in self.servers.settings.lines() {
            if let Some((_, path)) = line.split_once("_SOCK=") {
                drop(std::fs::remove_file(path));
            }
        }
    }
}

/// Closes the input of a helper and waits for it; one that does not end is ended.
fn end(child: &mut Child) {
    drop(child.stdin.take());
    for _ in 0..100 {
        if child.try_wait().ok().flatten().is_some() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    drop(child.kill());
    drop(child.wait());
}

fn started(who: Who, words: &[&str], canary: &str) -> Child {
    let mut command = Command::new(probe());
    command.arg("launch");
    if let Some((user, group)) = who.ids() {
        command.args(["-u", &format!("{user}:{group}")]);
    }
    command.arg("--").arg(probe()).args(words);
    command.env_clear().env("SECRET", canary).current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    command.spawn().expect("a helper")
}

/// A terminal of the same user that is not the caller's.
fn terminal(who: Who, root: &Path) -> Child {
    let mut command = Command::new(probe());
    command.arg("launch");
    if let Some((user, group)) = who.ids() {
        command.args(["-u", &format!("{user}:{group}")]);
    }
    command.arg("-t").arg(root.join("home/terminal")).args(["--", "sleep", "120"]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::inherit());
    command.spawn().expect("a terminal")
}

/// What a helper says first: one line, or lines up to a full stop.
fn lines_of(child: &mut Child) -> Vec<String> {
    let stdout = child.stdout.as_mut().expect("a pipe");
    let mut lines = Vec::new();
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        if line == "." {
            break;
        }
        let last = !line.contains('=');
        lines.push(line);
        if last {
            break;
        }
    }
    lines
}

fn random() -> String {
    use std::io::Read;
    let mut bytes = [0; 12];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut bytes))
        .expect("random bytes");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
