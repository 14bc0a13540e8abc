"""Restore the schemas of a backup into a registry: plan, act, and plan again to verify.

A plan compares a schema of the backup with what the registry has, so a restore that was killed is
continued by the next one, and one that is complete changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from penstock.errors import PenstockError, RegistryError, SchemaError, SchemaNotFoundError
from penstock.registry import RegistryAdmin, SchemaBackup, StoredVersion, VersionStatus
from penstock.schemas import Compatibility, canonical_form, load_schema


class Action(StrEnum):
    """The action for one version of a backup."""

    KEEP = "keep"  # the registry has it
    REGISTER = "register"
    SHARE = "share"  # another version has the definition, which a registry has once
    LEAVE_OUT = "leave-out"  # its registry had refused, disabled or deleted it


@dataclass(frozen=True, slots=True)
class VersionPlan:
    """The action for a version, and its number and id in the registry; a new number is expected."""

    version: StoredVersion
    action: Action
    number: int | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class SchemaPlan:
    """The actions for a schema; `target` is what the registry has, None without the schema."""

    schema: SchemaBackup
    target: SchemaBackup | None
    versions: tuple[VersionPlan, ...]

    @property
    def to_register(self) -> tuple[StoredVersion, ...]:
        """The versions that the registry does not have."""
        return tuple(each.version for each in self.versions if each.action is Action.REGISTER)

    @property
    def checkpoint(self) -> int:
        """The number of the checkpoint in the registry; 0 for a registry without checkpoints."""
        if not self.schema.checkpoint:
            return 0
        numbers = {each.version.number: each.number for each in self.versions}
        return numbers.get(self.schema.checkpoint) or 1

    @property
    def is_described(self) -> bool:
        """True if mode, checkpoint, description and tags are those of the backup."""
        schema, target = self.schema, self.target
        return (
            target is not None
            and (target.compatibility, target.checkpoint) == (schema.compatibility, self.checkpoint)
            and schema.description in {"", target.description}
            and schema.tags.items() <= target.tags.items()
        )

    @property
    def is_left_out(self) -> bool:
        """True if no version is left; the mode is then the registry's default, not the schema's."""
        return all(each.action is Action.LEAVE_OUT for each in self.versions)

    @property
    def is_done(self) -> bool:
        """True if nothing is left to do."""
        return self.is_left_out or (self.is_described and not self.to_register)

    @property
    def action(self) -> str:
        """Return the name of the action: create, complete, describe, keep or leave-out."""
        if self.is_left_out:
            return "leave-out"
        if self.target is None:
            return "create"
        if self.to_register:
            return "complete"
        return "keep" if self.is_done else "describe"


class _NotOursError(RegistryError):
    """Another program has created the schema since the plan was made."""


def read_present(admin: RegistryAdmin, name: str) -> SchemaBackup | None:
    """Return a schema of a registry, or None without it."""
    try:
        return admin.read_schema(name)
    except SchemaNotFoundError:
        return None


def plan_restore(schema: SchemaBackup, target: SchemaBackup | None) -> SchemaPlan:
    """Compare a schema of a backup with that of a registry.

    Raises:
        RegistryError: the schema cannot be restored.
    """
    if target is not None and target.data_format != schema.data_format:
        raise RegistryError(
            f"schema {schema.name} is {target.data_format} in the registry, "
            f"expected {schema.data_format} as in the backup"
        )
    present = _match(schema.versions, target.versions if target else ())
    places: dict[str, tuple[int, str | None]] = {
        _form(each): (each.number, each.id) for each in present.values()
    }
    highest = max((each.number for each in target.versions), default=0) if target else 0
    versions = []
    for version in schema.versions:
        if version.status is not VersionStatus.AVAILABLE:
            versions.append(VersionPlan(version, Action.LEAVE_OUT))
        elif (found := present.get(version.number)) is not None:
            _check_usable(schema.name, version, found)
            versions.append(VersionPlan(version, Action.KEEP, found.number, found.id))
        elif (place := places.get(_form(version))) is not None:
            versions.append(VersionPlan(version, Action.SHARE, *place))
        else:
            highest += 1
            places[_form(version)] = highest, None
            versions.append(VersionPlan(version, Action.REGISTER, highest))
    return SchemaPlan(schema, target, tuple(versions))


def restore_schema(
    admin: RegistryAdmin, plan: SchemaPlan, mode: Compatibility = Compatibility.NONE
) -> SchemaPlan:
    """Carry out a plan and verify the result; return the plan with the numbers and ids as they are.

    Args:
        admin: the registry.
        plan: what `plan_restore` returned for it.
        mode: the mode under which versions are registered, set before the first one. By default
            NONE, since the registry's rule may depend on versions that were deleted since. The mode
            of the backup is set last.

    Raises:
        RegistryError: the registry does not do it, or the result differs from the backup.
        SchemaError: the registry calls a definition invalid. After either, the schema has its
            former mode again, or the message names the one that it may have. A schema that another
            program has created meanwhile, in another mode, stays as it is.
    """
    schema, target = plan.schema, plan.target
    if plan.is_done:
        return plan
    newest = _newest(target)
    try:
        _open_schema(admin, plan, mode)
        for version in plan.to_register:
            if newest and _compares_with_one(mode) and schema.checkpoint:
                admin.describe_schema(schema.name, mode, newest)
            newest = _add_version(admin, schema, version)
        _describe_schema(admin, plan)
    except _NotOursError:
        raise
    except (PenstockError, KeyboardInterrupt) as error:
        if plan.to_register:
            _put_back(admin, target or replace(schema, checkpoint=newest or 1), mode, error)
        raise
    return _verify(admin, plan)


def _open_schema(admin: RegistryAdmin, plan: SchemaPlan, mode: Compatibility) -> None:
    """Let the registry have the schema, in the mode under which versions are registered."""
    schema, target, missing = plan.schema, plan.target, plan.to_register
    if target is None:
        admin.create_schema(replace(schema, compatibility=mode), missing[0].definition)
        if admin.read_schema(schema.name).compatibility is not mode:
            raise _NotOursError(
                f"another program has just created the schema {schema.name} of {admin.source}; "
                "run the command again"
            )
    elif missing and target.compatibility is not mode:
        admin.describe_schema(schema.name, mode, target.checkpoint)


def _add_version(admin: RegistryAdmin, schema: SchemaBackup, version: StoredVersion) -> int:
    """Register a version and return its number."""
    added = admin.add_version(schema, version.definition)
    if added.status is not VersionStatus.AVAILABLE:
        raise RegistryError(
            f"version {version.number} of schema {schema.name} is registered as version "
            f"{added.number} with status {added.status}, expected AVAILABLE"
        )
    return added.number


def _describe_schema(admin: RegistryAdmin, plan: SchemaPlan) -> None:
    """Describe the schema as in the backup, its mode last, if it has every version."""
    schema = plan.schema
    after = plan_restore(schema, admin.read_schema(schema.name))
    if after.to_register:
        raise _differs(admin, after)
    if not after.is_described:
        admin.tag_schema(schema.name, schema.tags)
        admin.describe_schema(
            schema.name, schema.compatibility, after.checkpoint, schema.description
        )


def _put_back(
    admin: RegistryAdmin, before: SchemaBackup, mode: Compatibility, error: BaseException
) -> None:
    """Set a schema's former mode and checkpoint, or add to an error the mode that it may have."""
    if before.compatibility is mode and not before.checkpoint:
        return  # neither was changed
    try:
        admin.describe_schema(before.name, before.compatibility, before.checkpoint)
    except SchemaNotFoundError:
        return  # it was not created
    except PenstockError as second:
        if before.compatibility is mode:
            return
        said = (
            f"schema {before.name} may have kept the mode {mode}, expected "
            f"{before.compatibility}: {second}"
        )
        if isinstance(error, KeyboardInterrupt):
            raise RegistryError(said) from error
        error.args = (f"{error}; {said}",)


