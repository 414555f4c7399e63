//! What is known of Python's own modules. Only what is listed is understood: a module's other members (most modules
//! can be asked for the modules that they import) are not.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::LazyLock;

use super::super::Finding;
use super::super::listed;
use super::super::value::Value;
use super::super::walk::{Action, Given, Language, Walker, argument};

/// The language.
pub(super) struct Python;

impl Language for Python {
    fn global(&self, name: &str) -> Option<Value> {
        if matches!(name, "__name__" | "__file__" | "__doc__") {
            return Some(Value::Data);
        }
        ACTIONS.contains_key(&("", name)).then(|| Value::known(name))
    }

    fn action(&self, known: &str) -> Action {
        let (module, name) = match known.rsplit_once('.') {
            Some((module, name)) => (module, name),
            None => ("", known),
        };
        if MODULE_SET.contains(known) {
            return Action::Module;
        }
        if let Some(action) = ACTIONS.get(&(module, name)) {
            return *action;
        }
        if matches!(module, "str" | "bytes" | "dict" | "list" | "int" | "float" | "set") && is_method(name) {
            return Action::Pure;
        }
        if module == "typing" && name.starts_with(|c: char| c.is_ascii_uppercase()) && name != "ForwardRef" {
            return Action::Pure;
        }
        Action::Unlisted
    }

    fn method(&self, walker: &mut Walker<'_>, receiver: &Value, name: &str, given: &[Given]) -> Value {
        if name == "join"
            && matches!(given, [one] if walker.reads_environment(&one.value) || walker.is_looked_at(&one.value))
        {
            return Value::Data;
        }
        walker.hold_all(given);
        match receiver {
            Value::Path(_) | Value::Under(_) => path_method(walker, receiver, name, given),
            Value::Narrow => {
                if !matches!(name, "getroot" | "find" | "findall" | "findtext" | "iter") {
                    walker.reading.incomplete();
                }
                Value::Data
            }
            _ => data_method(walker, receiver, name, given),
        }
    }

    fn is_plain_member(&self, name: &str) -> bool {
        is_method(name) || PROPERTY_SET.contains(name)
    }

    fn computed_members_are_murky(&self) -> bool {
        false
    }

    fn may_be_shadowed(&self, _: &str) -> bool {
        false
    }
}

static MODULE_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| MODULES.iter().copied().collect());
static ACTIONS: LazyLock<HashMap<(&str, &str), Action>> =
    LazyLock::new(|| listed::members(MEMBERS.iter().copied()));
static METHOD_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| listed::set(METHODS));
static PROPERTY_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| listed::set(PROPERTIES));

fn is_method(name: &str) -> bool {
    METHOD_SET.contains(name)
}

/// A method of a path object.
fn path_method(walker: &mut Walker<'_>, path: &Value, name: &str, given: &[Given]) -> Value {
    match name {
        "read_text" | "read_bytes" | "exists" | "is_file" | "is_dir" | "is_symlink" | "stat" | "lstat"
        | "readlink" | "owner" | "is_mount" => walker.reads(Some(path)),
        "iterdir" | "glob" | "rglob" => {
            walker.reads(Some(path));
            let upward = given.iter().any(|one| one.value.constant().is_none_or(|text| text.contains("..")));
            return match path {
                _ if upward => Value::Data,
                Value::Path(texts) => match texts.first() {
                    Some(text) if texts.len() == 1 => {
                        Value::Many(Rc::new(Value::Under(Rc::from(text.as_str()))))
                    }
                    _ => Value::Data,
                },
                _ => Value::Many(Rc::new(path.clone())),
            };
        }
        "open" => return walker.open(given, Some(path)),
        "write_text" | "write_bytes" | "touch" | "mkdir" | "chmod" => walker.writes(Some(path)),
        "unlink" | "rmdir" => walker.deletes(Some(path), false),
        "rename" | "replace" if given.len() == 1 => {
            walker.deletes(Some(path), true);
            walker.writes(argument(given, 0, &["target"]));
        }
        "expanduser" | "resolve" | "absolute" => return path.clone(),
        "joinpath" => {
            let whole = given.iter().fold(path.clone(), |before, one| before.joined(&one.value));
            return if given.iter().any(|one| one.splat) { Value::Data } else { whole };
        }
        "as_posix" => {
            return match path {
                Value::Path(texts) => Value::Text(Rc::clone(texts)),
                other => other.clone(),
            };
        }
        "with_suffix" | "with_name" | "relative_to" | "is_relative_to" | "match" | "is_absolute"
        | "with_stem" => {}
        _ => return data_method(walker, path, name, given),
    }
    Value::Data
}

