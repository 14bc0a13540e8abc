"""A run that ends before it could judge has an exit code of its own, and finds no bug."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from campaign import __main__ as command
from campaign.history import History
from campaign.oracle import Kind, Problem
from campaign.run import Fired, Outcome
from campaign.schedule import Schedule, Step

_STEPS = tuple(Step(float(number), "broker-killed", {"broker": 1}) for number in range(8))
_OUTCOME = Outcome((Fired(_STEPS[0], 1),), (), History((), {}, (), {}, {}, {}), 0, 1)


class Processes:
    """Campaigns that would run in processes of their own, and how they end."""

    def __init__(self) -> None:
        self.codes: dict[int, int] = {}  # by the number of faults
        self.code = 0  # of all others
        self.imports = True
        self.counts: list[int] = []

    def run(self, words: Sequence[str], *, cwd: Path, **_: object) -> subprocess.CompletedProcess:
        schedule, folder = (
            Path(words[words.index(name) + 1]) for name in ("--schedule", "--folder")
        )
        count = len(Schedule.read(schedule).steps)
        self.counts.append(count)
        if self.imports:
            folder.mkdir(exist_ok=True)
            (folder / "schedule.json").touch()
        return subprocess.CompletedProcess(words, self.codes.get(count, self.code))


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Processes:
    made = Processes()
    monkeypatch.setattr("campaign.__main__.subprocess.run", made.run)
    monkeypatch.setattr(command, "copy_clone", _copy)
    return made


def _copy(clone: Path, copy: Path) -> None:
    for mutant in command.load_mutants(clone):
        if mutant.name == "zlib-bomb":
            (copy / mutant.file).parent.mkdir(parents=True)
            (copy / mutant.file).write_text((clone / mutant.file).read_text())


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Leave logs and signals of the process of the tests as they are."""
    monkeypatch.setattr(command, "_show_faults", lambda: None)
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def _main(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *words: str) -> int:
    schedule = tmp_path / "given.json"
    Schedule(7, _STEPS).write(schedule)
    given = ["--schedule", str(schedule), "--folder", str(tmp_path / "run"), *words]
    monkeypatch.setattr("sys.argv", ["campaign", *given])
    return command.main()


@pytest.mark.parametrize(
    ("problems", "code"), [((), 0), ((Problem(Kind.LOST, "a record"),), 1)]
)  # fmt: skip
def test_a_run_that_judged_returns_the_code_of_its_outcome(monkeypatch, tmp_path, problems, code):
    outcome = Outcome(_OUTCOME.fired, problems, _OUTCOME.history, 0, 1)
    monkeypatch.setattr(command, "run_schedule", lambda *_, **__: outcome)

    assert _main(monkeypatch, tmp_path) == code


@pytest.mark.parametrize(
    ("words", "count"),
    [([], 1), (["--only", "links-cut"], 0), (["--schedule", "it.json"], 0)],
    ids=["all faults", "one fault", "a kept schedule"],
)
def test_only_a_run_with_all_faults_of_a_seed_is_a_trial(monkeypatch, tmp_path, words, count):
    kept = []
    monkeypatch.chdir(tmp_path)
    Schedule(7, _STEPS).write(Path("it.json"))
    monkeypatch.setattr(command, "run_schedule", lambda *_, **__: _OUTCOME)
    monkeypatch.setattr(command, "_record", lambda *given: kept.append(given))
    monkeypatch.setattr("sys.argv", ["campaign", "--folder", str(tmp_path / "run"), *words])

    assert command.main() == 0
    assert len(kept) == count


def test_an_exception_is_no_finding(monkeypatch, tmp_path, capsys):
    def run(*_, **__):
        raise TimeoutError("the first rows are there")

    monkeypatch.setattr(command, "run_schedule", run)

    assert _main(monkeypatch, tmp_path) == 4
    assert "TimeoutError: the first rows are there" in capsys.readouterr().err


def test_a_signal_is_no_finding(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(
        command, "run_schedule", lambda *_, **__: os.kill(os.getpid(), signal.SIGTERM)
    )

    with pytest.raises(SystemExit) as ended:
        _main(monkeypatch, tmp_path)

    assert ended.value.code == 4
    assert "ended by a signal" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("ended", "code"), [(0, 0), (1, 1), (3, 3), (4, 4), (2, 4), (-signal.SIGKILL, 4)]
)
def test_a_mutant_is_found_by_what_the_oracle_says(monkeypatch, tmp_path, processes, ended, code):
    processes.code = ended

    assert _main(monkeypatch, tmp_path, "--mutant", "zlib-bomb") == code


def test_a_mutant_that_python_cannot_import_is_not_found(monkeypatch, tmp_path, processes):
    processes.code, processes.imports = 1, False
    (tmp_path / "run/mutant").mkdir(parents=True)
    (tmp_path / "run/mutant/schedule.json").touch()  # of an earlier run

    assert _main(monkeypatch, tmp_path, "--mutant", "zlib-bomb") == 4


def test_a_mutant_that_is_not_there_is_refused(monkeypatch, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        _main(monkeypatch, tmp_path, "--mutant", "nothing")

    assert ended.value.code == 2
    assert "found the mutant nothing, expected a name in tests/mutants" in capsys.readouterr().err


def test_the_shortest_start_is_found(monkeypatch, tmp_path, processes, capsys):
    processes.codes = {8: 1, 4: 3, 6: 1, 5: 0}

    assert _main(monkeypatch, tmp_path, "--shrink") == 1
    assert processes.counts == [8, 4, 6, 5]
    assert "the shortest: python -m campaign --schedule " in (said := capsys.readouterr().out)
    assert said.strip().endswith("first-6.json")


@pytest.mark.parametrize("code", [0, 3])
def test_a_schedule_that_finds_nothing_is_not_shrunk(monkeypatch, tmp_path, processes, code):
    processes.code = code

    assert _main(monkeypatch, tmp_path, "--shrink") == code
    assert processes.counts == [8]


@pytest.mark.parametrize("code", [4, -signal.SIGKILL])
def test_a_start_that_could_not_be_judged_ends_the_search(monkeypatch, tmp_path, processes, code):
    processes.codes = {8: 1, 4: code}

    with pytest.raises(SystemExit) as ended:
        _main(monkeypatch, tmp_path, "--shrink")

    assert ended.value.code == 4
    assert processes.counts == [8, 4]
