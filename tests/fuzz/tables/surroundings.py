"""Where and how the command is started: widths, encodings, homes, switches of Python, and what lies about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from attack import OUT, Attack
from process import Done, Start
from small import ONE_HOST, scenario

RUN = ["run", ONE_HOST, "--runs", "1"]
ENVIRONMENTS: dict[str, dict[str, str | None]] = {
    **{f"COLUMNS={width}": {"COLUMNS": width} for width in ("-5", "0", "1", "2", "10", "100000", "x", "", "9" * 50)},
    **{f"LINES={height}": {"LINES": height} for height in ("-1", "0", "x")},
    "no HOME": {"HOME": None},
    "HOME that is none": {"HOME": "/nowhere"},
    "HOME that is a device": {"HOME": "/dev/null"},
    "no PATH": {"PATH": "/nowhere"},
    "no TERM": {"TERM": None},
    "a dumb terminal": {"TERM": "dumb"},
    "NO_COLOR": {"NO_COLOR": "1"},
    "FORCE_COLOR": {"FORCE_COLOR": "1"},
    "ASCII": {"PYTHONIOENCODING": "ascii"},
    "Latin-1": {"PYTHONIOENCODING": "latin-1"},
    "UTF-16": {"PYTHONIOENCODING": "utf-16"},
    "the locale C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "a locale that is none": {"LC_ALL": "xx_YY.foo"},
    "a time zone that is none": {"TZ": "Foo/Bar"},
    "no unused modules": {"PYTHONSAFEPATH": "1"},
    "a temporary folder that is none": {"TMPDIR": "/nowhere"},
    "settings of Matplotlib that are none": {"MPLBACKEND": "foo", "MPLCONFIGDIR": "/nowhere"},
    "a debugger that is none": {"PYTHONBREAKPOINT": "foo.bar", "PYTHONDEVMODE": "1"},
}
ENCODED = ("ASCII", "Latin-1", "the locale C", "UTF-16")
FLAGS = {"-O": ("-O",), "-OO": ("-OO",), "-I": ("-I",), "-W error": ("-W", "error"), "-X dev": ("-X", "dev")}
CANARY = "import pathlib\npathlib.Path(__file__).with_name('canary').touch()\nraise SystemExit('taken')\n"
MODULES = (
    *("json", "yaml", "numpy", "random", "typer", "simulator", "topologies", "logging", "csv", "re", "matplotlib"),
    *("sitecustomize", "usercustomize", "conftest", "rich", "encodings"),
)
LYING_ABOUT = {
    **{f"a module {name}.py": {f"{name}.py": CANARY} for name in MODULES},
    "settings of Matplotlib": {"matplotlibrc": "text.usetex: True\nbackend: module://canary\nsavefig.dpi: 1e9\n"},
    "settings of Matplotlib that are none": {"matplotlibrc": "foo bar: : :\nlines.linewidth: x\n"},
    "settings of Python projects": {"pyproject.toml": "[tool.foretrain]\nx = 1\n", "setup.cfg": "", ".env": "A=1\n"},
    "a folder of scenarios": {"tutorial/1-one-host.yaml": scenario(NAME="mine")},
    "a folder of catalogs": {"catalog/gpu/h100.yaml": "source: mine\n", "gpu/h100.yaml": "source: mine\n"},
    "a font": {"fonts/x.ttf": b"\0" * 100},
}
FIGURES = {"run": RUN, "run --out": [*RUN, "--out", OUT]}


def attacks() -> Iterator[Attack]:
    for what, environment in ENVIRONMENTS.items():
        start = Start(environment=environment)
        raw = what in ("FORCE_COLOR", *ENCODED)
        for words in (RUN, ["check", ONE_HOST], ["sweep", ONE_HOST, "--vary", "seed=[1,2]", "--quick", "--jobs", "1"]):
            yield Attack(f"{what}, {words[0]}", words, start=start, codes=(0,), raw=raw)
        if what in ENCODED:
            for words in (
                [*RUN, "--json"],
                ["run", "é.yaml"],
                ["catalog", "model"],
                ["validate", "--csv", "--family", "KOR"],
            ):
                files = {"é.yaml": scenario(NAME="é \U0001f600 中")}
                yield Attack(f"{what}, {' '.join(words[:3])}", words, files, start=start, raw=raw)
    yield Attack("a picture without a home", [*RUN, "--out", OUT], start=Start(environment={"HOME": None}))
    for what, flags in FLAGS.items():
        for words in (RUN, ["check", ONE_HOST], ["sweep", ONE_HOST, "--vary", "seed=[1,2]", "--quick", "--jobs", "2"]):
            yield Attack(f"{what}, {words[0]}", words, start=Start(flags=flags, plain=True), codes=(0,))
    for what, files in LYING_ABOUT.items():
        for verb, words in FIGURES.items():
            if verb == "run" or "Matplotlib" in what:
                start = Start(plain=True)
                yield Attack(f"{what}, {verb}", words, files, start=start, codes=(0,), after=_alone)
    gone = Start(before="mkdir gone; cd gone; rmdir ../gone;")
    for words in (RUN, ["check", ONE_HOST], ["sweep", ONE_HOST, "--vary", "seed=[1]", "--quick", "--out", OUT]):
        yield Attack(f"a folder that is gone, {words[0]}", words, start=gone, codes=(0, 2))


def _alone(at: Path, _: Done) -> str | None:
    """Return what was executed or taken from the folder."""
    return "a module of the folder was executed" if (at / "canary").exists() else None
