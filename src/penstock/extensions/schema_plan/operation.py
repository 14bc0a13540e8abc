"""Plans for the schemas of a folder, and their registration as planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from penstock.errors import OperationError, PenstockError
from penstock.extensions.schema_plan.baseline import Baseline
from penstock.extensions.schema_plan.changes import Change, list_changes, list_owners
from penstock.extensions.schema_plan.effects import KEY_FIELD, Effect, list_effects
from penstock.extensions.schema_plan.exceptions import Exemption, load_exemptions
from penstock.extensions.schema_plan.files import SUFFIX, Problem, read_folder
from penstock.extensions.schema_plan.folder import SchemaFile, load_folder
from penstock.extensions.schema_plan.verdict import Matrix, Verdict, judge
from penstock.operations import Programs
from penstock.progress import ReportProgress, ignore_progress
from penstock.registry import SchemaRegistry
from penstock.schemas import Compatibility, load_schema

DEFAULT_BUDGET: Final = 100  # of producers (PENSTOCK_VERSION_BUDGET)


class State(StrEnum):
    """What a plan says of a schema."""

    NEW = "new"
    SAME = "same"
    CHANGED = "changed"
    FORBIDDEN = "forbidden"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Finding:
    """A reason against a version, and its place.

    `because` is the reason of an exception. `is_enforced` says that the registry refuses it, so
    that an exception does not help.
    """

    rule: str
    path: str
    file: str
    line: int
    message: str
    is_enforced: bool
    because: str = ""


@dataclass(frozen=True, slots=True)
class Located:
    """A change and its place."""

    change: Change
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class PlannedSchema:
    """What registration would do with one schema.

    `number` is the version that has the definition, or that it would get; None against git.
    `left` is what a producer's budget leaves after that. `modes` are all modes, each with what a
    new version must be compared with to be accepted: nothing if the mode refuses it.
    """

    name: str
    file: str
    state: State
    mode: Compatibility | None
    number: int | None
    left: int | None
    changes: tuple[Located, ...] = ()
    findings: tuple[Finding, ...] = ()
    modes: Mapping[str, tuple[str, ...]] | None = None
    effects: tuple[Effect, ...] = ()
    definition: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a folder; with problems in its files there are only these."""

    folder: str
    against: str
    schemas: tuple[PlannedSchema, ...]
    problems: tuple[Problem, ...] = ()
    unused: tuple[Exemption, ...] = ()

    def count(self, state: State) -> int:
        """Count the schemas in a state."""
        return sum(each.state is state for each in self.schemas)


@dataclass(frozen=True, slots=True)
class Applied:
    """A schema that was registered: its version, or the error."""

    name: str
    number: int | None
    id: str
    error: PenstockError | None = None


def make_plan(
    folder: Path,
    baseline: Baseline,
    programs: Programs,
    budget: int = DEFAULT_BUDGET,
    report: ReportProgress = ignore_progress,
) -> Plan:
    """Return what the registration of a folder would do, without a call that writes.

    Args:
        folder: the folder.
        baseline: what the schemas are compared with.
        programs: those that write and read their topics.
        budget: the most versions of a schema whose producer is not among these.
        report: called with the number of schemas that are done.

    Raises:
        OperationError: the folder has no schemas, or its exceptions cannot be used.
        RegistryError: the registry denies a call, or does not answer.
    """
    exemptions = load_exemptions(folder)
    loaded = load_folder(*read_folder(folder))
    if loaded.problems:
        return Plan(str(folder), baseline.source, (), loaded.problems)
    if not loaded.schemas:
        raise OperationError(f"found no schema below {folder}, expected {SUFFIX} files")
    planner = _Planner(baseline, programs, budget, exemptions)
    planned: list[PlannedSchema] = []
    for file in loaded.schemas:
        report("schemas", len(planned), len(loaded.schemas))
        planned.append(planner.plan_schema(file))
    if not baseline.is_registry:
        gone = sorted(set(baseline.names) - {each.name for each in planned})
        planned += [PlannedSchema(name, "", State.REMOVED, None, None, None) for name in gone]
    unused = tuple(each for each in exemptions if each not in planner.used)
    return Plan(str(folder), baseline.source, tuple(planned), (), unused)