/// A method of something that is only data.
fn data_method(walker: &mut Walker<'_>, receiver: &Value, name: &str, given: &[Given]) -> Value {
    let fine = match name {
        // Two arguments replace text; one moves a file.
        "replace" => {
            given.iter().filter(|one| one.name.is_none()).count() != 1 && !given.is_empty()
                || matches!(receiver, Value::Text(_))
        }
        // A format can reach into what it is given.
        "format" => receiver.constant().is_some_and(|text| !text.contains("__")),
        "read" => match given {
            [] => true,
            [one] if one.value.is_plain() => true,
            [one] => match one.value.constant() {
                Some(path) => {
                    walker.reading.found(Finding::Read(path.to_owned()));
                    true
                }
                None => false,
            },
            _ => false,
        },
        "split" => {
            if let (Some(text), []) = (receiver.constant(), given) {
                return Value::List(Rc::new(text.split_whitespace().map(Value::text).collect()));
            }
            true
        }
        "strip" | "rstrip" | "lstrip" | "copy" if matches!(receiver, Value::Many(_) | Value::Bare) => {
            return receiver.clone();
        }
        _ => is_method(name),
    };
    if !fine {
        walker.reading.incomplete();
    }
    Value::Data
}

/// Methods of text, numbers, lists, mappings, files, matches, dates and elements. None of them has an effect beyond
/// its own object and the files that are open.
const METHODS: &str = "strip lstrip rstrip split rsplit splitlines partition rpartition join encode decode lower upper \
    title capitalize casefold swapcase center ljust rjust zfill expandtabs translate maketrans startswith endswith \
    find rfind index rindex count isdigit isalpha isalnum isspace isupper islower isdecimal isnumeric isidentifier \
    istitle isascii isprintable removeprefix removesuffix hex fromhex bit_length bit_count to_bytes from_bytes \
    is_integer as_integer_ratio conjugate get items keys values setdefault pop popitem update clear copy fromkeys \
    append extend insert remove reverse sort add discard union intersection difference symmetric_difference \
    intersection_update difference_update issubset issuperset isdisjoint appendleft popleft extendleft rotate \
    most_common elements subtract total move_to_end new_child readline readlines readable writable seekable write \
    writelines close flush seek tell getvalue isatty fileno reconfigure detach group groups groupdict start end span \
    expand match search fullmatch findall finditer sub subn isoformat strftime strptime fromisoformat fromtimestamp \
    timestamp now utcnow today date time timetuple weekday isoweekday isocalendar toordinal astimezone utcoffset \
    tzname total_seconds digest hexdigest quantize normalize sqrt to_integral_value limit_denominator findtext iter \
    itertext getroot writerow writerows writeheader sections options has_section has_option getint getfloat \
    getboolean read_string read_dict is_file is_dir is_symlink geturl _asdict _replace cache_clear cache_info \
    communicate wait poll substitute safe_substitute choice choices randint shuffle sample ratio get_matching_blocks \
    get_opcodes formatmonth formatyear pprint pformat unpack pack iter_unpack";

/// Members of data that are data.
const PROPERTIES: &str = "name stem suffix suffixes parent parents parts anchor year month day hour minute second \
    microsecond days seconds microseconds tzinfo real imag numerator denominator text tag attrib tail st_size st_mtime \
    st_mode st_ctime st_atime st_uid st_gid st_ino st_nlink path args errno strerror filename stdout stderr returncode \
    buffer encoding errors newlines closed mode pattern flags groupindex string pos endpos lastindex lastgroup re regs \
    major minor micro releaselevel serial version system node release machine processor netloc scheme query fragment \
    params hostname port username msg doc lineno colno code reason fieldnames line_num dialect maxlen default_factory \
    int hex bytes urn max_info min max epsilon dig max_10 bits_per_digit cache_tag id value free used total body func \
    module names targets asname level digest_size block_size __name__ __version__ __doc__ __file__ __qualname__ \
    sysname nodename tm_year tm_mon tm_mday tm_hour tm_min tm_sec tm_wday tm_yday columns lines metadata";

