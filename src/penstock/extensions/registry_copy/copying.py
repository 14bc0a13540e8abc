"""Copy the schemas of a registry to another one, of another kind or account.

A copy is a backup of the first registry, restored into the second and compared. The backup's file
is the map by which old records are read once the first registry is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from penstock.errors import (
    OperationError,
    RegistryAccessDeniedError,
    RegistryError,
    RegistryUnavailableError,
    SchemaError,
    SchemaNotFoundError,
    SchemaQuotaError,
    SettingsError,
)
from penstock.extensions.registry_copy._backup_file import (
    translated_file_errors,
    write_backup_file,
)
from penstock.extensions.registry_copy.comparison import Comparison, compare_readings
from penstock.extensions.registry_copy.conversion import (
    ConvertedSchema,
    check_definitions,
    check_history,
    convert_schema,
    take_name,
)
from penstock.extensions.registry_copy.restore import (
    Action,
    SchemaPlan,
    VersionPlan,
    plan_restore,
    read_present,
    restore_schema,
)
from penstock.framing import FrameKind, SchemaKey
from penstock.progress import ReportProgress, ignore_progress
from penstock.registry import (
    BackupRegistry,
    RegistryAdmin,
    RegistryBackup,
    SchemaBackup,
    has_content_ids,
    load_admin,
    read_backup,
    write_backup,
)
from penstock.schemas import Compatibility

# Errors that concern no single schema: the copy stops, and the next run continues it.
_STOPS = (RegistryAccessDeniedError, RegistryUnavailableError, SchemaQuotaError)
# Any other of these concerns one schema.
_REFUSALS = (RegistryError, SchemaError)


@dataclass(frozen=True, slots=True)
class CopySettings:
    """The two registries' URLs, the file of the map, and choices where the registries differ.

    `names` limits the copy to these schemas; the map has all. `renamed` holds other names for the
    second registry. `disabled_as` is the mode for Glue's DISABLED, which others lack. With
    `accept_history`, versions that the schema's mode refuses are registered under the mode NONE.
    With `dry_run` nothing is changed or written. `replace` replaces a map that has other ids too.
    """

    source: str
    target: str
    map_file: str
    names: Collection[str] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    disabled_as: str = ""
    accept_history: bool = False
    dry_run: bool = False
    replace: bool = False


@dataclass(frozen=True, slots=True)
class CopiedVersion:
    """A version: keep, register, share or leave-out, its number and id in both registries.

    `samples` is the number of sample records that both registries and the map decode alike.
    """

    number: int
    id: str
    status: str
    action: str
    new_number: int | None
    new_id: str | None
    samples: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class CopiedSchema:
    """A schema: create, complete, describe (mode only), keep, leave-out or refuse.

    `problems` say why it was refused, or how the copy differs.
    """

    name: str
    new_name: str
    action: str
    compatibility: str
    versions: tuple[CopiedVersion, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CopyReport:
    """The copied schemas, and whether the map was written."""

    map_file: str
    map_written: bool
    schemas: tuple[CopiedSchema, ...]

    @property
    def is_complete(self) -> bool:
        """True if every version is, or would be, in the second registry and reads alike."""
        return not any(schema.problems for schema in self.schemas)

    @property
    def is_unchanged(self) -> bool:
        """True if nothing had to be changed or written."""
        kept = {"keep", "leave-out", "refuse"}
        return not self.map_written and all(schema.action in kept for schema in self.schemas)


def copy_registry(
    settings: CopySettings,
    show: Callable[[CopiedSchema], None] = lambda schema: None,
    report: ReportProgress = ignore_progress,
) -> CopyReport:
    """Copy every version of the schemas of a registry, in order, and compare each afterwards.

    The map is written first. A schema is copied whole or, as far as this can be known before,
    not at all; the others are copied. Versions that exist are kept, so a copy that was
    interrupted is continued by the next one. `show` is called with each schema that is done, and
    `report` with the number of those that are read, and done.

    Raises:
        OperationError: the registries cannot be copied to each other, a name is unknown, or the map
            cannot be written, or must be kept.
        SettingsError: a URL names no registry of Glue, Confluent or Apicurio, or there is no such
            mode.
        RegistryError: a registry denies a call, does not answer, or accepts no more versions.
    """
    source, target = load_admin(settings.source), load_admin(settings.target)
    _check_pair(source, target)
    schemas, unread = _read_source(source, report)
    content_ids = has_content_ids(settings.source)
    backup = RegistryBackup(source.name, source.kind, tuple(schemas), content_ids)
    known = sorted([*(each.name for each in backup.schemas), *unread])
    _check_names(settings, known, source)
    with translated_file_errors():
        mapped = read_backup(write_backup(backup), settings.map_file)
    copying = _Copying(settings, source, target, BackupRegistry(mapped, settings.map_file))
    written = not settings.dry_run and write_backup_file(
        settings.map_file, backup, replace=settings.replace
    )
    copied: list[CopiedSchema] = []
    wanted = sorted(settings.names) or known
    for name in wanted:
        schema = next((each for each in backup.schemas if each.name == name), None)
        copied.append(copying.copy(schema) if schema else _refuse(name, unread[name]))
        show(copied[-1])
        report("schemas copied", len(copied), len(wanted))
    return CopyReport(settings.map_file, written, tuple(copied))


class _Copying:
    """One copy: the two registries, and the schemas that the second one had before."""

    def __init__(
        self,
        settings: CopySettings,
        source: RegistryAdmin,
        target: RegistryAdmin,
        mapped: BackupRegistry,
    ) -> None:
        self._settings = settings
        self._disabled_as = _read_mode(settings.disabled_as)
        self._source, self._target, self._mapped = source, target, mapped
        self._present = set(target.list_names())
        self._taken: dict[str, str] = {}  # by name in the second registry, that in the first

    def copy(self, schema: SchemaBackup) -> CopiedSchema:
        """Copy one schema, and compare the copy; an error of only this schema is in the result."""
        try:
            converted = self._convert(schema)
            plan = self._plan(converted.schema)
            done = plan if self._settings.dry_run else self._restore(plan)
        except _STOPS:
            raise
        except _REFUSALS as error:
            return _refuse(schema.name, str(error), schema.compatibility)
        return self._make_result(schema, converted, plan, done)

    def _convert(self, schema: SchemaBackup) -> ConvertedSchema:
        check_definitions(schema)
        converted = convert_schema(
            schema,
            self._source.kind,
            self._target.kind,
            name=self._settings.renamed.get(schema.name),
            disabled_as=self._disabled_as,
        )
        take_name(schema, converted.schema.name, self._taken)
        return converted

    def _plan(self, schema: SchemaBackup) -> SchemaPlan:
        target = read_present(self._target, schema.name) if schema.name in self._present else None
        plan = plan_restore(schema, target)
        _check_order(plan)
        if not self._settings.accept_history:
            check_history(schema, [version.number for version in plan.to_register])
        return plan

    def _restore(self, plan: SchemaPlan) -> SchemaPlan:
        mode = plan.schema.compatibility
        if self._settings.accept_history or mode is Compatibility.DISABLED:
            mode = Compatibility.NONE
        try:
            return restore_schema(self._target, plan, mode)
        except _STOPS:
            raise
        except _REFUSALS as error:
            raise RegistryError(self._say_part(plan, error)) from error

    def _say_part(self, plan: SchemaPlan, error: Exception) -> str:
        """Return an error with the number of versions that were registered before it."""
        name = plan.schema.name
        try:
            there = plan_restore(plan.schema, self._target.read_schema(name))
        except _REFUSALS:
            return str(error)
        done = sum(each.action in {Action.KEEP, Action.SHARE} for each in there.versions)
        wanted = done + len(there.to_register)
        return f"{error}; {done} of the {wanted} versions of {name} are in {self._target.source}"

    def _make_result(
        self, schema: SchemaBackup, converted: ConvertedSchema, plan: SchemaPlan, done: SchemaPlan
    ) -> CopiedSchema:
        found = {
            each.version.number: self._compare(each.version.id, each.id)
            for each in done.versions
            if each.id is not None and not self._settings.dry_run
        }
        others = len(plan.target.versions if plan.target else ()) - len(
            {each.number for each in plan.versions if each.id is not None}
        )
        notes = [f"not copied: {what}" for what in converted.left_out]
        if others:
            notes.append(f"{self._target.source} has {others} more versions")
        return CopiedSchema(
            schema.name,
            converted.schema.name,
            plan.action,
            converted.schema.compatibility.value,
            tuple(
                _describe_version(each, found.get(each.version.number)) for each in done.versions
            ),
            tuple(notes),
            tuple(f"version {at}: {each.problem}" for at, each in found.items() if each.problem),
        )

    def _compare(self, old_id: str, new_id: str) -> Comparison:
        old, new = SchemaKey.parse(old_id), SchemaKey.parse(new_id)
        return compare_readings((self._source, old), (self._mapped, old), (self._target, new))


def _read_mode(mode: str) -> Compatibility | None:
    """Return the mode instead of DISABLED, if one was chosen."""
    modes = [each for each in Compatibility if each is not Compatibility.DISABLED]
    if mode and mode not in modes:
        raise SettingsError([f"the mode is {mode!r}, expected one of {', '.join(modes)}"])
    return Compatibility(mode) if mode else None


def _check_names(settings: CopySettings, known: Sequence[str], source: RegistryAdmin) -> None:
    if missing := sorted({*settings.names, *settings.renamed}.difference(known)):
        raise OperationError(
            f"found no schema {', '.join(missing)} in {source.source}, expected "
            f"{', '.join(known) or 'none'}"
        )


def _check_pair(source: RegistryAdmin, target: RegistryAdmin) -> None:
    if source.source == target.source:
        raise OperationError(f"found {source.source} as both registries, expected two")
    if source.kind is target.kind is not FrameKind.GLUE:
        raise OperationError(
            f"{source.source} and {target.source} both number their schemas, so an id of one would "
            "be another schema's in the other, expected only one registry with ids of "
            f"{source.kind}; use an export and import of their own, which keeps the ids"
        )
    if (source.kind, target.kind) == (FrameKind.APICURIO, FrameKind.CONFLUENT):
        raise OperationError(
            f"{source.source} has content ids besides its global ids, which would be other "
            f"schemas' ids in {target.source}, expected Glue as the second registry"
        )


def _read_source(
    source: RegistryAdmin, report: ReportProgress
) -> tuple[list[SchemaBackup], dict[str, str]]:
    """Return a registry's schemas, and why those that cannot be read are not among them."""
    schemas, unread = [], {}
    names = source.list_names()
    for done, name in enumerate(names):
        report("schemas read", done, len(names))
        try:
            schemas.append(source.read_schema(name))
        except SchemaNotFoundError as error:
            if name in source.list_names():  # it is not the schema that was deleted meanwhile
                unread[name] = str(error)
        except _STOPS:
            raise
        except _REFUSALS as error:
            unread[name] = str(error)
    return schemas, unread


def _check_order(plan: SchemaPlan) -> None:
    """Raise RegistryError if a version would come after one that it was before."""
    placed = [each for each in plan.versions if each.action in {Action.KEEP, Action.REGISTER}]
    for before, after in pairwise(placed):
        if (before.number or 0) > (after.number or 0):
            raise RegistryError(
                f"version {before.version.number} of schema {plan.schema.name} would come after "
                f"version {after.version.number}, which the registry has as version "
                f"{after.number}; expected an empty schema there, or the same order"
            )


def _describe_version(plan: VersionPlan, found: Comparison | None) -> CopiedVersion:
    version, samples, note = plan.version, 0, ""
    if found is not None:
        samples, note = found.samples, found.note
    return CopiedVersion(
        version.number,
        version.id,
        version.status.value,
        plan.action.value,
        plan.number,
        plan.id,
        samples,
        note,
    )


def _refuse(name: str, problem: str, mode: str = "") -> CopiedSchema:
    return CopiedSchema(name, "", "refuse", mode, problems=(problem,))