def apply_plan(plan: Plan, registry: SchemaRegistry) -> Iterator[Applied]:
    """Register the new and changed schemas of a plan, and yield each; the first error ends it.

    Raises:
        OperationError: the plan has problems, or something is forbidden; nothing is registered.
    """
    forbidden = [each.name for each in plan.schemas if each.state is State.FORBIDDEN]
    if forbidden or plan.problems:
        what = ", ".join(forbidden) or "files"
        raise OperationError(f"nothing was registered, since the plan refuses {what}")
    for each in plan.schemas:
        if each.state not in {State.NEW, State.CHANGED}:
            continue
        try:
            found = registry.register(each.name, load_schema(each.definition))
        except PenstockError as error:
            yield Applied(each.name, None, "", error)
            return
        yield Applied(each.name, found.version.number, str(found.version.key))


class _Planner:
    """Plans schemas one by one, and remembers which exceptions were needed."""

    def __init__(
        self,
        baseline: Baseline,
        programs: Programs,
        budget: int,
        exemptions: Sequence[Exemption],
    ) -> None:
        self._baseline = baseline
        self._programs = programs
        self._budget = budget
        self._exemptions = {(each.rule, each.path): each for each in exemptions}
        self.used: set[Exemption] = set()

    def plan_schema(self, file: SchemaFile) -> PlannedSchema:
        """Return the plan of one schema."""
        base = self._baseline
        stored = base.read(file.name) if file.name in base.names else None
        verdict = judge(file.name, file.schema, file.definition, stored, base.mode)
        effects = self._list_effects(file, verdict) if verdict.is_new else ()
        findings = tuple(self._list_findings(file, verdict, effects))
        budget = self._programs.budgets.get(file.name, self._budget)
        used = verdict.usable + verdict.is_new
        return PlannedSchema(
            file.name,
            file.path,
            _choose_state(verdict, stored is not None, findings),
            verdict.mode,
            verdict.number if base.is_registry else None,
            budget - used if base.is_registry else None,
            tuple(_locate_changes(file, verdict)),
            findings,
            _list_modes(verdict.matrix),
            effects,
            file.definition,
        )

    def _list_effects(self, file: SchemaFile, verdict: Verdict) -> tuple[Effect, ...]:
        forward = (verdict.matrix or {}).get(Compatibility.FORWARD_ALL, {})
        reads = not any(forward.values())
        return list_effects(file.name, file.schema, verdict.merged, reads, self._programs)

    def _list_findings(
        self, file: SchemaFile, verdict: Verdict, effects: Sequence[Effect]
    ) -> Iterator[Finding]:
        owners = list_owners(file.schema) if verdict.refusals or effects else {}
        for refusal in verdict.refusals:
            owner = owners.get(refusal.path)
            place = file.find_place(owner.record, owner.field) if owner else (file.path, 1)
            message = refusal.message
            if refusal.reading:
                message += f" (by one reading of Glue's rule only: with the {refusal.reading})"
            is_enforced = self._baseline.is_registry and not refusal.reading
            finding = Finding(refusal.rule, refusal.path, *place, message, is_enforced)
            yield self._exempt(file.name, finding)
        lost = {(each.consumer, each.table, field) for each in effects for field in each.lost}
        for consumer, table, field in sorted(lost):
            message = f"{table} of {consumer} needs the field, and no record would have it"
            finding = Finding(KEY_FIELD, field, file.path, 1, message, False)
            yield self._exempt(file.name, finding)

    def _exempt(self, schema: str, finding: Finding) -> Finding:
        path = f"{schema}.{finding.path}" if finding.path else schema
        exemption = self._exemptions.get((finding.rule, path))
        if exemption is None:
            return finding
        self.used.add(exemption)
        return replace(finding, because=exemption.because)


def _choose_state(verdict: Verdict, is_known: bool, findings: Sequence[Finding]) -> State:
    if any(each.is_enforced or not each.because for each in findings):
        return State.FORBIDDEN
    if not verdict.is_new:
        return State.SAME
    return State.CHANGED if is_known else State.NEW


def _locate_changes(file: SchemaFile, verdict: Verdict) -> Iterator[Located]:
    if verdict.before is None:
        return
    for change in list_changes(verdict.before, file.schema):
        yield Located(change, *file.find_place(change.owner.record, change.owner.field))


def _list_modes(matrix: Matrix | None) -> dict[str, tuple[str, ...]] | None:
    """Return the readings by which each mode accepts a version."""
    if matrix is None:
        return None
    return {
        mode.value: tuple(reading.value for reading, reasons in found.items() if not reasons)
        for mode, found in matrix.items()
    }
