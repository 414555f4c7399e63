//! What is known of the modules and globals of Node, Deno and Bun. Only what is listed is understood.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::LazyLock;

use super::super::listed;
use super::super::value::Value;
use super::super::walk::{Action, Given, Language, Walker, may_be_called};

/// The language.
pub(super) struct JavaScript;

impl Language for JavaScript {
    fn global(&self, name: &str) -> Option<Value> {
        if matches!(name, "__dirname" | "__filename") {
            return Some(Value::Data);
        }
        // `node -e` has the built-in modules as globals.
        let listed = self.action(name) != Action::Unlisted && !name.contains('/');
        listed.then(|| Value::known(name))
    }

    fn action(&self, known: &str) -> Action {
        let known = canonical(known);
        if MODULE_SET.contains(known) {
            return Action::Module;
        }
        let (module, name) = known.rsplit_once('.').unwrap_or(("", known));
        let module = canonical(module);
        ACTIONS.get(&(module, name)).copied().unwrap_or(Action::Unlisted)
    }

    fn method(&self, walker: &mut Walker<'_>, receiver: &Value, name: &str, given: &[Given]) -> Value {
        let listed = METHOD_SET.contains(name);
        let calls = CALLING_SET.contains(name);
        for one in given {
            let joined = name == "join" || name == "concat";
            if !(joined && walker.reads_environment(&one.value)) {
                walker.hold(one.value.clone());
            }
            // A function that nobody listed could be called.
            if calls && (one.splat || may_be_called(&one.value)) && name != "reduce" {
                walker.reading.incomplete();
            }
        }
        if calls && name == "reduce" && given.first().is_none_or(|one| one.splat || may_be_called(&one.value))
        {
            walker.reading.incomplete();
        }
        if !listed && !calls {
            walker.reading.incomplete();
        }
        match (name, receiver) {
            ("split", Value::Text(_)) => match (receiver.constant(), given) {
                (Some(text), [one]) if one.value.constant() == Some(" ") => {
                    Value::List(Rc::new(text.split(' ').map(Value::text).collect()))
                }
                _ => Value::Data,
            },
            ("filter" | "sort" | "slice" | "reverse", Value::Many(_)) => receiver.clone(),
            ("toString" | "trim", Value::Text(_)) if given.is_empty() && name == "toString" => {
                receiver.clone()
            }
            _ => Value::Data,
        }
    }

    fn is_plain_member(&self, name: &str) -> bool {
        let hidden = matches!(
            name,
            "constructor"
                | "prototype"
                | "caller"
                | "callee"
                | "arguments"
                | "toString"
                | "valueOf"
                | "then"
                | "toJSON"
                | "mainModule"
                | "call"
                | "apply"
                | "bind"
                | "constructors"
        );
        !hidden && !name.starts_with("__")
    }

    fn computed_members_are_murky(&self) -> bool {
        true
    }

    fn may_be_shadowed(&self, name: &str) -> bool {
        matches!(
            name,
            "url"
                | "path"
                | "util"
                | "events"
                | "assert"
                | "querystring"
                | "crypto"
                | "buffer"
                | "timers"
                | "os"
        )
    }
}

static MODULE_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| MODULES.iter().copied().collect());
static ACTIONS: LazyLock<HashMap<(&str, &str), Action>> =
    LazyLock::new(|| listed::members(MEMBERS.iter().copied()));
static METHOD_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| listed::set(METHODS));
static CALLING_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| listed::set(CALLING));

fn canonical(known: &str) -> &str {
    match known {
        "fs/promises" | "fs.promises" => "fs/promises",
        "path/posix" | "path.posix" => "path",
        "assert/strict" => "assert",
        "process.default" => "process",
        other => other,
    }
}

/// Methods of text, numbers, lists, maps, dates, buffers, hashes and streams of the process.
const METHODS: &str = "toString toFixed toPrecision toLocaleString toLocaleDateString toLocaleTimeString toUpperCase \
    toLowerCase trim trimStart trimEnd split join concat slice substring substr indexOf lastIndexOf includes startsWith \
    endsWith padStart padEnd repeat charAt charCodeAt codePointAt at match matchAll search normalize localeCompare push \
    pop shift unshift splice reverse fill flat keys values entries has get set add delete clear getTime getFullYear \
    getMonth getDate getDay getHours getMinutes getSeconds getMilliseconds toISOString toUTCString toDateString \
    getTimezoneOffset setDate setMonth setFullYear setHours test exec update digest readUInt8 readUInt16LE readUInt32LE \
    readUInt16BE readUInt32BE subarray equals write end setEncoding json text arrayBuffer isFile isDirectory \
    isSymbolicLink append getAll hasOwnProperty toSorted toReversed with toSpliced unref ref close resume pause valueOf";

