//! Ways around the reading: none of them may come out as wholly understood with nothing found.
//!
//! Each row has a reason; the controls beside them show that the harmless neighbour is still understood.

use effects::code::read;

const PYTHON: &[(&str, &str)] = &[
    ("a module by a computed name", "__import__('o'+'s').system('id')"),
    ("a module by a computed name", "import importlib; importlib.import_module('o'+'s').system('id')"),
    ("a member by name", "import os; getattr(os, 'sys'+'tem')('id')"),
    ("a member by name in a dictionary", "import os; os.__dict__['system']('id')"),
    ("a member by vars", "import os; vars(os)['system']('id')"),
    ("an alias of a function", "from os import system as s; s('id')"),
    ("an alias by assignment", "o=open;o('x','w')"),
    ("an alias of a module", "import os as json; json.system('id')"),
    ("an alias in a tuple", "import os; a, b = 1, os; b.system('id')"),
    ("an alias in a list", "import os; [f('id') for f in [os.system]]"),
    ("an alias as a default", "import os\ndef f(x, s=os.system): s(x)\nf('id')"),
    ("an alias by walrus", "import os; (s := os.system)('id')"),
    ("a function as an argument", "import os; list(map(os.system, ['id']))"),
    ("a function as a key", "import os; sorted(['id'], key=os.system)"),
    ("a function as a decorator", "import os\n@os.system\ndef f(): pass"),
    ("a decorator of a class", "import os\n@os.system\nclass id: pass"),
    ("a lambda in a comprehension", "import os; [(lambda x: os.system(x))(c) for c in ['id']]"),
    ("a hole with a call", "import os; f\"{os.system('id')}\""),
    ("a hole in a hole", "import os; print(f'{1:{os.system(chr(105))}}')"),
    ("a hole that shows itself", "import os; print(f'{os.system(\"id\")=}')"),
    ("a format that reaches in", "print('{0.__class__.__mro__}'.format(1))"),
    ("a format that is computed", "print(('{0._' + '_init__}').format(print))"),
    ("the classes of the world", "().__class__.__base__.__subclasses__()"),
    ("the globals of a function", "def f(): pass\nf.__globals__['__builtins__'].eval('1')"),
    ("a frame of a generator", "(x for x in []).gi_frame.f_builtins['eval']('1')"),
    ("built-ins by name", "__builtins__.eval('1')"),
    ("globals", "globals()['__builtins__']"),
    ("exec of text", "exec('import os')"),
    ("eval of text", "eval('1')"),
    ("code that is decoded", "import base64; exec(base64.b64decode('aWQ='))"),
    ("code that is compiled", "compile('1', 'x', 'exec')"),
    ("a wide letter that Python folds", "import os; os.ſystem('id')"),
    ("a wide letter in a name", "ｅxec('1')"),
    ("a carriage return after a comment", "# harmless\rimport os; os.system('id')"),
    ("a form feed before code", "\x0cimport os; os.system('id')"),
    ("a continued line", "import os; os.\\\nsystem('id')"),
    ("a string that ends early", "x = 'a' 'b'; import os; os.system('id') #'"),
    ("a triple quote that ends early", "x = '''a'''; import os; os.system('id') #'''"),
    ("a raw string that ends early", "x = r'a\\'; import os; os.system('id') #'"),
    ("a module of a module", "import random; random._os.system('id')"),
    ("a module of a module", "import glob; glob.os.system('id')"),
    ("a module of a module", "import json; json.decoder.re.enum.sys.modules['os'].system('id')"),
    ("modules by name", "import sys; sys.modules['os'].system('id')"),
    ("what is loaded next", "import sys; sys.path.insert(0, '/tmp/evil')"),
    ("what is loaded next, aliased", "import sys; p = sys.path; p.insert(0, '/tmp/evil')"),
    ("what is loaded next, through max", "import sys; max(sys.path, sys.path).insert(0, '/tmp/x')"),
    ("where paths begin", "import os; os.chdir('/etc'); print(open('shadow').read())"),
    ("a path object without a constant", "from pathlib import Path\nimport sys\nPath(sys.argv[1]).unlink()"),
    ("a file moved by replace", "from pathlib import Path\ndef f(p): p.replace('x')\nf(Path('a'))"),
    (
        "a path above by glob",
        "from pathlib import Path\nfor p in Path('a').glob('../*'): print(p.read_text())",
    ),
    (
        "a path above by parent",
        "from pathlib import Path\nprint(Path('a').parent.parent.joinpath('x').read_text())",
    ),
    ("a built-in taken over in one place", "def f():\n  len = open\n  return 1\nlen('x')"),
    ("a built-in that is shadowed in one place", "def f():\n  open = len\nopen('x', 'w')"),
    ("a name with two meanings", "import os\nx = 'a'\nx = os\nx.remove('y')"),
    ("a name that gets its meaning later", "def f(): o.remove('x')\nimport os\no = os\nf()"),
    ("the environment under another name", "import os; e = os.environ; e['LD_PRELOAD'] = 'x'"),
    ("the environment by update", "import os; os.environ.update(LD_PRELOAD='x')"),
    ("a method by operator", "import operator, os; operator.methodcaller('system', 'id')(os)"),
    ("a class with operators", "class A:\n  def __add__(self, o): return exec(o)\nA() + 'x'"),
    ("a pickle", "import pickle; pickle.loads(b'x')"),
    ("a native library", "import ctypes; ctypes.CDLL(None).system(b'id')"),
    ("a process by pty", "import pty; pty.spawn('sh')"),
    ("arguments by splat", "import subprocess; subprocess.run(*[['id']])"),
    ("arguments by mapping", "open(**{'file': 'x', 'mode': 'w'})"),
    ("an opener", "open('x', opener=print)"),
    ("a mode in a variable that changes", "m = 'r'\nfor m in input(): open('x', m)"),
    ("an environment for a process", "import subprocess; subprocess.run(['ls'], env={'PATH': '/tmp'})"),
    ("another program for a process", "import subprocess; subprocess.run(['ls'], executable='/tmp/x')"),
    ("a type made by type", "type('A', (), {'__del__': lambda s: 1})"),
    ("star import", "from os import *\nsystem('id')"),
    ("relative import", "from . import x"),
    ("a match statement", "import os\nmatch 1:\n  case 1: os.system('id')"),
    ("asynchronous code", "import asyncio\nasync def f(): pass\nasyncio.run(f())"),
];

