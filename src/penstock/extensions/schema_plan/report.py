"""A plan as text, as annotations of GitHub, as Markdown for a comment, and for Terraform."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from penstock.extensions.schema_plan.changes import Change
from penstock.extensions.schema_plan.effects import Effect
from penstock.extensions.schema_plan.operation import Finding, Plan, PlannedSchema, State

COMMENT_CHARACTERS: Final = 65_536  # of a comment on GitHub
_STATES: Final = tuple(State)
_COMMENT_MARK: Final = "<!-- penstock schema plan -->"


def list_lines(plan: Plan) -> Iterator[str]:
    """Yield the lines of a plan; schemas that stay are only counted."""
    for problem in plan.problems:
        yield str(problem)
    for each in plan.schemas:
        if each.state is not State.SAME:
            yield from _list_schema(each)
    for exemption in plan.unused:
        yield f"exception {exemption.rule} of {exemption.path}: not needed, remove it"
    yield _count_states(plan)


def _list_schema(schema: PlannedSchema) -> Iterator[str]:
    yield f"{schema.name}: {_describe_state(schema)}"
    for each in schema.changes:
        yield f"  {each.file}:{each.line}: {describe_change(each.change)}"
    for finding in schema.findings:
        yield f"  {finding.file}:{finding.line}: {_describe_finding(finding)}"
    if schema.modes is not None:
        yield f"  {_describe_modes(schema)}"
    for effect in schema.effects:
        yield f"  {_describe_effect(effect)}"


def _describe_state(schema: PlannedSchema) -> str:
    if schema.state is State.REMOVED:
        return "removed: no file has it any more; a registry keeps its versions"
    words = [schema.state.value]
    if schema.number is not None and schema.state is not State.FORBIDDEN:
        words.append(f"version {schema.number}")
    words.append(f"mode {schema.mode}")
    if schema.left is not None and schema.state is not State.FORBIDDEN:
        words.append(f"{max(schema.left, 0)} versions left of the budget")
    return ", ".join(words)


def describe_change(change: Change) -> str:
    """Return a change in one line."""
    path = change.path or "the schema"
    if change.before and change.after:
        return f"{change.kind}: {path}: {change.before} -> {change.after}"
    return f"{change.kind}: {path}: {change.before or change.after}".removesuffix(": ")


def _describe_finding(finding: Finding) -> str:
    place = f"{finding.path}: " if finding.path else ""
    text = f"{finding.rule}: {place}{finding.message}"
    if not finding.because:
        return text
    if finding.is_enforced:
        return f"{text}; the exception does not help, since the registry refuses it"
    return f"{text}; excepted: {finding.because}"


def _describe_modes(schema: PlannedSchema) -> str:
    modes = schema.modes or {}
    most = max(map(len, modes.values()), default=0)
    shown = [
        mode if len(readings) == most else f"{mode} (compared with the {readings[0]} only)"
        for mode, readings in modes.items()
        if readings
    ]
    return f"accepted by the modes {', '.join(shown)}"


def _describe_effect(effect: Effect) -> str:
    where = f", {effect.table}" if effect.table else ""
    columns = f"{', '.join(effect.columns)}; " if effect.columns else ""
    who = f"{effect.consumer}, {effect.program}{where}"
    return f"{who}: {columns}{effect.action}: {effect.advice}"


def _count_states(plan: Plan) -> str:
    if plan.problems:
        return f"files with problems: {len({each.path for each in plan.problems})}"
    counts = [f"{state}: {plan.count(state)}" for state in _STATES if plan.count(state)]
    return f"{', '.join(counts)}; compared with {plan.against}; nothing was registered"


def list_annotations(plan: Plan) -> Iterator[str]:
    """Yield commands of GitHub's workflows, which it shows at the lines of files."""
    for problem in plan.problems:
        yield _annotate("error", problem.path, problem.line, "schema", problem.message)
    for schema in plan.schemas:
        for finding in schema.findings:
            kind = "notice" if finding.because and not finding.is_enforced else "error"
            text = _describe_finding(finding)
            yield _annotate(kind, finding.file, finding.line, schema.name, text)
        for each in schema.changes:
            text = describe_change(each.change)
            yield _annotate("notice", each.file, each.line, schema.name, text)


def _annotate(kind: str, file: str, line: int, title: str, text: str) -> str:
    properties = {"file": file, "line": str(line), "title": title}
    shown = ",".join(f"{name}={_escape_property(value)}" for name, value in properties.items())
    return f"::{kind} {shown}::{_escape(text)}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")