const MODULES: &[&str] = &[
    "sys",
    "os",
    "os.path",
    "posixpath",
    "json",
    "re",
    "math",
    "cmath",
    "datetime",
    "time",
    "random",
    "collections",
    "collections.abc",
    "itertools",
    "functools",
    "string",
    "textwrap",
    "base64",
    "hashlib",
    "hmac",
    "pathlib",
    "glob",
    "fnmatch",
    "platform",
    "statistics",
    "decimal",
    "fractions",
    "uuid",
    "csv",
    "io",
    "pprint",
    "typing",
    "enum",
    "operator",
    "struct",
    "binascii",
    "urllib",
    "urllib.parse",
    "urllib.request",
    "html",
    "xml",
    "xml.etree",
    "xml.etree.ElementTree",
    "unicodedata",
    "locale",
    "calendar",
    "copy",
    "ast",
    "difflib",
    "shlex",
    "importlib",
    "importlib.metadata",
    "sysconfig",
    "tomllib",
    "configparser",
    "shutil",
    "subprocess",
    "heapq",
    "bisect",
    "secrets",
    "zlib",
    "warnings",
    "traceback",
    "contextlib",
    "keyword",
    "errno",
    "stat",
    "array",
    "numbers",
    "getpass",
    "codecs",
    "gzip",
    "bz2",
    "lzma",
    "colorsys",
    "zoneinfo",
    "types",
    "abc",
];

