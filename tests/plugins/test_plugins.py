"""A kind in a file that `--plugin` names is a kind like any other, and a file that brings none is an error."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from brought import BRINGS, EFFECT, SCENARIO, SCHEDULE

from simulator import plugins
from simulator.errors import ScenarioError
from simulator.kinds import kinds
from simulator.scenario import read
from simulator.simulation import fits, predict
from simulator.studies import store
from simulator.workload.optimizers.lion import Lion
from simulator.workload.schedules import Schedule
from simulator.workload.schedules.one_f_one_b import OneForwardOneBackward


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the scenario, in which a test works; whatever it loads is unloaded."""
    (tmp_path / "case.yaml").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    plugins.become(())


def foretrain(*arguments: str, code: int = 0) -> str:
    """Return what the command prints, or says where it should end with an error."""
    command = [sys.executable, "-m", "simulator", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


def loaded(text: str, name: str = "mine.py") -> plugins.Plugin:
    Path(name).write_text(text)
    (plugin,) = plugins.load([name])
    return plugin


@pytest.mark.parametrize("what", BRINGS)
def test_a_kind_of_a_plugin_runs_and_is_told(folder: Path, what: str) -> None:
    text, setting = BRINGS[what]
    Path("mine.py").write_text(text)
    assert "mine.py" not in foretrain("run", "case.yaml", "--set", setting, code=2)
    told = json.loads(foretrain("run", "case.yaml", "--plugin", "mine.py", "--set", setting, "--json"))
    (brought,) = told["plugins"]
    assert brought["file"] == "mine.py"
    assert what in brought["kinds"]
    assert told["step"]["time_s"] > 0


@pytest.mark.parametrize("what", BRINGS)
def test_each_kind_does_what_it_says(folder: Path, what: str) -> None:
    text, setting = BRINGS[what]
    loaded(text)
    case, plain = read(Path("case.yaml"), overrides=[setting]), read(Path("case.yaml"))
    if what.startswith("schedule"):
        assert predict(case).step_time_s == predict(plain).step_time_s
        ahead = read(Path("case.yaml"), overrides=["parallelism.schedule={kind: ahead-1f1b, ahead: 3}"])
        assert fits(ahead).peak_bytes > fits(case).peak_bytes
    elif what.startswith("optimizer"):
        lion = read(Path("case.yaml"), overrides=["training.optimizer=lion"])
        assert lion.training.optimizer == Lion()
        assert fits(case).peak_bytes == fits(lion).peak_bytes < fits(plain).peak_bytes
    elif what.startswith("mixer"):
        assert predict(case).step_time_s < predict(plain).step_time_s
    elif what.startswith("topology"):
        narrow = read(Path("case.yaml"), overrides=["cluster.topology={kind: ladder, rungs: 0.01}"])
        assert predict(case).step_time_s < predict(narrow).step_time_s
    else:
        (cause,) = case.failures.causes
        assert type(cause.does).__name__ == "Pause"
        assert cause.interrupting == 0


def test_the_option_may_stand_before_the_verb_and_be_repeated(folder: Path) -> None:
    Path("a.py").write_text(SCHEDULE)
    Path("b.py").write_text(EFFECT)
    both = [BRINGS[what][1] for what in ("schedule ahead-1f1b", "effect pause")]
    settings = ["--set", both[0], "--set", both[1]]
    told = foretrain("--plugin", "a.py", "--plugin", "b.py", "run", "case.yaml", *settings, "--json")
    assert [one["file"] for one in json.loads(told)["plugins"]] == ["a.py", "b.py"]
    assert "ahead-1f1b" in foretrain("catalog", "schedule", "--plugin", "a.py")
    assert "Ahead" in foretrain("schema", "--plugin", "a.py")


def test_the_report_says_which_plugin_was_there(folder: Path) -> None:
    Path("mine.py").write_text(SCHEDULE)
    setting = BRINGS["schedule ahead-1f1b"][1]
    page = foretrain("run", "case.yaml", "--plugin", "mine.py", "--set", setting)
    assert "plugin mine.py (" in " ".join(page.split())


def test_no_scenario_names_a_plugin(folder: Path) -> None:
    Path("mine.py").write_text("open('ran', 'w')\n")
    for key in ("plugin", "plugins"):
        assert f"{key}: unknown key" in foretrain("check", "case.yaml", "--set", f"{key}=mine.py", code=2)
    assert not Path("ran").exists()


BAD = {
    "a syntax error": ("x = 1\ny = = 2\n", "--plugin mine.py:2: invalid syntax"),
    "raises": ("\n\n1 / 0\n", "--plugin mine.py:3: ZeroDivisionError: division by zero"),
    "exits": ("import sys\nsys.exit(0)\n", "--plugin mine.py:2: SystemExit: 0"),
    "an unknown module": ("import no_such_module\n", "--plugin mine.py:1: ModuleNotFoundError: No module named"),
    "no kind": ("x = 1\n", "--plugin mine.py: defines no kind; expected a class with a `kind` that extends Schedule"),
    "a kind of nothing": ("class X:\n    kind = 'x'\n", "--plugin mine.py: defines no kind"),
    "a name that is taken": (
        SCHEDULE.replace("ahead-1f1b", "1f1b"),
        "--plugin mine.py: schedule 1f1b: this name is taken by simulator.workload.schedules.one_f_one_b",
    ),
    "no method": (
        SCHEDULE.replace("def tasks", "def task"),
        "--plugin mine.py: schedule ahead-1f1b: Ahead does not define tasks",
    ),
    "no text": (SCHEDULE.replace('"ahead-1f1b"', "3"), "--plugin mine.py: Ahead.kind: expected text, found 3"),
    "zero bytes": ("x = 1\0\n", "--plugin mine.py"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_file_that_cannot_be_used_says_why_and_leaves_nothing(folder: Path, what: str) -> None:
    text, says = BAD[what]
    before = kinds("simulator.workload.schedules", Schedule)
    with pytest.raises(ScenarioError) as error:
        loaded(text)
    assert str(error.value).startswith(says)
    assert kinds("simulator.workload.schedules", Schedule) == before
    assert plugins.loaded() == ()
    assert not [name for name in sys.modules if name.startswith(plugins.PREFIX)]


def test_a_file_that_cannot_be_read_says_why(folder: Path) -> None:
    Path("mine.py").write_text(SCHEDULE)
    Path("other.py").write_bytes(b"# \xff\n")
    for name, says in {
        "mien.py": "--plugin mien.py: no such file; did you mean mine.py?",
        ".": "--plugin .: is a folder, not a file",
        "other.py": "--plugin other.py:1: not UTF-8 text",
    }.items():
        assert foretrain("run", "case.yaml", "--plugin", name, code=2).startswith(says)


def test_two_plugins_do_not_share_a_name(folder: Path) -> None:
    loaded(SCHEDULE, "first.py")
    with pytest.raises(ScenarioError, match=r"--plugin mine.py: schedule ahead-1f1b: this name is taken by first.py"):
        loaded(SCHEDULE + "\n# another file\n")
    assert kinds("simulator.workload.schedules", Schedule)["ahead-1f1b"].__module__.startswith(plugins.PREFIX)


def test_a_file_is_run_once_and_again_where_it_changed(folder: Path) -> None:
    counting = SCHEDULE + "import sys\nsys.times_run = getattr(sys, 'times_run', 0) + 1\n"
    once = loaded(counting)
    assert loaded(counting) == once
    assert sys.__dict__.pop("times_run") == 1
    again = loaded(SCHEDULE.replace("ahead: int = 1", "ahead: int = 2"))
    assert again.sha256 != once.sha256
    assert plugins.loaded() == (again,)
    case = read(Path("case.yaml"), overrides=["parallelism.schedule=ahead-1f1b"])
    assert case.parallelism is not None
    assert asdict(case.parallelism.schedule) == {"ahead": 2}


def test_what_a_plugin_raises_later_names_its_line(folder: Path) -> None:
    Path("mine.py").write_text(EFFECT.replace("return job.stall(cause.timeout)", "return job.no_such_method()"))
    setting = BRINGS["effect pause"][1]
    line = EFFECT[: EFFECT.index("return job.stall")].count("\n") + 1
    said = foretrain("run", "case.yaml", "--plugin", "mine.py", "--set", setting, code=2)
    assert said.startswith(f"mine.py:{line}: AttributeError: ")
    arguments = ("sweep", "case.yaml", "--plugin", "mine.py", "--set", setting, "--vary", "seed=[1, 2]", "--jobs", "2")
    assert f"mine.py:{line}: AttributeError: " in foretrain(*arguments, code=2)


def test_a_plugin_whose_schedule_drops_a_task_is_refused(folder: Path) -> None:
    Path("mine.py").write_text(
        SCHEDULE.replace("return (*order, *backwards[micro", "return (*order, *backwards[1 + micro")
    )
    setting = BRINGS["schedule ahead-1f1b"][1]
    for verb in ("run", "check"):
        said = foretrain(verb, "case.yaml", "--plugin", "mine.py", "--set", setting, code=2)
        assert "parallelism.schedule: ahead-1f1b: stage 0 never runs the backward of microbatch" in said


# Studies.


def test_worker_processes_have_the_plugins(folder: Path) -> None:
    Path("mine.py").write_text(SCHEDULE)
    arguments = ["sweep", "case.yaml", "--plugin", "mine.py", "--csv"]
    arguments += ["--vary", "parallelism.schedule=[1f1b, {kind: ahead-1f1b, ahead: 0}, {kind: ahead-1f1b, ahead: 2}]"]
    told = [foretrain(*arguments, "--jobs", jobs) for jobs in ("1", "2")]
    assert told[0] == told[1]
    assert "infeasible" not in told[0]
    assert len(told[0].splitlines()) == 4


def test_layouts_search_a_schedule_of_a_plugin(folder: Path) -> None:
    Path("mine.py").write_text(SCHEDULE)
    search = (
        "search={schedule: [ahead-1f1b], tensor: [1], pipeline: [4], context: [1], microbatch: [1], shard: [optimizer]}"
    )
    told = foretrain("layouts", "case.yaml", "--plugin", "mine.py", "--set", search, "--jobs", "2", "--csv")
    assert "ahead-1f1b" in told


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_dask_workers_have_the_plugins_and_lose_them(folder: Path) -> None:
    distributed = pytest.importorskip("distributed")
    Path("mine.py").write_text(SCHEDULE)
    arguments = ["sweep", "case.yaml", "--csv", "--vary", "parallelism.schedule=[1f1b, {kind: ahead-1f1b, ahead: 2}]"]
    here = foretrain(*arguments, "--plugin", "mine.py", "--jobs", "1")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        arguments += ["--dask", cluster.scheduler_address]
        assert foretrain(*arguments, "--plugin", "mine.py") == here
        Path("mine.py").rename("moved.py")
        assert foretrain(*arguments, "--plugin", "moved.py") == here
        assert "unknown kind `ahead-1f1b`" in foretrain(*arguments)


def test_a_changed_plugin_makes_stored_answers_stale(folder: Path) -> None:
    arguments = ["sweep", "case.yaml", "--plugin", "mine.py", "--csv", "--jobs", "1"]
    arguments += ["--vary", "parallelism.schedule=[ahead-1f1b]"]

    def told(text: str, out: str) -> str:
        Path("mine.py").write_text(text)
        return foretrain(*arguments, "--out", out)

    before = told(SCHEDULE, "out")
    changed = SCHEDULE.replace("ahead: int = 1", "ahead: int = 3")
    assert told(SCHEDULE, "out") == before
    assert len(Path("out/rows.jsonl").read_text().splitlines()) == 1
    assert told(changed, "out") == told(changed, "fresh") != before
    assert len(Path("out/rows.jsonl").read_text().splitlines()) == 2


def test_the_key_of_a_question_depends_on_every_byte_of_a_plugin(folder: Path) -> None:
    keys = [store.key("a question")]
    for end in ("", "\n", "# a word\n"):
        loaded(SCHEDULE + end)
        keys.append(store.key("a question"))
    plugins.become(())
    assert len(set(keys)) == 4
    assert store.key("a question") == keys[0]


# Kinds that are defined in Python.


def test_a_class_that_is_defined_after_a_scenario_was_read_is_found_at_once(folder: Path) -> None:
    with pytest.raises(ScenarioError, match="late-1f1b"):
        read(Path("case.yaml"), overrides=["parallelism.schedule=late-1f1b"])

    @dataclass(frozen=True, kw_only=True)
    class Late(OneForwardOneBackward):
        kind: ClassVar[str] = "late-1f1b"
        ahead: int = 1

    try:
        case = read(Path("case.yaml"), overrides=["parallelism.schedule={kind: late-1f1b, ahead: 4}"])
        assert case.parallelism is not None
        assert case.parallelism.schedule == Late(ahead=4)
        assert predict(case).step_time_s == predict(read(Path("case.yaml"))).step_time_s

        @dataclass(frozen=True, kw_only=True)
        class Later(OneForwardOneBackward):
            kind: ClassVar[str] = "late-1f1b"
            more: int = 1

        case = read(Path("case.yaml"), overrides=["parallelism.schedule={kind: late-1f1b, more: 4}"])
        assert case.parallelism is not None
        assert case.parallelism.schedule == Later(more=4)
        forget: Any = Later
        del forget.kind
    finally:
        forget = Late
        del forget.kind


def test_an_effect_that_is_defined_late_is_found_at_once(folder: Path) -> None:
    read(Path("case.yaml"), overrides=["failures=rsc1"])
    loaded(EFFECT)
    assert read(Path("case.yaml"), overrides=[BRINGS["effect pause"][1]]).failures.causes[0].effect == "pause"