def _newest(target: SchemaBackup | None) -> int | None:
    """Return the number of the newest version that the registry accepted."""
    versions = target.versions if target else ()
    usable = [each.number for each in versions if each.status is VersionStatus.AVAILABLE]
    return usable[-1] if usable else None


def _compares_with_one(mode: Compatibility) -> bool:
    """Return whether a mode compares with one version, which the checkpoint of Glue selects."""
    return mode is not Compatibility.NONE and not mode.endswith("_ALL")


def _verify(admin: RegistryAdmin, plan: SchemaPlan) -> SchemaPlan:
    """Compare every version again, by its canonical form, and all that describes the schema."""
    after = plan_restore(plan.schema, admin.read_schema(plan.schema.name))
    if not after.is_done:
        raise _differs(admin, after)
    versions = [
        replace(new, action=old.action)
        for old, new in zip(plan.versions, after.versions, strict=True)
    ]
    return replace(plan, target=after.target, versions=tuple(versions))


def _differs(admin: RegistryAdmin, after: SchemaPlan) -> RegistryError:
    numbers = ", ".join(str(each.number) for each in after.to_register) or "none"
    return RegistryError(
        f"schema {after.schema.name} of {admin.source} differs from the backup after it was "
        f"restored (missing versions: {numbers}), expected no other program to change it; "
        "run the command again"
    )


def _match(
    wanted: Sequence[StoredVersion], present: Sequence[StoredVersion]
) -> dict[int, StoredVersion]:
    """Return the versions with the text or the canonical form of wanted ones, by their number."""
    found: dict[int, StoredVersion] = {}
    left = list(present)
    for read in (_text, _form):
        by_content = {read(each): each for each in reversed(left)}
        for version in wanted:
            if version.number not in found and (match := by_content.pop(read(version), None)):
                found[version.number] = match
                left.remove(match)
    return found


def _text(version: StoredVersion) -> str:
    return version.definition


def _form(version: StoredVersion) -> str:
    """Return the canonical form, or the text of a definition that Penstock cannot read."""
    try:
        return canonical_form(load_schema(version.definition))
    except SchemaError:
        return version.definition


def _check_usable(name: str, version: StoredVersion, found: StoredVersion) -> None:
    if found.status is not VersionStatus.AVAILABLE:
        raise RegistryError(
            f"version {version.number} of schema {name} is version {found.number} of the registry "
            f"with status {found.status}, expected AVAILABLE; delete that version first"
        )
