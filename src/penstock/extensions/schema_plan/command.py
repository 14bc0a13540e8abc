"""`penstock schema plan` and `apply`: a folder of schemas, before and at its registration."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from penstock.cli import (
    Progress,
    add_outputs,
    expect,
    expect_count,
    print_json,
    print_line,
    use_answer_codes,
)
from penstock.extensions.schema_plan.baseline import load_baseline
from penstock.extensions.schema_plan.files import check_folder
from penstock.extensions.schema_plan.operation import (
    DEFAULT_BUDGET,
    Plan,
    State,
    apply_plan,
    make_plan,
)
from penstock.extensions.schema_plan.report import (
    describe_plan,
    list_annotations,
    list_lines,
    write_markdown,
    write_terraform,
)
from penstock.operations import load_programs, write_text
from penstock.registry import load_registry
from penstock.schemas import Compatibility

_PLAN = (
    "Compare the .avsc files of a folder with a registry, a backup of one or a commit of git: what "
    "their registration would do, and whom it would affect. Nothing is registered."
)
_APPLY = (
    "Register the .avsc files of a folder as `penstock schema plan` says. If it refuses one of "
    "them, nothing is registered."
)
_PLAN_CODES: Final = """\
exit codes:
  0  no schema is new or changed
  1  an error, or wrong usage
  2  schemas are new or changed
  3  a schema is forbidden
"""
_APPLY_CODES: Final = """\
exit codes:
  0  every schema is registered
  1  an error, or wrong usage
  3  a schema is forbidden; nothing was registered
"""
_FORBIDDEN: Final = 3
_FAIL_ON: Final = ("change", "forbidden", "error")


@dataclass(frozen=True, slots=True)
class _FolderCommand:
    """A command over a folder of schemas, below `penstock schema`."""

    HELP: str
    add_own: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    codes: str

    def add_to(self, parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR", help="the folder of .avsc files")
        self.add_own(parser)
        parser.add_argument(
            "--budget",
            type=expect_count(),
            default=DEFAULT_BUDGET,
            metavar="N",
            help="versions that a schema may have [%(default)s, or its producer's]",
        )
        use_answer_codes(parser, self.codes)
        parser.set_defaults(run=self._run)

    def _run(self, flags: argparse.Namespace) -> int:
        check_folder(flags.folder)
        return self.run(flags)


def _add_plan(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(registry="")  # --against may name something else
    parser.add_argument(
        "--against",
        default="",
        metavar="WHAT",
        help="git:REF, backup:FILE, or the URL of a registry [that of --registry]",
    )
    parser.add_argument(
        "--mode",
        type=expect(Compatibility, "a mode such as BACKWARD"),
        metavar="MODE",
        help="the mode to assume [the registry's; BACKWARD against git]",
    )
    _add_outputs(parser)
    parser.add_argument(
        "--fail-on",
        choices=_FAIL_ON,
        default="change",
        help="the least for which the exit code is not 0 [%(default)s]",
    )
    parser.add_argument(
        "--github", action="store_true", help="print annotations of GitHub at lines of files too"
    )
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write a comment for a pull request too"
    )
    parser.add_argument(
        "--terraform", action="store_true", help="print only strings, for a data source external"
    )


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    add_outputs(
        parser,
        "a file of `terraform output -json` of a root, which names programs; may be repeated",
    )


def _run_plan(flags: argparse.Namespace) -> int:
    with Progress(prints_lines=False) as bar:
        programs = load_programs(flags.outputs)
        baseline = load_baseline(flags.against, flags.registry, flags.folder, flags.mode)
        gc.freeze()  # or each collection looks at all versions of a backup
        plan = make_plan(flags.folder, baseline, programs, flags.budget, bar.show)
    if flags.markdown:
        write_text(flags.markdown, write_markdown(plan))
    if flags.terraform:
        print(write_terraform(plan))
    elif flags.output == "json":
        print_json(describe_plan(plan))
    else:
        _print_plan(plan)
        for line in list_annotations(plan) if flags.github else ():
            print_line(line)
    return _choose_code(plan, flags.fail_on)


def _print_plan(plan: Plan) -> None:
    for line in list_lines(plan):
        print_line(line)


def _choose_code(plan: Plan, fail_on: str) -> int:
    if plan.problems:
        return 1
    if plan.count(State.FORBIDDEN):
        return _FORBIDDEN if fail_on != "error" else 0
    changes = plan.count(State.NEW) + plan.count(State.CHANGED) + plan.count(State.REMOVED)
    return 2 if changes and fail_on == "change" else 0


def _run_apply(flags: argparse.Namespace) -> int:
    with Progress(prints_lines=False) as bar:
        baseline = load_baseline("", flags.registry, flags.folder)
        programs = load_programs(flags.outputs)
        plan = make_plan(flags.folder, baseline, programs, flags.budget, bar.show)
    if plan.problems or plan.count(State.FORBIDDEN):
        _print_plan(plan)
        return 1 if plan.problems else _FORBIDDEN
    same, registered = plan.count(State.SAME), []
    registry = load_registry(flags.registry)
    try:
        for each in apply_plan(plan, registry):
            if each.error:
                raise each.error
            registered.append({"name": each.name, "version": each.number, "id": each.id})
            if flags.output != "json":
                print_line(f"{each.name}: registered version {each.number}, {each.id}")
    finally:  # an error and ctrl-C leave what was registered
        if flags.output == "json":
            print_json({"registered": registered, "same": same})
        else:
            print_line(f"registered: {len(registered)}, same: {same}")
    return 0


PLAN: Final = _FolderCommand(_PLAN, _add_plan, _run_plan, _PLAN_CODES)
APPLY: Final = _FolderCommand(_APPLY, _add_outputs, _run_apply, _APPLY_CODES)
