"""The policies that choose the schema of an event, and the version budget."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from penstock.errors import VersionBudgetError
from penstock.schemas._limits import MAX_DEFINITION_CHARACTERS
from penstock.schemas.definition import Schema, canonical_form, measure_definition
from penstock.schemas.diff import diff_schemas
from penstock.schemas.merge import merge_schemas


class Policy(StrEnum):
    """The fields of an event's schema, and its origin.

    GROW: every field ever seen, so n optional fields make at most n versions.
    EXACT: the fields of that event only, so n optional fields can make 2^n versions.
    FIXED: the newest version that somebody else registered; an event registers none.
    """

    GROW = "grow"
    EXACT = "exact"
    FIXED = "fixed"


_MOST_FORMS = 1_000  # forms of events that one set of versions caches

_SHOWN_FIELDS = 3
# Versions are for ever: one event may not take what all later ones need to grow.
_MOST_GROWTH = MAX_DEFINITION_CHARACTERS // 4


class VersionSet:
    """The usable versions of a schema, oldest first, with their merge and canonical forms.

    Merging 15 versions and writing their canonical forms takes milliseconds, one event a tenth of
    a millisecond. So reuse a set as long as the versions are the same, and build the next one from
    the versions that are new and the set of those `before`.

    Raises:
        SchemaConflictError: the versions contradict each other.
    """

    def __init__(self, versions: Sequence[Schema], before: VersionSet | None = None) -> None:
        self._by_form: dict[str, Schema] = dict(before._by_form) if before else {}
        merged = [before.merged] if before and before.merged is not None else []
        self.merged: Schema | None = None
        if merged or versions:
            self.merged = merge_schemas([*merged, *versions])
        self._by_form.update((canonical_form(version), version) for version in versions)
        self._covering: dict[str, Schema] = {}

    def __len__(self) -> int:
        """Count the versions."""
        return len(self._by_form)

    def choose(self, inferred: Schema, policy: Policy, budget: int) -> Schema:
        """Choose the schema for an event: the object of an existing version, or a new one.

        Args:
            inferred: The result of `infer_schema` for the event.
            policy: EXACT or GROW, for the fields of a new version.
            budget: The most versions allowed; an existing version is always accepted.

        Raises:
            SchemaConflictError: the event contradicts a version.
            VersionBudgetError: the event needs a version beyond the budget, or by GROW one that is
                longer by a quarter of what a definition may have.
        """
        form = canonical_form(inferred)
        known = self._by_form if policy is Policy.EXACT else self._covering
        if form in known:
            return known[form]
        # Under both policies a contradiction is rejected here, before anything is registered.
        grown = merge_schemas([inferred] if self.merged is None else [self.merged, inferred])
        wanted = inferred if policy is Policy.EXACT else grown
        existing = self._by_form.get(canonical_form(wanted))
        if existing is not None:
            if len(self._covering) >= _MOST_FORMS:
                self._covering.clear()
            self._covering[form] = existing
            return existing
        if len(self) >= budget:
            raise VersionBudgetError(
                f"the event needs a new version of its schema, found {len(self)} versions and "
                f"expected at most {budget}: {self._advise(wanted, policy, budget)}"
            )
        if policy is Policy.GROW and self.merged is not None:
            self._check_growth(self.merged, wanted)
        return wanted

    def _check_growth(self, merged: Schema, wanted: Schema) -> None:
        more = len(canonical_form(wanted)) - len(canonical_form(merged))
        if more > _MOST_GROWTH:
            raise VersionBudgetError(
                f"the event needs a version with {more:,} more characters, expected at most "
                f"{_MOST_GROWTH:,}: {self._describe_change(wanted)}, else send the new fields in "
                "several events"
            )

    def warn(self, wanted: Schema, policy: Policy, budget: int) -> str:
        """Return why so much is used up by a new version, if it is half of what there is or more.

        There are as many versions as the budget says, and under GROW so many characters of one.
        """
        count = len(self) + 1
        if 2 * count >= budget:
            advice = self._advise(wanted, policy, budget)
            return f"{count} of at most {budget} versions are used: {advice}"
        if policy is Policy.GROW and 2 * (length := measure_definition(wanted)) >= 1:
            return (
                f"{length:.0%} of the {MAX_DEFINITION_CHARACTERS:,} characters of a version are "
                f"used: {self._describe_change(wanted)}, else choose another schema"
            )
        return ""

    def _advise(self, wanted: Schema, policy: Policy, budget: int) -> str:
        """Return the cause of many versions, and settings under which the event is written."""
        # Versions that exist count too, so the first one of another policy needs room.
        more = f"a version budget of {2 * max(len(self), budget)}"
        if policy is Policy.EXACT:
            return (
                "under the policy exact each combination of fields is a version; choose the policy"
                f" grow, under which each new field is one, and {more}"
            )
        return f"{self._describe_change(wanted)}, else choose {more}"

    def _describe_change(self, wanted: Schema) -> str:
        added = [] if self.merged is None else diff_schemas(self.merged, wanted).changes
        changes = ", ".join(str(each) for each in added[:_SHOWN_FIELDS]) or "all fields in one"
        advice = "if data became names of fields, make it values of fields"
        return f"the last change is {changes}; {advice}"
