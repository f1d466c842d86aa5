"""Links to the explorer: torn, huge, and with files and names in them that the page must not open."""

from __future__ import annotations

import zlib
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from urllib.parse import quote_from_bytes, urlencode

from attack import Attack, fifo
from odd_files import NAMES, OUTSIDE
from small import ONE_HOST, quoted, scenario
from started import ADDRESS

from simulator.explorer.link import packed
from tables.paths_in_keys import ENTRIES, TAKE_FILES, without

SECRET = "secret.yaml"
"""A file beside the server that no address may open."""
BOMB = urlsafe_b64encode(zlib.compress(b"#" * 300_000_000, 1)).decode()
ADDRESSES = {
    "nothing": "",
    "an unknown parameter": "foo=bar",
    "a shipped scenario": f"scenario={ONE_HOST}",
    "a scenario that is a path": f"scenario={SECRET}",
    "a scenario above": "scenario=../scenarios/tutorial/1-one-host",
    "a scenario of the root": "scenario=/etc/passwd",
    "a scenario from stdin": "scenario=-",
    "a torn text": f"name=x&yaml={packed(scenario())[:100]}",
    "no text": "name=x&yaml=!!!",
    "text of one line": f"yaml={packed(SECRET)}",
    "text that is a path": f"yaml={packed('/etc/passwd')}",
    "text from stdin": f"yaml={packed('-')}",
    "text that is no UTF-8": f"yaml={urlsafe_b64encode(zlib.compress(bytes(range(256)))).decode()}",
    "a bomb of 300 MB": f"yaml={BOMB}",
    "a text of 1 MB": f"yaml={packed(scenario() + '#' * 990_000)}",
    "500 changes": urlencode({"set": [f"seed={n}" for n in range(500)]}, doseq=True),
    "a change of nothing": "set=&set==&set=a&set=.&set==1",
    "a change of 100,000 letters": f"set=name={'x' * 100_000}",
    "a thousand views": "view=step&" * 1_000,
    "markup in a name": urlencode({"name": "<script>alert(1)</script>", "yaml": packed(scenario())}),
    "raw bytes": "name=" + quote_from_bytes(bytes(range(256))),
}


def attacks() -> Iterator[Attack]:
    for what, address in ADDRESSES.items():
        yield _followed(what, address)
    for key, line in {**ENTRIES, **TAKE_FILES}.items():
        for name in (SECRET, "../here/secret.yaml", "fifo", *OUTSIDE, *NAMES):
            text = without(scenario(), line.partition(":")[0]) + line.format(quoted(name))
            yield _followed(f"{key} in a text: {name[:30]}", urlencode({"name": "x", "yaml": packed(text)}))
            change = line.format(quoted(name)).strip().replace(": ", "=", 1)
            yield _followed(f"{key} in a change: {name[:30]}", urlencode({"scenario": ONE_HOST, "set": change}))


def _followed(what: str, address: str) -> Attack:
    files = {SECRET: scenario(), "fifo": fifo}
    return Attack(what, [ADDRESS, address], files, opens_nothing=True, wait=40)
