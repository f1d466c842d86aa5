"""Small valid inputs that attacks are made from."""

from __future__ import annotations

ONE_HOST = "tutorial/1-one-host"
FAILING = "tutorial/3-failures"
SCENARIO = """\
version: 1
name: NAME
model: MODEL
cluster:
  host: hgx-h100
  hosts: HOSTS
stack: generic
training:
  tokens: TOKENS
  sequence_length: 2048
  global_batch: 32
runs: 1
"""
DEFAULTS = {"NAME": "small", "MODEL": "llama-3.1-8b", "HOSTS": "1", "TOKENS": "1G"}


def scenario(**changes: str) -> str:
    """Return a small scenario with words in the places of NAME, MODEL, HOSTS, TOKENS.

    >>> "hosts: 4" in scenario(HOSTS="4")
    True
    """
    text = SCENARIO
    for place, word in {**DEFAULTS, **changes}.items():
        text = text.replace(place, word)
    return text


def quoted(text: str) -> str:
    """Return `text` as a YAML string with escapes, so that any character may be in it."""
    escaped = "".join(c if " " <= c <= "~" and c not in '"\\' else _escape(c) for c in text)
    return f'"{escaped}"'


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}" if number < 65536 else f"\\U{number:08x}"