def write_markdown(plan: Plan) -> str:
    """Return a comment for a pull request; what does not fit is left out, and counted."""
    head = [_COMMENT_MARK, "### Plan of schemas", "", _mark(_count_states(plan)), ""]
    if plan.problems:
        head += ["| file | line | problem |", "| --- | --- | --- |"]
        rows = [_row(each.path, each.line, each.message) for each in plan.problems]
        return _fit(head, rows, "problems")
    shown = [each for each in plan.schemas if each.state is not State.SAME]
    parts = ["\n".join(_list_section(each)) for each in _sort_schemas(shown)]
    return _fit(head, parts, "schemas")


def _sort_schemas(schemas: Sequence[PlannedSchema]) -> list[PlannedSchema]:
    return sorted(schemas, key=lambda each: (each.state is not State.FORBIDDEN, each.name))


def _fit(head: Sequence[str], parts: Sequence[str], what: str) -> str:
    """Return as many parts as a comment takes."""
    room = COMMENT_CHARACTERS - len("\n".join(head)) - 100
    kept: list[str] = []
    for part in parts:
        room -= len(part) + 1
        if room < 0:
            break
        kept.append(part)
    left = len(parts) - len(kept)
    end = [f"\n{left} more {what} do not fit here; the log has all."] if left else []
    return "\n".join([*head, *kept, *end]) + "\n"


def _list_section(schema: PlannedSchema) -> Iterator[str]:
    yield f"#### {_mark(schema.name)}: {_mark(_describe_state(schema))}"
    if schema.findings:
        yield from ["", "| rule | place | why |", "| --- | --- | --- |"]
        for finding in schema.findings:
            place = f"{finding.file}:{finding.line}"
            yield _row(finding.rule, place, _describe_finding(finding).partition(": ")[2])
    if schema.changes:
        yield from ["", "| change | field | before | after | place |", "| --- " * 5 + "|"]
        for each in schema.changes:
            change = each.change
            place = f"{each.file}:{each.line}"
            yield _row(change.kind, change.path, change.before, change.after, place)
    if schema.modes is not None:
        yield from ["", _mark(_describe_modes(schema))]
    if schema.effects:
        yield from ["", "| reader | table | columns | do | why |", "| --- " * 5 + "|"]
        for effect in schema.effects:
            who = f"{effect.consumer}, {effect.program}"
            columns = ", ".join(effect.columns)
            yield _row(who, effect.table, columns, effect.action, effect.advice)
    yield ""


def _row(*cells: object) -> str:
    return f"| {' | '.join(_mark(str(each)) for each in cells)} |"


def _mark(text: str) -> str:
    """Return text that Markdown shows as it is, in one line, and that notifies nobody."""
    shown = "".join(f"\\{char}" if char in r"\`*_{}[]<>|#~" else char for char in text)
    return " ".join(shown.split()).replace("@", "@\u200b")


def write_terraform(plan: Plan) -> str:
    """Return the result of a data source `external`: an object of strings."""
    names: dict[str, str] = {
        state.value: ",".join(each.name for each in plan.schemas if each.state is state)
        for state in _STATES
    }
    return json.dumps({**names, "text": "\n".join(list_lines(plan))})


def describe_plan(plan: Plan) -> dict[str, Any]:
    """Return a plan for `--output json`."""
    return {
        "folder": plan.folder,
        "against": plan.against,
        "counts": {state.value: plan.count(state) for state in _STATES},
        "schemas": [_describe_schema(each) for each in plan.schemas],
        "problems": plan.problems,
        "unusedExceptions": plan.unused,
    }


def _describe_schema(schema: PlannedSchema) -> dict[str, Any]:
    changes = [
        {
            "kind": each.change.kind,
            "path": each.change.path,
            "before": each.change.before,
            "after": each.change.after,
            "file": each.file,
            "line": each.line,
        }
        for each in schema.changes
    ]
    modes = [
        {"mode": mode, "acceptedComparedWith": readings}
        for mode, readings in (schema.modes or {}).items()
    ]
    return {
        "name": schema.name,
        "state": schema.state,
        "file": schema.file,
        "mode": schema.mode,
        "version": schema.number,
        "versionsLeft": schema.left,
        "changes": changes,
        "findings": schema.findings,
        "modes": modes,
        "effects": schema.effects,
    }
