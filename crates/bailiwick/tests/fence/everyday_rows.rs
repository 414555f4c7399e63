//! What people do all day, as scripts. `before` prepares a workspace bare; `script` is then run bare and behind the fence
//! and must end and print the same.

pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// Without these there is nothing to run.
    pub(crate) tools: &'static [&'static str],
    pub(crate) before: &'static str,
    pub(crate) script: &'static str,
    /// Whether two bare runs print the same.
    pub(crate) same: bool,
    /// Takes its seconds: run with one backend only.
    pub(crate) slow: bool,
    /// Needs the toolchain in the caller's own home.
    pub(crate) own_home: bool,
}

const PLAIN: Row =
    Row { name: "", tools: &[], before: "", script: "", same: true, slow: false, own_home: false };

const fn row(name: &'static str, script: &'static str) -> Row {
    Row { name, script, ..PLAIN }
}

const fn with(name: &'static str, tools: &'static [&'static str], script: &'static str) -> Row {
    Row { name, tools, script, ..PLAIN }
}

const fn git(name: &'static str, script: &'static str) -> Row {
    Row { name, tools: &["git"], before: REPOSITORY, script, ..PLAIN }
}

const REPOSITORY: &str = "git init -q -b main . && echo one > a && mkdir src && echo two > src/b && git add . && git commit -qm first";

const CRATE: &str = "mkdir -p src && printf '[workspace]\\n[package]\\nname = \"small\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n' > Cargo.toml \
    && echo 'fn main() { println!(\"{}\", small::two()); }' > src/main.rs \
    && echo 'pub fn two() -> i32 { 2 } #[test] fn it_is_two() { assert_eq!(two(), 2); }' > src/lib.rs";

pub(crate) const ROWS: &[Row] = &[
    with(
        "git init and a first commit",
        &["git"],
        "git init -q -b main . && echo x > f && git add f && git commit -qm first && git log --format='%s %an'",
    ),
    git("git status", "echo new > n && echo change >> a && git status --porcelain"),
    git("git commit", "echo change >> a && git commit -qam second && git log --format='%s %an %ae'"),
    git(
        "git commit with an editor",
        "echo x >> a && GIT_EDITOR='echo by editor >' git commit -qa && git log -1 --format=%s",
    ),
    git(
        "git branch, checkout, merge",
        "git checkout -q -b side && echo s > s && git add s && git commit -qm side && git checkout -q main && git merge -q --no-ff -m merged side && git log --topo-order --format=%s && git branch -d side >/dev/null",
    ),
    git(
        "git stash",
        "echo change >> a && git stash -q && git status --porcelain && git stash pop -q && git status --porcelain",
    ),
    git("git mv and rm", "git mv a c && git rm -q src/b && git commit -qm moved && git ls-files"),
    git(
        "git rebase",
        "git checkout -q -b side && echo s > s && git add s && git commit -qm side && git checkout -q main && echo m > m && git add m && git commit -qm main && git checkout -q side && git rebase -q main && git log --format=%s",
    ),
    git(
        "git rebase interactive",
        "echo b >> a && git commit -qam second && GIT_SEQUENCE_EDITOR='sed -i s/^pick/reword/' GIT_EDITOR='echo renamed >' git rebase -q -i HEAD~1 >/dev/null && git log --format=%s",
    ),
    git(
        "git worktree",
        "git worktree add -q tree -b t && ls tree && git worktree remove tree && git worktree list | wc -l",
    ),
    git("git clone of a local repository", "git clone -q . copy && ls copy && git -C copy log --format=%s"),
    git(
        "git fetch from a local repository",
        "git init -q -b main --bare up.git && git push -q up.git main && git fetch -q up.git main && git log -1 --format=%s FETCH_HEAD",
    ),
    git("git gc", "git gc -q && git fsck 2>&1 | grep -v dangling; git log --format=%s"),
    git(
        "git reset, tag, diff, blame",
        "echo x >> a; git diff --stat; git reset -q --hard; git tag v1; git describe --tags; git blame -s a | wc -l",
    ),
    git(
        "git apply and am",
        "echo x >> a && git diff > p && git checkout -q a && git apply p && git commit -qam p && git format-patch -q -1 && git reset -q --hard HEAD~1 && git am -q 0001-p.patch && git log --format=%s",
    ),
    Row {
        name: "cargo build, test, run",
        tools: &[],
        before: CRATE,
        script: "cargo build --offline -q 2>&1 && cargo test --offline -q 2>&1 | grep 'test result' | sed 's/finished.*//' | head -1 && cargo run --offline -q",
        slow: true,
        own_home: true,
        same: true,
    },
    Row {
        name: "python of the caller's own path",
        script: "python3 -c 'print(6 * 7)'",
        own_home: true,
        ..PLAIN
    },
    Row {
        name: "npm init, run, test",
        tools: &["npm", "node"],
        before: "",
        script: "npm init -y >/dev/null && npm pkg set scripts.test='node -e \"console.log(4+5)\"' && npm test --silent && npm run --silent test",
        slow: true,
        ..PLAIN
    },
    with(
        "node with a worker and a child",
        &["node"],
        "node -e 'const {Worker}=require(\"worker_threads\");new Worker(\"console.log(\\\"worker\\\")\",{eval:true}).on(\"exit\",()=>require(\"child_process\").execFile(\"echo\",[\"child\"],(e,o)=>console.log(o)))'",
    ),
    Row {
        name: "python venv and pip",
        tools: &["python3"],
        script: "python3 -m venv .venv && .venv/bin/pip --version | cut -d' ' -f1,2",
        slow: true,
        ..PLAIN
    },
    Row {
        name: "pip install of a local package",
        tools: &["python3"],
        before: "mkdir -p pkg/small && echo 'two = 2' > pkg/small/__init__.py && printf 'from setuptools import setup\\nsetup(name=\"small\", version=\"1\", packages=[\"small\"])\\n' > pkg/setup.py && python3 -m venv .venv",
        script: ".venv/bin/pip install -q --no-index --no-build-isolation --disable-pip-version-check ./pkg 2>/dev/null && .venv/bin/python -c 'import small; print(small.two)'",
        slow: true,
        ..PLAIN
    },
    with(
        "multiprocessing pool",
        &["python3"],
        "cat > t.py <<'X'\nimport multiprocessing as m, unittest\ndef f(x): return x * x\nclass T(unittest.TestCase):\n    def test(self):\n        for way in ('fork', 'spawn', 'forkserver'):\n            with m.get_context(way).Pool(2) as p: self.assertEqual(p.map(f, range(5)), [0, 1, 4, 9, 16])\nif __name__ == '__main__': unittest.main()\nX\npython3 t.py 2>&1 | grep -c OK",
    ),
    with(
        "multiprocessing manager",
        &["python3"],
        "cat > t.py <<'X'\nimport multiprocessing as m\nif __name__ == '__main__':\n    with m.Manager() as g:\n        d = g.dict(); d['a'] = 1; print(dict(d))\nX\npython3 t.py",
    ),
    with(
        "shared memory",
        &["python3"],
        "python3 -c 'from multiprocessing import shared_memory as s\nb = s.SharedMemory(create=True, size=1 << 20); b.buf[0] = 7; c = s.SharedMemory(b.name); print(c.buf[0]); c.close(); b.close(); b.unlink()'",
    ),
    with(
        "semaphores, queues, locks",
        &["python3"],
        "python3 -c 'import multiprocessing as m\nq = m.Queue(); s = m.Semaphore(1); l = m.Lock()\ndef f():\n  with s, l: q.put(5)\np = m.Process(target=f); p.start(); print(q.get()); p.join()'",
    ),
    with(
        "threads and asyncio",
        &["python3"],
        "python3 -c 'import asyncio, concurrent.futures as c\nprint(list(c.ThreadPoolExecutor(8).map(lambda x: x + 1, range(4))))\nasync def f():\n  p = await asyncio.create_subprocess_exec(\"echo\", \"sub\"); await p.wait()\nasyncio.run(f())'",
    ),
    with(
        "make",
        &["make"],
        "printf 'all: a b\\n\\techo all\\na:\\n\\techo a > a\\nb:\\n\\techo b > b\\n' > Makefile && make -s -j2 && cat a b",
    ),
    with(
        "gcc compiles, links, runs",
        &["gcc"],
        "printf '#include <stdio.h>\\nint main(void) { puts(\"hello\"); return 3; }' > m.c && gcc -O1 -o m m.c && ./m; echo $?",
    ),
    with(
        "gdb on an own child",
        &["gdb", "gcc"],
        "printf 'int f(int x) { return x; }\\nint main(void) { return f(4); }' > m.c && gcc -g -O0 -o m m.c && gdb -nx -batch -ex 'set startup-with-shell off' -ex 'break f' -ex run -ex 'print x' ./m 2>/dev/null | grep '= 4'",
    ),
    with(
        "strace of an own child",
        &["strace"],
        "strace -f -e trace=execve -o log /bin/sh -c '/bin/echo traced' && grep -c execve log",
    ),
    with("vim without a screen", &["vim"], "echo one > f && vim -es -u NONE -c '%s/one/two/' -c wq f; cat f"),
    with(
        "tmux inside",
        &["tmux"],
        "export SHELL=/bin/sh; tmux -f /dev/null -L inside new-session -d 'echo from tmux > out; sleep 0.2' && for i in 1 2 3 4 5 6 7 8 9 10; do test -s out && break; sleep 0.1; done; cat out; tmux -L inside kill-server 2>/dev/null; true",
    ),
    row(
        "devices",
        "echo x > /dev/null; head -c4 /dev/zero | wc -c; head -c4 /dev/urandom | wc -c; head -c4 /dev/random | wc -c; echo x 2>/dev/null > /dev/full; echo $?; test -c /dev/ptmx && echo ptmx; test -c /dev/tty && echo tty; ls -l /dev/stdin /dev/fd >/dev/null && echo links",
    ),
    with(
        "a terminal of one's own",
        &["python3"],
        "python3 -c 'import pty, os\na, b = pty.openpty(); os.write(b, b\"hi\"); print(os.read(a, 2), os.ttyname(b).startswith(\"/dev/pts/\"))'",
    ),
    row(
        "mktemp",
        "f=$(mktemp) && d=$(mktemp -d) && echo x > $f && cp $f $d/y && cat $d/y && rm -r $f $d && mktemp -p /var/tmp >/dev/null && echo both",
    ),
    row("mkfifo", "mkfifo p && (echo through > p &) && cat p"),
    row(
        "flock",
        "exec 9> lock && flock 9 && (flock -n lock true; echo $?) && flock -u 9 && flock -n lock echo got",
    ),
    row(
        "shared memory directory",
        "echo x > /dev/shm/everyday-$$ && cat /dev/shm/everyday-$$ && rm /dev/shm/everyday-$$",
    ),
    with(
        "unix sockets in the workspace and in /tmp",
        &["python3"],
        "python3 -c 'import socket, tempfile, os\nfor d in (\".\", tempfile.mkdtemp()):\n  n = os.path.join(d, \"s\"); a = socket.socket(socket.AF_UNIX); a.bind(n); a.listen(); b = socket.socket(socket.AF_UNIX); b.connect(n); b.send(b\"hi\"); print(a.accept()[0].recv(2))\nx, y = socket.socketpair(); x.send(b\"pair\"); print(y.recv(4))\na = socket.socket(socket.AF_UNIX); a.bind(b\"\\0everyday-\" + str(os.getpid()).encode()); print(\"abstract\")'",
    ),
    with(
        "loopback servers and clients",
        &["python3"],
        "python3 -c 'import socket\nfor f, h in ((socket.AF_INET, \"127.0.0.1\"), (socket.AF_INET6, \"::1\")):\n  a = socket.socket(f); a.bind((h, 0)); a.listen(); b = socket.create_connection(a.getsockname()[:2]); b.send(b\"tcp\"); print(a.accept()[0].recv(3))\n  a = socket.socket(f, socket.SOCK_DGRAM); a.bind((h, 0)); b = socket.socket(f, socket.SOCK_DGRAM); b.sendto(b\"udp\", a.getsockname()); print(a.recv(3))'",
    ),
    with(
        "a web server and its client",
        &["python3", "curl"],
        "echo page > index.html; python3 -m http.server --bind 127.0.0.1 18473 >/dev/null 2>&1 & for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.1; curl -s -m 2 http://localhost:18473/ && break; done; kill $!",
    ),
    row(
        "names of users",
        "whoami; id -un; id -u; getent passwd $(id -u) | cut -d: -f1; touch f; ls -l f | cut -d' ' -f3; stat -c %U f",
    ),
    row("locale", "locale 2>/dev/null | grep LANG=; printf 'ä' | wc -c; echo $LANG"),
    row("date and zone", "TZ=Europe/Berlin date -d @0 +%H:%M; TZ=UTC date -d @0 +%F; date +%Y"),
    row(
        "nproc, hostname, uname",
        "nproc; hostname >/dev/null && echo name; uname -s; test -r /proc/cpuinfo && echo cpu",
    ),
    Row {
        same: false,
        ..row(
            "free, df, uptime",
            "free >/dev/null && df . >/dev/null && cat /proc/loadavg /proc/meminfo >/dev/null && echo ok",
        )
    },
    // A child is its parent's copy for a moment, before it is `sleep`.
    row(
        "ps sees its own",
        "sleep 5 & for i in 1 2 3 4 5 6 7 8 9; do case $(ps -o comm= -p $!) in sleep) break;; esac; sleep 0.1; done; \
         ps -o comm= -p $! && kill $! && ps aux >/dev/null && echo listed",
    ),
    with("top", &["top"], "top -b -n1 | head -1 | cut -c1-3"),
    row("kill of own children", "sleep 30 & kill $!; wait $!; echo $?; sh -c 'kill -9 $$'; echo $?"),
    row("timeout", "timeout 0.2 sleep 5; echo $?; timeout 5 true; echo $?"),
    row(
        "setsid and nohup",
        "setsid echo session; nohup echo hup 2>/dev/null; setsid -w sh -c 'exit 4'; echo $?",
    ),
    row(
        "nested shells",
        "bash -c 'sh -c \"bash -c \\\"echo deep\\\"\"'; env -i /bin/sh -c 'echo clean'; echo 'echo piped' | sh",
    ),
    row(
        "job control",
        "set -m; sleep 0.1 & jobs | wc -l; fg >/dev/null; (sleep 5 & kill %1 2>/dev/null; wait) ; echo done",
    ),
    row(
        "pipelines and here-documents",
        "cat <<X | tr a-z A-Z | sort -r\nb\na\nX\ncat <<<here; diff <(echo a) <(echo b); echo $?; exec 7>f; echo seven >&7; cat f",
    ),
    row("traps", "(trap 'echo left' EXIT; trap 'echo usr1' USR1; kill -USR1 $BASHPID; exit 5); echo $?"),
    row(
        "top-level directories",
        "mkdir -p src target/debug && echo x > target/debug/o && echo y > src/f && rm -rf target && mv src lib && cat lib/f && mv lib deeper && rmdir deeper 2>/dev/null || rm -r deeper; ls",
    ),
    row(
        "a script made executable",
        "printf '#!/bin/sh\\necho ran $1\\n' > s && chmod +x s && ./s it && chmod 600 s && stat -c %a s",
    ),
    row(
        "links",
        "echo x > a && ln a b && ln -s a c && cat b c && stat -c %h a && readlink c && mkdir d && ln -s ../a d/e && cat d/e",
    ),
    row(
        "times and attributes",
        "touch -d @100 f && stat -c %Y f && chmod 640 f && stat -c %a f && touch g && test g -nt f && echo newer && cp -p f h && stat -c %Y h",
    ),
    row(
        "rename between directories",
        "mkdir a b && echo x > a/f && mv a/f b/g && cat b/g && mv b/g . && mv a b/ && find . -name a && mv -f g b && ls b",
    ),
    with(
        "tar and zip",
        &["tar", "zip", "unzip"],
        "mkdir d && echo x > d/f && tar czf d.tgz d && zip -qr d.zip d && rm -r d && tar xzf d.tgz && cat d/f && rm -r d && unzip -q d.zip && cat d/f",
    ),
    with(
        "sqlite with a write-ahead log",
        &["python3"],
        "python3 -c 'import sqlite3\nc = sqlite3.connect(\"x.db\"); print(c.execute(\"pragma journal_mode=wal\").fetchone()); c.execute(\"create table t(a)\"); c.executemany(\"insert into t values(?)\", [(i,) for i in range(1000)]); c.commit(); print(c.execute(\"select sum(a) from t\").fetchone())'",
    ),
    with(
        "a watcher of files",
        &["python3"],
        "cat > w.py <<'X'\nimport ctypes, os, subprocess, struct\nl = ctypes.CDLL(None); f = l.inotify_init(); l.inotify_add_watch(f, b'.', 0x100)\nsubprocess.run(['touch', 'made-inside'])\nd = os.read(f, 4096); print(d[16:].split(b'\\0')[0])\nX\npython3 w.py",
    ),
    row(
        "writing under home",
        "mkdir -p ~/.cache/everyday && echo x > ~/.cache/everyday/f && cat ~/.cache/everyday/f && rm -r ~/.cache/everyday",
    ),
    row(
        "large files",
        "head -c 50000000 /dev/zero > big && sha256sum big | cut -c1-16 && truncate -s 10 big && stat -c %s big && fallocate -l 4096 big && stat -c %s big && rm big",
    ),
    row(
        "many files",
        "mkdir m && for i in $(seq 500); do : > m/$i; done && ls m | wc -l && rm -r m && echo gone",
    ),
    row(
        "find, xargs, awk, sed",
        "mkdir d && seq 20 > d/n && find . -name n -print0 | xargs -0 -P2 awk '{s+=$1} END {print s}' && sed -i 's/^1$/one/' d/n && head -1 d/n && sort -R d/n | wc -l",
    ),
    row(
        "open files and processes",
        "ulimit -n >/dev/null; for i in $(seq 3 200); do eval \"exec $i</dev/null\"; done; echo opened; for i in $(seq 40); do sleep 0.1 & done; wait; echo waited",
    ),
    with(
        "perl",
        &["perl"],
        "perl -e 'print join(\",\", map { $_ * 2 } 1..3), \"\\n\"; open(F, \">\", \"f\"); print F \"x\"; close F; print -s \"f\", \"\\n\"'",
    ),
    with(
        "python standard library of a developer",
        &["python3"],
        "python3 -c 'import tempfile, subprocess, ssl, hashlib, ctypes, sqlite3, zipfile, shutil, socket, getpass, platform\nprint(getpass.getuser() != \"\", platform.system(), subprocess.check_output([\"echo\", \"x\"]), shutil.disk_usage(\".\").total > 0, socket.gethostname() != \"\")'",
    ),
    with(
        "a signal between own processes",
        &["python3"],
        "python3 -c 'import os, signal, time\nsignal.signal(signal.SIGUSR1, lambda *a: print(\"got\"))\nif os.fork() == 0:\n  os.kill(os.getppid(), signal.SIGUSR1); os._exit(0)\nos.wait(); time.sleep(0.05)'",
    ),
    with(
        "timers, eventfd, epoll, memfd",
        &["python3"],
        "python3 -c 'import os, select\ne = os.eventfd(0); p = select.epoll(); p.register(e, 1); os.eventfd_write(e, 3); print(len(p.poll(1)), os.eventfd_read(e)); m = os.memfd_create(\"x\"); os.write(m, b\"abc\"); print(os.pread(m, 3, 0), len(os.getrandom(4)))'",
    ),
    row(
        "limits that are lowered",
        "ulimit -n 64; ulimit -n; ulimit -c 0; nice -n 5 nice; renice -n 7 $$ >/dev/null && nice",
    ),
];
