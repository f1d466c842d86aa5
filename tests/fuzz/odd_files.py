"""Files that are none of what was asked for, and names that are no names of files."""

from __future__ import annotations

import random

from attack import Put, fifo, folder, link, sparse

FILES: dict[str, Put] = {
    "empty": b"",
    "line-break": b"\n",
    "nul": b"\0" * 100,
    "bytes": random.Random(1).randbytes(10_000),
    "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "utf-16": "a,b\n1,2\n".encode("utf-16"),
    "latin-1": b"caf\xe9,1\n2,3\n",
    "mark": b"\xef\xbb\xbfa,b\n1,2\n",
    "cr": b"a,b\r1,2\r3,4\r",
    "words": b"not what you want\n" * 3,
    "a-line-of-5MB": b"9" * 5_000_000,
    "a-cell-of-5MB": b'a,b\n1,"' + b"x" * 5_000_000 + b'"\n',
    "commas": b"," * 200_000 + b"\n" + b"1," * 200_000,
    "lines": b"1,2\n" * 200_000,
    "deep.json": b"[" * 100_000,
    "deep-objects.json": b'{"a":' * 100_000,
    "laughs.yaml": b"a: &a [x,x]\n" + b"".join(b"b%d: &b%d [*a,*a,*a]\n" % (n, n) for n in range(500)),
    "tag.yaml": b"!!python/object/apply:os.system [touch canary]\n",
    "unended": b'a,b\n"1,2\n3,4\n',
    "huge": sparse(100_000_000),
    "folder": folder,
    "fifo": fifo,
    "loop": link("loop"),
    "dangling": link("nothing-here"),
    "to-passwd": link("/etc/passwd"),
    "to-zero": link("/dev/zero"),
}
"""Put beside a scenario, each under its name."""
OUTSIDE = (
    *("/dev/zero", "/dev/full", "/dev/null", "/dev/random", "/dev/stdin", "/dev/fd/0", "/proc/self/mem"),
    *("/proc/self/environ", "/proc/self/cmdline", "/etc/passwd", "../kept/stdin", "/", "."),
)
"""Paths of other places."""
NAMES = (
    *("", " ", "..", "missing", "missing/file", "mine.yaml/", "mine.yaml/x", "x" * 300, "x" * 5_000, "a/" * 2_000),
    *("~/.bashrc", "$HOME", "$(touch canary)", "`touch canary`", "file:///etc/passwd", "http://127.0.0.1:9/x"),
    *("\\\\server\\share", "C:\\Windows\\win.ini", "CON", "-", "--help", "*.yaml", "{x}", "%s%n", "a\0b", "a\nb"),
    *("\x1b[31mred", "\u202eevil", "\U0001f600", "<script>alert(1)</script>", "=1+1", "[/red]"),
)
"""Words that are no path, or one that nothing is at."""