/// Methods that call what they are given.
const CALLING: &str = "map forEach filter reduce reduceRight some every find findIndex findLast flatMap sort replace \
    replaceAll then catch finally on once";

const MODULES: &[&str] = &[
    "fs",
    "fs/promises",
    "path",
    "os",
    "util",
    "url",
    "crypto",
    "assert",
    "querystring",
    "events",
    "child_process",
    "http",
    "https",
    "net",
    "process",
    "console",
    "JSON",
    "Math",
    "Deno",
    "Bun",
    "Intl",
    "process.stdout",
    "process.stderr",
    "process.stdin",
    "Deno.version",
    "perf_hooks",
    "performance",
    "timers",
    "buffer",
    "string_decoder",
    "util.types",
    "readline",
    "zlib",
    "os.constants",
];

const MEMBERS: &[(&str, Action, &str)] = &[
    (
        "",
        Action::Pure,
        "String Number Boolean Array Object Date RegExp Error TypeError RangeError SyntaxError Set Map WeakMap WeakSet \
         BigInt URL URLSearchParams parseInt parseFloat isNaN isFinite encodeURIComponent decodeURIComponent encodeURI \
         decodeURI Buffer structuredClone TextEncoder TextDecoder btoa atob Uint8Array Int32Array Float64Array \
         clearTimeout clearInterval AbortController Uint16Array Uint32Array",
    ),
    ("", Action::Calls(0), "setTimeout setInterval setImmediate queueMicrotask Promise"),
    ("", Action::Load, "require"),
    ("", Action::Connect, "fetch"),
    ("", Action::RunsUnknown, "eval Function"),
    (
        "console",
        Action::Pure,
        "log error warn info debug table dir time timeEnd trace assert count group groupEnd timeLog",
    ),
    ("JSON", Action::Calls(1), "parse stringify"),
    (
        "Math",
        Action::Pure,
        "abs acos acosh asin asinh atan atan2 atanh cbrt ceil clz32 cos cosh exp expm1 floor fround hypot imul log log10 \
         log1p log2 max min pow random round sign sin sinh sqrt tan tanh trunc",
    ),
    ("Math", Action::Constant, "PI E LN2 LN10 LOG2E LOG10E SQRT2 SQRT1_2"),
    ("Object", Action::Pure, "keys values entries assign fromEntries freeze is hasOwn getOwnPropertyNames"),
    ("Array", Action::Calls(1), "from"),
    ("Array", Action::Pure, "isArray of"),
    ("Number", Action::Pure, "isInteger isFinite isNaN isSafeInteger parseFloat parseInt"),
    ("Number", Action::Constant, "MAX_SAFE_INTEGER MIN_SAFE_INTEGER EPSILON MAX_VALUE MIN_VALUE"),
    ("String", Action::Pure, "fromCharCode fromCodePoint raw"),
    ("Date", Action::Pure, "now parse UTC"),
    ("Buffer", Action::Pure, "from alloc concat byteLength isBuffer compare"),
    ("Promise", Action::Pure, "all allSettled race any resolve reject"),
    ("Intl", Action::Pure, "DateTimeFormat NumberFormat Collator"),
    ("performance", Action::Pure, "now"),
    (
        "process",
        Action::Constant,
        "version versions argv argv0 execArgv platform arch pid ppid title release config exitCode features execPath",
    ),
    (
        "process",
        Action::Pure,
        "exit uptime hrtime memoryUsage cpuUsage getuid getgid geteuid emitWarning umask",
    ),
    ("process.hrtime", Action::Pure, "bigint"),
    ("process", Action::Calls(1), "on once"),
    ("process", Action::Calls(0), "nextTick"),
    ("process", Action::Environ, "env"),
    ("process", Action::Here, "cwd"),
    ("process", Action::System, "kill setuid setgid"),
    ("process.stdout", Action::Pure, "write end"),
    ("process.stdout", Action::Constant, "isTTY columns rows"),
    ("process.stderr", Action::Pure, "write end"),
    ("process.stdin", Action::Calls(1), "on once"),
    ("process.stdin", Action::Pure, "setEncoding resume read"),
    ("process.stdin", Action::Constant, "isTTY fd"),
    (
        "fs",
        Action::Read,
        "readFileSync readFile existsSync exists statSync stat lstatSync lstat accessSync access readlinkSync readlink \
         realpathSync realpath createReadStream opendirSync",
    ),
    ("fs", Action::Names, "readdirSync"),
    ("fs", Action::Read, "readdir"),
    (
        "fs",
        Action::Write,
        "writeFileSync writeFile appendFileSync appendFile mkdirSync mkdir truncateSync truncate chmodSync chmod \
         chownSync chown utimesSync utimes createWriteStream mkdtempSync",
    ),
    ("fs", Action::Delete, "unlinkSync unlink"),
    ("fs", Action::DeleteOption, "rmSync rm rmdirSync rmdir"),
    ("fs", Action::Copy, "copyFileSync copyFile cpSync cp"),
    ("fs", Action::Move, "renameSync rename"),
    ("fs", Action::Module, "promises constants"),
    ("fs/promises", Action::Read, "readFile stat lstat access readlink realpath readdir"),
    ("fs/promises", Action::Write, "writeFile appendFile mkdir truncate chmod chown utimes"),
    ("fs/promises", Action::Delete, "unlink"),
    ("fs/promises", Action::DeleteOption, "rm rmdir"),
    ("fs/promises", Action::Copy, "copyFile cp"),
    ("fs/promises", Action::Move, "rename"),
    ("path", Action::Join, "join"),
    ("path", Action::Same, "resolve normalize"),
    ("path", Action::Pure, "basename dirname extname relative isAbsolute parse format"),
    ("path", Action::Constant, "sep delimiter"),
    (
        "os",
        Action::Pure,
        "cpus totalmem freemem platform arch release type hostname uptime loadavg userInfo networkInterfaces tmpdir \
         endianness version machine availableParallelism",
    ),
    ("os", Action::Home, "homedir"),
    ("os", Action::Constant, "EOL"),
    ("os", Action::System, "setPriority"),
    ("util", Action::Pure, "inspect format isDeepStrictEqual stripVTControlCharacters types"),
    ("url", Action::Pure, "parse format resolve URL URLSearchParams fileURLToPath pathToFileURL"),
    ("querystring", Action::Pure, "parse stringify escape unescape"),
    (
        "crypto",
        Action::Pure,
        "randomUUID randomBytes createHash createHmac getHashes randomInt timingSafeEqual",
    ),
    ("assert", Action::Pure, "equal strictEqual deepEqual deepStrictEqual ok notEqual notStrictEqual"),
    ("", Action::Pure, "assert"),
    ("child_process", Action::Shell, "exec execSync"),
    ("child_process", Action::Spawn, "spawn spawnSync execFile execFileSync"),
    ("child_process", Action::RunsUnknown, "fork"),
    ("http", Action::Connect, "get request"),
    ("https", Action::Connect, "get request"),
    ("net", Action::Connect, "connect createConnection"),
    ("vm", Action::RunsUnknown, "runInThisContext runInNewContext runInContext Script"),
    (
        "Deno",
        Action::Read,
        "readTextFileSync readTextFile readFileSync readFile statSync stat readDirSync readDir lstatSync",
    ),
    (
        "Deno",
        Action::Write,
        "writeTextFileSync writeTextFile writeFileSync writeFile mkdirSync mkdir chmodSync",
    ),
    ("Deno", Action::DeleteOption, "removeSync remove"),
    ("Deno", Action::Move, "renameSync rename"),
    ("Deno", Action::Copy, "copyFileSync copyFile"),
    ("Deno", Action::Here, "cwd"),
    ("Deno", Action::Constant, "args pid build noColor mainModule"),
    ("Deno", Action::Pure, "exit hostname osRelease inspect memoryUsage"),
    ("Deno", Action::Environ, "env"),
    ("Deno", Action::System, "kill"),
    ("Deno.version", Action::Constant, "deno v8 typescript"),
    ("Bun", Action::Constant, "version revision argv main"),
    ("Bun", Action::Read, "file"),
    ("Bun", Action::Write, "write"),
    ("Bun", Action::RunsUnknown, "spawn spawnSync"),
];