const JAVASCRIPT: &[(&str, &str)] = &[
    ("a member in brackets", "process['mainModule'].require('child_process').exec('id')"),
    ("a member in brackets, computed", "process['main' + 'Module'].require('fs')"),
    ("a harmless member in brackets", "console['log'](1)"),
    ("an alias of require", "const r = require; r('child_process').exec('id')"),
    ("a module by a computed name", "require('child_' + 'process')['exec']('id')"),
    ("a module by a template", "require(`child_${'process'}`).exec('id')"),
    ("the constructor of functions", "[].constructor.constructor('return 1')()"),
    ("the constructor in brackets", "[]['constructor']['constructor']('return 1')()"),
    ("the constructor, computed", "const a = 'constr', b = 'uctor'; [][a + b][a + b]('1')()"),
    ("the constructor by destructuring", "const {constructor: c} = 'x'; c('1')"),
    ("the constructor as a callback", "const k = 'at'; ['1'].map(''[k][k])"),
    ("Function", "new Function('1')()"),
    ("eval", "eval('1')"),
    ("eval by comma", "(0, eval)('1')"),
    ("eval by a name with escapes", "\\u0065val('1')"),
    ("globalThis", "globalThis['ev' + 'al']('1')"),
    ("this", "this.process.exit()"),
    ("import()", "import('child_process').then(c => c.exec('id'))"),
    ("a tagged template", "String.raw`x`; eval`1`"),
    ("a comment of the old web", "x = 1 <!--\nrequire('fs').unlinkSync('x')"),
    ("a line that ends unseen", "// \u{2028}require('child_process').exec('id')"),
    ("a regular expression that hides", "if (1) /\"/.test('x'); require('fs').unlinkSync('y'); '\"'"),
    ("a regular expression after a brace", "{}\n/\"/.test('x'); require('fs').unlinkSync('y'); '\"'"),
    ("a hole with a call", "`${require('child_process').execSync('id')}`"),
    ("a hole in a template in a hole", "`${`${require('fs').unlinkSync('x')}`}`"),
    ("a getter", "({ get x() { return require('fs').unlinkSync('y') } }).x"),
    ("a method", "({ f() { require('fs').unlinkSync('y') } }).f()"),
    ("an object that is turned into text", "'' + { toString: require('fs').unlinkSync }"),
    ("the prototype of all objects", "({}).__proto__.shell = '/tmp/x'"),
    ("a prototype that is changed", "Array.prototype.map = x => 1"),
    ("a module that is changed", "require('fs').readFileSync = x => 1"),
    ("call and apply", "require('child_process').exec.call(null, 'id')"),
    ("bind", "const e = require('child_process').exec.bind(null, 'id'); e()"),
    ("a function in an array", "[require('child_process').exec][0]('id')"),
    ("a function as a callback", "['id'].forEach(require('child_process').execSync)"),
    ("a module in an object", "const o = {c: require('child_process')}; o.c.exec('id')"),
    ("the virtual machine", "require('vm').runInThisContext('1')"),
    ("the loader", "require('module')._load('child_process')"),
    ("bindings", "process.binding('spawn_sync')"),
    ("dlopen", "process.dlopen({}, './x.node')"),
    ("chdir", "process.chdir('/etc'); console.log(require('fs').readFileSync('shadow'))"),
    ("a worker", "new Worker('./x.js')"),
    ("WebAssembly", "new WebAssembly.Module(x)"),
    ("Reflect", "Reflect.get(process, 'mainModule')"),
    ("Proxy", "new Proxy({}, {get: eval})"),
    ("with", "with (process) { mainModule }"),
    ("a label", "a: { require('fs').unlinkSync('x') }"),
    ("a class", "class A { static { require('fs').unlinkSync('x') } }"),
    ("a global that is shadowed in one place", "{ let child_process = /x/; }\nchild_process.exec('id')"),
    ("a module of the network that is shadowed", "function f(http) {}\nhttp.get('http://evil.com')"),
    ("setTimeout of data", "setTimeout(process.argv[2])"),
    ("an option that is computed", "require('child_process').spawn('ls', [], process.argv)"),
    ("arguments by spread", "require('fs').writeFileSync(...['x', 'y'])"),
];

