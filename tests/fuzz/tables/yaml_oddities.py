"""YAML that no editor writes, through `check`."""

from __future__ import annotations

from collections.abc import Iterator

from attack import Attack
from small import quoted, scenario

GOOD = scenario()
BODY = GOOD.split("\n", 1)[1]
LAUGHS = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))
NUMBERS = (
    *("0", "-1", "-0", "+1", "1.5", "1e3", "1e30", "1e309", "1e-400", "1e999999999", "9" * 400, "9" * 100_000),
    *("0x10", "0o17", "0b11", "017", "1_000", "1,000", "1:30", "1/2", ".5", "5.", "1e", "--1", ".inf", "-.inf", ".nan"),
    *("NaN", "Infinity", "³", "١٢", "１２", "½", "Ⅷ", "1 2", "1\u00a02", "1\u20092", "8 %", "$8", "8GiB", "1e3M"),
    *("true", "null", "~", "[1]", "{a: 1}", '""', "''", "|", ">-", "2020-01-01", "=", "<<", "!", "&a", "*a", "?", "-"),
)
"""In the place of a number of hosts."""

BYTES = {
    "a byte order mark": b"\xef\xbb\xbf" + GOOD.encode(),
    "two byte order marks": b"\xef\xbb\xbf" * 2 + GOOD.encode(),
    "CRLF": GOOD.replace("\n", "\r\n").encode(),
    "CR alone": GOOD.replace("\n", "\r").encode(),
    "line ends of all kinds": GOOD.replace("\n", "\r\n", 3).replace("\n", "\r", 2).encode(),
    "NEL and LS as line ends": GOOD.replace("\n", "\u0085", 3).replace("\n", "\u2028", 2).encode(),
    "a tab as indent": GOOD.replace("  host:", "\thost:").encode(),
    "a tab after a colon": GOOD.replace("name: ", "name:\t").encode(),
    "tabs at line ends": GOOD.replace("\n", "\t\n").encode(),
    "a NUL": GOOD.replace("small", "sm\0all").encode(),
    "a NUL at the end": GOOD.encode() + b"\0",
    "nothing but NULs": b"\0" * 1000,
    "UTF-16 with a mark": GOOD.encode("utf-16"),
    "UTF-16 of the other end": b"\xfe\xff" + GOOD.encode("utf-16-be"),
    "UTF-16 without a mark": GOOD.encode("utf-16-le"),
    "UTF-32": GOOD.encode("utf-32"),
    "Latin-1": GOOD.replace("small", "kl\xe9in").encode("latin-1"),
    "UTF-7": GOOD.replace("small", "+AGE-").encode(),
    "overlong UTF-8": GOOD.encode().replace(b"small", b"\xc0\xaf"),
    "a surrogate in UTF-8": GOOD.encode().replace(b"small", b"\xed\xa0\x80"),
    "UTF-8 that is cut": GOOD.encode().replace(b"runs: 1\n", b"runs: \xe2\x82"),
    "beyond Unicode": GOOD.encode().replace(b"small", b"\xf5\x80\x80\x80"),
    "empty": b"",
    "one line break": b"\n",
    "one space": b" ",
    "one comment": b"# nothing",
    "gzip": b"\x1f\x8b\x08\x00" + bytes(range(256)),
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "every byte": bytes(range(256)),
    "a megabyte and one": b"#" * 1_000_001,
    "a line of a megabyte": b"name: " + b"x" * 900_000,
}
TEXTS = {
    "an alias": f"name: &n small\n{BODY.replace('name: small', 'source: *n')}",
    "an alias of itself": "version: 1\nmodel: &m [*m]\n",
    "an alias of nothing": GOOD.replace("small", "*none"),
    "billions of laughs": GOOD + LAUGHS,
    "laughs in a mapping": GOOD + "a: &a {b: c}\n" + "".join(f"k{n}: &a {{x: *a, y: *a}}\n" for n in range(40)),
    "an anchor that nobody uses": GOOD.replace("cluster:", "cluster: &c"),
    "an anchor twice": GOOD.replace("small", "&a small").replace("llama", "&a llama"),
    "an anchor of 100,000 letters": GOOD.replace("small", f"&{'a' * 100_000} small"),
    "a merge": f"x: &x {{hosts: 2}}\n{GOOD.replace('  hosts: 1', '  <<: *x')}",
    "a merge of a list": GOOD.replace("  hosts: 1", "  <<: [{hosts: 1}, {hosts: 2}]"),
    "a merge of text": GOOD.replace("  hosts: 1", "  <<: hosts"),
    "a key twice": GOOD + "runs: 2\n",
    "a key 40,000 times": GOOD + "runs: 2\n" * 40_000,
    "40,000 keys": GOOD + "".join(f"k{n}: 1\n" for n in range(40_000)),
    "60,000 keys": GOOD + "".join(f"k{n}: 1\n" for n in range(60_000)),
    "40,000 causes": GOOD + "failures:\n  causes:\n" + "  - {kind: fixed}\n" * 20_000,
    "40,000 wrong values": GOOD + "failures: [" + "x, " * 40_000 + "x]\n",
    "deep lists": GOOD + "prices: " + "[" * 5_000 + "]" * 5_000,
    "deeper lists": GOOD + "prices: " + "[" * 400_000,
    "deep mappings": GOOD + "prices: " + "{a: " * 5_000 + "1" + "}" * 5_000,
    "deep blocks": GOOD + "prices:\n" + "".join(" " * n + "a:\n" for n in range(1, 1_000)),
    "deep lists of blocks": GOOD + "prices:\n" + "- " * 5_000 + "x\n",
    "an empty key": GOOD + ": 1\n",
    "a list as a key": GOOD + "? [a, b]\n: 1\n",
    "a mapping as a key": GOOD + "? {a: b}\n: 1\n",
    "a null key": GOOD + "~: 1\n",
    "a key of 100,000 letters": GOOD + "k" * 100_000 + ": 1\n",
    "a key of two lines": GOOD + '"a\\nb": 1\n',
    "a key with dots": GOOD + "cluster.hosts: 2\n",
    "a key with spaces": GOOD + "clu ster: 2\n",
    "a key of emoji": GOOD + "\U0001f600: 2\n",
    "a list": "- 1\n- 2\n",
    "a word": "scenario\n",
    "a number": "42\n",
    "null": "null\n",
    "two documents": f"{GOOD}---\n{GOOD}",
    "a document that ends": f"{GOOD}...\n",
    "a document after the end": f"{GOOD}...\n---\nx: 1\n",
    "a start and nothing": "---\n",
    "1,000 documents": "---\na: 1\n" * 1_000,
    "a directive of YAML 1.1": f"%YAML 1.1\n---\n{GOOD}",
    "a directive of YAML 9.9": f"%YAML 9.9\n---\n{GOOD}",
    "a directive of a tag": f"%TAG !e! tag:example.com,2000:\n---\n{GOOD}",
    "an unknown directive": f"%FOO bar\n---\n{GOOD}",
    "a percent sign": "%\n",
    "a tag of Python": GOOD.replace("small", "!!python/object/apply:os.system [touch canary]"),
    "a tag that makes a module": GOOD.replace("small", "!!python/module:antigravity ''"),
    "a tag that opens a file": GOOD.replace("small", "!!python/object/new:open [/etc/passwd]"),
    "a tag of text": GOOD.replace("small", "!!str small"),
    "a tag of a number": GOOD.replace("hosts: 1", "hosts: !!int 1"),
    "a tag of binary": GOOD.replace("small", "!!binary aGVsbG8="),
    "a tag of a set": GOOD + "prices: !!set {a, b}\n",
    "a tag of our own": GOOD.replace("small", "!include /etc/passwd"),
    "a tag alone": GOOD.replace("small", "!"),
    "a tag of 100,000 letters": GOOD.replace("small", f"!{'t' * 100_000} small"),
    "a comment of a megabyte less": GOOD + "#" * 900_000,
    "an unended quote": GOOD.replace("small", '"small'),
    "an unended list": GOOD.replace("small", "[small"),
    "an unknown escape": GOOD.replace("small", '"\\q"'),
    "half a surrogate by escape": GOOD.replace("small", '"\\ud800"'),
    "a pair of surrogates by escape": GOOD.replace("small", '"\\ud83d\\ude00"'),
    "NUL by escape": GOOD.replace("small", '"\\0"'),
    "beyond Unicode by escape": GOOD.replace("small", '"\\U00110000"'),
    "a block of text": GOOD.replace("small", "|\n  two\n  lines"),
    "a block that keeps its end": GOOD.replace("small", "|+\n  two\n\n\n"),
    "a block with a wrong indent": GOOD.replace("small", "|9\n  two"),
    "reserved signs": GOOD.replace("small", "@small"),
    "a backtick": GOOD.replace("small", "`small`"),
    "a colon in text": GOOD.replace("small", "a: b: c"),
    "JSON": '{"version": 1, "name": "small", "model": "llama-3.1-8b"}',
    "XML": '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>',
    "TOML": '[cluster]\nhosts = 1\nhost = "hgx-h100"\n',
    "a shell script": "#!/bin/sh\ntouch canary\n",
    "a template": GOOD.replace("small", "{{ 7*7 }} {% for x in range(10) %} ${HOME} $(id) `id`"),
}
CHARACTERS = {
    "escape": "\x1b[31mred\x1b]0;title\x07",
    "eight-bit escape": "\x9b31m\x90\x9d",
    "backspace": "a\x08b\x7f",
    "bell and carriage return": "a\x07\rb",
    "vertical tab and form feed": "a\x0b\x0cb",
    "right to left": "\u202eevil\u202c",
    "isolates": "\u2066a\u2069",
    "no width": "a\u200b\u200d\ufeffb",
    "combining": "a" + "\u0301" * 500,
    "line separators": "a\u2028b\u2029c\x85d",
    "not a character": "\ufffe\uffff\U0010ffff",
    "private": "\ue000\U000f0000",
    "emoji of a family": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "nothing": "",
    "spaces": "   ",
    "100,000 letters": "x" * 100_000,
}
"""In a name, by escape and as they are, and as an unknown key."""


def attacks() -> Iterator[Attack]:
    for what, content in {**BYTES, **TEXTS}.items():
        yield _checked(what, content)
    for number in NUMBERS:
        for place, text in (("hosts", scenario(HOSTS=number)), ("tokens", scenario(TOKENS=number))):
            yield _checked(f"{place}: {number[:20]}", text)
    for what, text in CHARACTERS.items():
        yield _checked(f"{what} in a name, escaped", scenario(NAME=quoted(text)))
        yield _checked(f"{what} in a name, raw", scenario(NAME=f"'{text}'"))
        yield _checked(f"{what} as a key", scenario() + f"{quoted(text)}: 1\n")
        yield _checked(f"{what} as a model", scenario(MODEL=quoted(text)))


def _checked(what: str, content: str | bytes) -> Attack:
    raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return Attack(what, ["check", "mine.yaml"], {"mine.yaml": raw})
