"""Run the whole platform under mixed faults, and judge it.

Exit codes: 0 if all that was sent is there as it must be, 1 if not, 3 if a fault did not happen,
and 4 if the run ended before it was judged.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from campaign.revisions import copy_sources
from campaign.run import Outcome, run_schedule
from campaign.schedule import (
    FAULTS,
    PROGRAMS,
    Schedule,
    choose_programs,
    make_schedule,
    shrink,
)
from campaign.soak import KEPT, make_soak
from systems.trials import Trials
from tools.commit import find_commit
from tools.mutants.mutants import Mutant, load_mutants
from tools.mutants.run import copy_clone, environ_of_copy

_ROOT: Final = Path(__file__).parents[1]
_SHOWN: Final = 20
_WRONG: Final = 1
_NOT_JUDGED: Final = 4
_CODES: Final = frozenset({0, _WRONG, 3, _NOT_JUDGED})
_KEPT_AS: Final = "schedule.json"  # in the folder of a run, as it begins
_TOLD: Final = ("operation", "kind", "moment")  # of the arguments of a fault
_TRIAL_SECONDS: Final = {"soak": 25 * 60, "mixed": 2 * 60}  # at which faults begin, by its row


def main() -> int:
    """Run what the words say, and return the exit code."""
    words = _parse()
    try:
        return _follow(words)
    except Exception:  # Python would end with 1, as if something were wrong
        traceback.print_exc()
        return _NOT_JUDGED


def _follow(words: argparse.Namespace) -> int:
    schedule = Schedule.read(words.schedule) if words.schedule else _make_schedule(words)
    folder = words.folder or Path(tempfile.mkdtemp(prefix="campaign-"))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / _KEPT_AS
    schedule.write(path)
    told = f"{len(schedule.steps)} faults, programs: {', '.join(schedule.programs) or 'no other'}"
    print(f"seed {schedule.seed}, {told}, in {folder}", flush=True)
    if schedule.base:
        copy_sources(schedule.base)  # a copy of the clone has no history
    if words.mutant:
        return _run_mutant(words.mutant, path, folder, ["--shrink"] if words.shrink else [])
    if words.shrink:
        return _shrink(schedule, folder)
    _show_faults()
    signal.signal(signal.SIGTERM, _end)
    outcome = run_schedule(schedule, folder / "run", soak=words.soak)
    _report(outcome)
    if not (words.only or words.schedule):
        _record(outcome, schedule, words.minutes)
    if outcome.code:
        print(f"again: python -m campaign --schedule {path}")
    return outcome.code


def _end(*_: object) -> None:
    """End, with the processes of the platform."""
    print("ended by a signal", file=sys.stderr)
    sys.exit(_NOT_JUDGED)


def _make_schedule(words: argparse.Namespace) -> Schedule:
    is_whole = not (words.soak or words.only)
    programs = words.programs or (choose_programs(words.seed) if is_whole else ())
    schedule = make_schedule(
        words.seed, words.minutes, soak=words.soak, only=words.only, programs=programs
    )
    return schedule.upgrade(find_commit(words.base)) if words.base else schedule


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m campaign", description=__doc__)
    today = int(time.strftime("%Y%m%d"))
    parser.add_argument("--seed", type=int, default=today, help="makes the schedule [the date]")
    parser.add_argument("--minutes", type=float, default=3, help="in which faults begin [3]")
    parser.add_argument(
        "--only", nargs="+", default=(), choices=sorted(FAULTS), metavar="FAULT", help="no others"
    )
    parser.add_argument(
        "--programs", nargs="+", choices=sorted(PROGRAMS), metavar="PROGRAM",
        help="others that run beside the job [one by the seed; none with --only or --soak]",
    )  # fmt: skip
    parser.add_argument("--soak", action="store_true", help="at half of the measured peak")
    parser.add_argument(
        "--from", dest="base", metavar="REV", help="upgrade the job from the code of a revision"
    )
    parser.add_argument("--schedule", type=Path, metavar="FILE", help="a schedule that was kept")
    parser.add_argument("--shrink", action="store_true", help="find the shortest start that fails")
    parser.add_argument(
        "--mutant", type=_find_mutant, metavar="NAME", help="run a copy with a bug of tests/mutants"
    )
    parser.add_argument("--folder", type=Path, help="where files and logs stay [a new one]")
    return parser.parse_args()


def _find_mutant(name: str) -> Mutant:
    for each in load_mutants(_ROOT):
        if each.name == name:
            return each
    raise argparse.ArgumentTypeError(f"found the mutant {name}, expected a name in tests/mutants")


def _show_faults() -> None:
    """Print the log of the campaign alone: all others tell of what is broken on purpose."""
    logging.getLogger().addHandler(logging.NullHandler())
    log, handler = logging.getLogger("campaign"), logging.StreamHandler(sys.stdout)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)


def _report(outcome: Outcome) -> None:
    """Print what happened, and each record that is wrong."""
    history = outcome.history
    fates = Counter(sent.fate for sent in history.sent)
    told = ", ".join(f"{count:,} {fate}" for fate, count in sorted(fates.items()))
    print(f"{len(history.sent):,} events: {told}")
    print(f"{len(history.records):,} records of {len(history.versions)} versions, "
          f"{len(history.hostile):,} of them hostile")  # fmt: skip
    if history.mended:
        print(f"{len(history.mended):,} records that only a replay may read")
    for program, other in history.others.items():
        rows = (f"{len(rows):,} {name}" for name, rows in other.tables.items())
        print(f"{program}: {', '.join(rows)}")
    print(f"{outcome.starts} drivers, at most {history.peak_mb} MB; {len(history.ends)} ended by "
          f"themselves; all was there after {outcome.recovery_seconds:.0f} s")  # fmt: skip
    if outcome.peak:
        print(f"half of {outcome.peak:.0f} events a second, which all programs carried before")
    for fault, times in sorted(_count_fired(outcome).items()):
        print(f"{times:8,} {fault}")
    for each in (each for each in outcome.fired if not each.times):
        print(f"did not happen: {each.step} {each.error}")
    for kind, what in outcome.problems[:_SHOWN]:
        print(f"{kind}: {what}")
    if left := len(outcome.problems[_SHOWN:]):
        print(f"and {left} more")


def _count_fired(outcome: Outcome) -> Counter[str]:
    fired: Counter[str] = Counter()
    for each in outcome.fired:
        arguments = each.step.arguments
        what = " ".join(arguments[name] for name in _TOLD if name in arguments)
        fired[f"{each.step.fault} {what}"] += each.times
    return fired


def _record(outcome: Outcome, schedule: Schedule, minutes: float) -> None:
    """Count a run that is long enough as a trial in docs/faults.md, and keep what a soak showed.

    One in which a fault did not happen shows something only if the oracle found a problem.
    """
    row = "soak" if outcome.peak else "mixed"
    is_long = any(each.step.second >= _TRIAL_SECONDS[row] for each in outcome.fired)
    if not (is_long and (outcome.is_valid or outcome.problems)):
        return
    trials = Trials(row, 1)
    outcome.tell(trials)
    trials.keep(_name_trial(schedule, row, minutes))
    if row == "soak":
        _keep_soak(outcome, schedule.seed)


def _name_trial(schedule: Schedule, row: str, minutes: float) -> str:
    """Return the command that runs a trial again."""
    words = ["--soak"] if row == "soak" else ["--programs", *schedule.programs]
    base = ["--from", schedule.base] if schedule.base else []
    length = ["--minutes", f"{minutes:g}", "--seed", str(schedule.seed)]
    return " ".join(["python -m campaign", *words, *base, *length])


def _keep_soak(outcome: Outcome, seed: int) -> None:
    make_soak(
        outcome.samples,
        day=time.strftime("%F"),
        commit=find_commit(),
        seed=seed,
        events=len(outcome.history.sent),
        peak=round(outcome.peak, 1),
        drivers=outcome.starts,
        problems=len(outcome.problems),
        faults=[each.step.second for each in outcome.fired if each.times],
    ).write(KEPT)


def _shrink(schedule: Schedule, folder: Path) -> int:
    """Run prefixes of the schedule, each in a process and on a platform of its own.

    A prefix that is not judged ends the search: it would lead to another bug, or to none.
    """

    def run(prefix: Schedule) -> int:
        path = folder / f"first-{len(prefix.steps)}.json"
        prefix.write(path)
        code = _run(path, path.with_suffix(""), _ROOT, {})
        print(f"the first {len(prefix.steps)} faults: {code}", flush=True)
        if code == _NOT_JUDGED:
            sys.exit(_NOT_JUDGED)
        return code

    if (code := run(schedule)) != _WRONG:
        print("the whole schedule does not fail")
        return code
    shortest = shrink(schedule, lambda prefix: run(prefix) == _WRONG)
    path = folder / f"first-{len(shortest.steps)}.json"
    print(f"the shortest: python -m campaign --schedule {path}")
    return _WRONG


def _run_mutant(mutant: Mutant, schedule: Path, folder: Path, more: Sequence[str]) -> int:
    """Run the schedule in a copy of the clone with a planted bug, with more words."""
    copy = folder / "clone"
    copy_clone(_ROOT, copy)
    (copy / mutant.file).write_text(mutant.apply(copy))
    return _run(schedule, folder / "mutant", copy, environ_of_copy(copy), more)


def _run(
    schedule: Path, folder: Path, clone: Path, environ: dict[str, str], more: Sequence[str] = ()
) -> int:
    """Run a schedule with the code of a clone, and return the exit code."""
    (folder / _KEPT_AS).unlink(missing_ok=True)
    words = ["--schedule", str(schedule), "--folder", str(folder), *more]
    command = [sys.executable, "-m", "campaign", *words]
    code = subprocess.run(command, cwd=clone, env=os.environ | environ, check=False).returncode
    # Python ends with 1 if it cannot even import the code.
    return code if code in _CODES and (folder / _KEPT_AS).exists() else _NOT_JUDGED


if __name__ == "__main__":
    sys.exit(main())