#[test]
fn no_way_around_python_is_wholly_understood_and_empty() {
    none_passes("python", PYTHON, 60);
}

#[test]
fn no_way_around_javascript_is_wholly_understood_and_empty() {
    none_passes("javascript", JAVASCRIPT, 45);
}

fn none_passes(language: &str, rows: &[(&str, &str)], least: usize) {
    let passed: Vec<_> = rows
        .iter()
        .filter(|(_, code)| {
            let reading = read(language, code);
            reading.complete && reading.findings.is_empty()
        })
        .collect();
    assert!(passed.is_empty(), "{passed:#?}");
    assert!(rows.len() >= least);
}

#[test]
fn the_harmless_neighbours_are_wholly_understood() {
    for (language, code) in [
        ("python", "import os; print(os.sep)"),
        ("python", "s = str; print(s(1))"),
        ("python", "print(f'{1 + 1:>{3}}')"),
        ("python", "print('{0}'.format(1))"),
        ("python", "x = r'a\\'; import os; os.system(\"id\") #'"),
        ("javascript", "console.log([1].map(x => x + 1))"),
        ("javascript", "const r = JSON.parse; console.log(r('1'))"),
        ("javascript", "console.log(`${`${1}`}`)"),
        ("javascript", "if (1) { console.log(/\"/.test('x')) }"),
    ] {
        let reading = read(language, code);
        assert!(reading.complete && reading.findings.is_empty(), "{code}: {reading:?}");
    }
}

#[test]
fn what_is_only_mentioned_is_not_found() {
    for (language, code) in [
        ("python", "class A: pass\nprint('os.system(\"id\")') # os.system('id')"),
        ("python", "import numpy\nx = '''\nimport os; os.remove('a')\n'''"),
        (
            "javascript",
            "class A {}; console.log('require(\"fs\").unlinkSync(\"a\")') // require('fs').unlinkSync('a')",
        ),
        ("javascript", "class A {}; console.log(/unlinkSync('a')/, `unlinkSync('a')`)"),
        ("perl", "foo(); print 'system(\"id\")'; # system('id')"),
        ("ruby", "foo; puts 'system(\"id\")' # system('id')"),
        ("php", "foo(); echo 'system(\"id\")'; // system('id')"),
        ("lua", "foo() print('os.execute(\"id\")') -- os.execute('id')"),
        ("sql", "FOO; SELECT 'DROP TABLE x' -- DROP TABLE y"),
        ("awk", "{foo(1); print \"system(\\\"id\\\")\"} # system(\"id\")"),
    ] {
        let reading = read(language, code);
        assert!(!reading.complete && reading.findings.is_empty(), "{code}: {reading:?}");
    }
}

#[test]
fn too_long_a_text_and_an_unknown_language_are_not_complete() {
    assert!(!read("python", &"#".repeat(64 * 1024 + 1)).complete);
    assert!(read("python", &"#".repeat(64 * 1024)).complete);
    assert!(!read("cobol", "").complete);
    assert!(!read("python", "print(1)\0").complete);
}