/// Module, what its members are, and which they are.
const MEMBERS: &[(&str, Action, &str)] = &[
    (
        "",
        Action::Pure,
        "len range enumerate zip map filter sorted reversed min max sum abs round pow divmod int float complex \
         bool bytes bytearray memoryview list tuple dict set frozenset iter next any all chr ord hex oct bin format \
         ascii hash input slice exit quit property object Exception ValueError KeyError TypeError IndexError \
         RuntimeError StopIteration OSError IOError FileNotFoundError PermissionError AttributeError ImportError \
         ModuleNotFoundError AssertionError ZeroDivisionError KeyboardInterrupt SystemExit UnicodeDecodeError \
         UnicodeEncodeError NotImplementedError ArithmeticError LookupError EOFError BaseException NameError \
         OverflowError RecursionError TimeoutError ConnectionError BrokenPipeError NotImplemented Ellipsis",
    ),
    ("", Action::Look, "print str repr type isinstance issubclass callable id hasattr dir"),
    ("", Action::Open, "open"),
    ("", Action::RunsUnknown, "exec eval compile"),
    ("", Action::LoadNamed, "__import__"),
    ("builtins", Action::Open, "open"),
    ("builtins", Action::RunsUnknown, "exec eval compile"),
    ("builtins", Action::LoadNamed, "__import__"),
    ("importlib", Action::LoadNamed, "import_module"),
    (
        "importlib.metadata",
        Action::Pure,
        "version distributions distribution metadata packages_distributions requires PackageNotFoundError",
    ),
    (
        "sys",
        Action::Constant,
        "argv version version_info platform executable stdin stdout stderr maxsize byteorder prefix base_prefix \
         exec_prefix implementation flags float_info int_info hexversion api_version copyright builtin_module_names \
         stdlib_module_names maxunicode hash_info thread_info __stdout__ __stderr__ __stdin__",
    ),
    ("sys", Action::Guarded, "path"),
    (
        "sys",
        Action::Pure,
        "exit getrecursionlimit setrecursionlimit getdefaultencoding getfilesystemencoding intern \
         getswitchinterval set_int_max_str_digits get_int_max_str_digits",
    ),
    ("sys", Action::Look, "getsizeof getrefcount"),
    (
        "os",
        Action::Constant,
        "sep linesep pathsep name curdir pardir extsep devnull altsep F_OK R_OK W_OK X_OK O_RDONLY SEEK_SET SEEK_END EX_OK",
    ),
    ("os", Action::Environ, "environ environb"),
    ("os", Action::Variable, "getenv"),
    ("os", Action::SetVariable, "putenv unsetenv"),
    (
        "os",
        Action::Pure,
        "getpid getppid getuid geteuid getgid getegid getgroups getlogin uname cpu_count urandom strerror error times \
         getloadavg get_terminal_size isatty fsencode fsdecode fspath sched_getaffinity process_cpu_count",
    ),
    ("os", Action::Here, "getcwd"),
    ("os", Action::Names, "listdir"),
    ("os", Action::Descend, "walk"),
    ("os", Action::Glob, "scandir"),
    ("os", Action::Read, "stat lstat access readlink statvfs"),
    ("os", Action::Write, "mkdir makedirs chmod chown lchown utime truncate mkfifo mknod chflags"),
    ("os", Action::Delete, "remove unlink rmdir removedirs"),
    ("os", Action::Move, "rename renames replace"),
    ("os", Action::Shell, "system popen"),
    ("os", Action::ExecList, "execv execvp execve execvpe posix_spawn posix_spawnp"),
    ("os", Action::ExecWords, "execl execlp"),
    (
        "os",
        Action::RunsUnknown,
        "fork forkpty execle execlpe spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe startfile",
    ),
    ("pty", Action::ExecList, "spawn"),
    ("os", Action::System, "kill killpg setuid setgid seteuid setegid setreuid setresuid chroot nice reboot"),
    ("os.path", Action::Join, "join"),
    ("os.path", Action::Same, "abspath normpath realpath expanduser"),
    (
        "os.path",
        Action::Pure,
        "basename dirname split splitext splitdrive relpath commonpath commonprefix isabs normcase",
    ),
    (
        "os.path",
        Action::Read,
        "exists lexists isfile isdir islink ismount getsize getmtime getatime getctime samefile",
    ),
    ("os.path", Action::Constant, "sep pathsep curdir pardir"),
    ("posixpath", Action::Join, "join"),
    ("pathlib", Action::NewPath, "Path PurePath PosixPath PurePosixPath"),
    ("pathlib.Path", Action::Home, "home"),
    ("pathlib.Path", Action::NewPath, "cwd"),
    ("glob", Action::Glob, "glob iglob"),
    ("glob", Action::Pure, "escape has_magic"),
    ("fnmatch", Action::Pure, "fnmatch fnmatchcase filter translate"),
    ("shutil", Action::DeleteTree, "rmtree"),
    ("shutil", Action::Copy, "copy copy2 copyfile copytree copymode copystat"),
    ("shutil", Action::Move, "move"),
    ("shutil", Action::Write, "chown"),
    ("shutil", Action::Read, "disk_usage"),
    ("shutil", Action::Pure, "which get_terminal_size copyfileobj get_archive_formats"),
    ("subprocess", Action::Process, "run call check_call check_output Popen"),
    ("subprocess", Action::Shell, "getoutput getstatusoutput"),
    ("subprocess", Action::Constant, "PIPE STDOUT DEVNULL"),
    ("subprocess", Action::Pure, "CalledProcessError TimeoutExpired SubprocessError list2cmdline"),
    ("urllib.request", Action::Connect, "urlopen"),
    ("urllib.request", Action::Download, "urlretrieve"),
    ("requests", Action::Connect, "get post put delete patch head options request Session"),
    ("httpx", Action::Connect, "get post put delete patch head options request stream Client AsyncClient"),
    ("aiohttp", Action::Connect, "ClientSession request"),
    ("http.client", Action::Connect, "HTTPConnection HTTPSConnection"),
    ("socket", Action::Connect, "socket create_connection create_server socketpair"),
    ("ftplib", Action::Connect, "FTP FTP_TLS"),
    ("smtplib", Action::Connect, "SMTP SMTP_SSL"),
    ("telnetlib", Action::Connect, "Telnet"),
    ("paramiko", Action::Connect, "SSHClient Transport"),
    ("xmlrpc.client", Action::Connect, "ServerProxy"),
    ("pickle", Action::RunsUnknown, "load loads Unpickler"),
    ("marshal", Action::RunsUnknown, "load loads"),
    ("runpy", Action::RunsUnknown, "run_path run_module"),
    ("ctypes", Action::RunsUnknown, "CDLL cdll PyDLL WinDLL LibraryLoader pythonapi"),
    ("code", Action::RunsUnknown, "interact InteractiveConsole"),
    (
        "urllib.parse",
        Action::Pure,
        "urlparse urlunparse urlsplit urlunsplit urljoin urlencode quote quote_plus quote_from_bytes unquote \
         unquote_plus unquote_to_bytes parse_qs parse_qsl urldefrag",
    ),
    ("json", Action::Pure, "load loads dump dumps JSONDecodeError JSONEncoder JSONDecoder"),
    (
        "re",
        Action::Pure,
        "compile search match fullmatch split findall finditer sub subn escape purge error Pattern Match",
    ),
    (
        "re",
        Action::Constant,
        "A ASCII I IGNORECASE L LOCALE M MULTILINE S DOTALL U UNICODE X VERBOSE DEBUG NOFLAG",
    ),
    (
        "math",
        Action::Pure,
        "acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist erf erfc exp exp2 expm1 \
         fabs factorial floor fmod frexp fsum gamma gcd hypot isclose isfinite isinf isnan isqrt lcm ldexp lgamma log \
         log10 log1p log2 modf nextafter perm pow prod radians remainder sin sinh sqrt tan tanh trunc ulp sumprod fma",
    ),
    ("math", Action::Constant, "e inf nan pi tau"),
    ("cmath", Action::Pure, "acos asin atan cos exp isclose log log10 phase polar rect sin sqrt tan"),
    ("cmath", Action::Constant, "e inf nan pi tau"),
    ("datetime", Action::Pure, "datetime date time timedelta timezone tzinfo"),
    ("datetime", Action::Constant, "UTC MINYEAR MAXYEAR"),
    (
        "datetime.datetime",
        Action::Pure,
        "now utcnow today fromtimestamp utcfromtimestamp fromisoformat strptime combine fromordinal strftime isoformat",
    ),
    ("datetime.datetime", Action::Constant, "min max resolution"),
    ("datetime.date", Action::Pure, "today fromtimestamp fromisoformat fromordinal fromisocalendar"),
    ("datetime.time", Action::Pure, "fromisoformat"),
    ("datetime.timezone", Action::Constant, "utc"),
    (
        "time",
        Action::Pure,
        "time time_ns sleep strftime strptime gmtime localtime mktime ctime asctime monotonic monotonic_ns \
         perf_counter perf_counter_ns process_time process_time_ns thread_time get_clock_info",
    ),
    ("time", Action::Constant, "timezone altzone daylight tzname"),
    (
        "random",
        Action::Pure,
        "random randint randrange choice choices sample shuffle uniform seed gauss normalvariate betavariate \
         expovariate triangular getrandbits randbytes Random SystemRandom lognormvariate paretovariate",
    ),
    ("secrets", Action::Pure, "token_hex token_urlsafe token_bytes choice randbelow randbits compare_digest"),
    ("collections", Action::Pure, "Counter OrderedDict defaultdict deque namedtuple ChainMap"),
    ("collections.abc", Action::Pure, "Iterable Mapping Sequence Callable Iterator Set Hashable Sized"),
    (
        "itertools",
        Action::Pure,
        "accumulate chain combinations combinations_with_replacement compress count cycle dropwhile filterfalse groupby \
         islice pairwise permutations product repeat starmap takewhile tee zip_longest batched",
    ),
    ("itertools.chain", Action::Pure, "from_iterable"),
    ("functools", Action::Pure, "reduce partial lru_cache cache cmp_to_key wraps"),
    (
        "operator",
        Action::Pure,
        "itemgetter add sub mul truediv floordiv mod pow neg pos and_ or_ xor not_ eq ne lt le gt ge contains concat \
         getitem countOf indexOf truth is_ is_not matmul lshift rshift inv",
    ),
    (
        "string",
        Action::Constant,
        "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits printable punctuation whitespace",
    ),
    ("string", Action::Pure, "capwords Template"),
    ("textwrap", Action::Pure, "dedent fill indent shorten wrap TextWrapper"),
    (
        "base64",
        Action::Pure,
        "b64encode b64decode b32encode b32decode b16encode b16decode b85encode b85decode a85encode a85decode \
         urlsafe_b64encode urlsafe_b64decode standard_b64encode standard_b64decode encodebytes decodebytes",
    ),
    ("binascii", Action::Pure, "hexlify unhexlify a2b_base64 b2a_base64 a2b_hex b2a_hex crc32 crc_hqx Error"),
    (
        "hashlib",
        Action::Pure,
        "md5 sha1 sha224 sha256 sha384 sha512 sha3_224 sha3_256 sha3_384 sha3_512 blake2b blake2s new pbkdf2_hmac \
         scrypt shake_128 shake_256 file_digest",
    ),
    ("hashlib", Action::Constant, "algorithms_available algorithms_guaranteed"),
    ("hmac", Action::Pure, "new digest compare_digest"),
    ("zlib", Action::Pure, "compress decompress crc32 adler32"),
    ("gzip", Action::Pure, "compress decompress"),
    ("bz2", Action::Pure, "compress decompress"),
    ("lzma", Action::Pure, "compress decompress"),
    (
        "platform",
        Action::Pure,
        "platform system release version machine node uname python_version python_version_tuple \
         python_implementation python_compiler python_build libc_ver mac_ver freedesktop_os_release",
    ),
    (
        "statistics",
        Action::Pure,
        "mean median mode stdev pstdev variance pvariance fmean geometric_mean harmonic_mean quantiles multimode \
         median_low median_high median_grouped correlation covariance linear_regression NormalDist StatisticsError",
    ),
    ("decimal", Action::Pure, "Decimal getcontext localcontext Context InvalidOperation"),
    (
        "decimal",
        Action::Constant,
        "ROUND_UP ROUND_DOWN ROUND_HALF_UP ROUND_HALF_EVEN ROUND_CEILING ROUND_FLOOR ROUND_HALF_DOWN",
    ),
    ("fractions", Action::Pure, "Fraction"),
    ("uuid", Action::Pure, "uuid3 uuid4 uuid5 UUID"),
    ("uuid", Action::Constant, "NAMESPACE_DNS NAMESPACE_URL NAMESPACE_OID NAMESPACE_X500"),
    ("csv", Action::Pure, "reader writer DictReader DictWriter list_dialects field_size_limit Error"),
    ("csv", Action::Constant, "QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC excel excel_tab"),
    ("io", Action::Pure, "StringIO BytesIO TextIOWrapper"),
    ("io", Action::Open, "open"),
    ("codecs", Action::Open, "open"),
    ("codecs", Action::Pure, "encode decode lookup"),
    ("pprint", Action::Pure, "pprint pformat pp PrettyPrinter saferepr"),
    ("struct", Action::Pure, "pack unpack calcsize iter_unpack unpack_from Struct error"),
    ("array", Action::Pure, "array"),
    ("html", Action::Pure, "escape unescape"),
    (
        "xml.etree.ElementTree",
        Action::Pure,
        "fromstring tostring XML Element SubElement dump indent ParseError fromstringlist",
    ),
    ("xml.etree.ElementTree", Action::Parse, "parse"),
    ("xml.etree", Action::Module, "ElementTree"),
    (
        "unicodedata",
        Action::Pure,
        "name lookup category normalize bidirectional combining decimal digit numeric east_asian_width is_normalized mirrored decomposition",
    ),
    ("unicodedata", Action::Constant, "unidata_version"),
    (
        "locale",
        Action::Pure,
        "getlocale setlocale getpreferredencoding localeconv getdefaultlocale getencoding format_string currency atof atoi",
    ),
    ("locale", Action::Constant, "LC_ALL LC_CTYPE LC_NUMERIC LC_TIME LC_COLLATE"),
    (
        "calendar",
        Action::Pure,
        "month calendar monthrange isleap leapdays weekday monthcalendar timegm prmonth prcal TextCalendar Calendar",
    ),
    ("calendar", Action::Constant, "day_name day_abbr month_name month_abbr MONDAY SUNDAY"),
    ("copy", Action::Pure, "copy deepcopy"),
    (
        "ast",
        Action::Pure,
        "literal_eval parse dump walk unparse get_docstring iter_child_nodes FunctionDef ClassDef AsyncFunctionDef Name Call Import ImportFrom Constant Assign Attribute",
    ),
    ("difflib", Action::Pure, "unified_diff context_diff ndiff get_close_matches SequenceMatcher Differ"),
    ("shlex", Action::Pure, "split quote join"),
    (
        "sysconfig",
        Action::Pure,
        "get_path get_paths get_config_var get_config_vars get_platform get_python_version get_scheme_names get_path_names",
    ),
    ("tomllib", Action::Pure, "load loads TOMLDecodeError"),
    ("configparser", Action::Pure, "ConfigParser RawConfigParser Error NoSectionError NoOptionError"),
    ("heapq", Action::Pure, "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest"),
    ("bisect", Action::Pure, "bisect bisect_left bisect_right insort insort_left insort_right"),
    ("warnings", Action::Pure, "filterwarnings simplefilter warn catch_warnings"),
    ("traceback", Action::Pure, "print_exc format_exc"),
    ("contextlib", Action::Pure, "suppress closing nullcontext contextmanager"),
    ("keyword", Action::Pure, "iskeyword issoftkeyword"),
    ("keyword", Action::Constant, "kwlist softkwlist"),
    ("enum", Action::Pure, "auto"),
    ("zoneinfo", Action::Pure, "ZoneInfo available_timezones"),
    ("getpass", Action::Pure, "getuser"),
    ("colorsys", Action::Pure, "rgb_to_hsv hsv_to_rgb rgb_to_hls hls_to_rgb rgb_to_yiq yiq_to_rgb"),
    ("types", Action::Pure, "SimpleNamespace MappingProxyType"),
    ("stat", Action::Pure, "S_ISDIR S_ISREG S_ISLNK filemode S_IMODE"),
    ("typing", Action::Constant, "TYPE_CHECKING"),
    ("typing", Action::Pure, "cast get_args get_origin"),
];
