"""Which schema is registered for an event: the policies and the version budget."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from penstock.errors import VersionBudgetError
from penstock.schemas.canonical import canonical_form
from penstock.schemas.definition import Schema
from penstock.schemas.merge import merge_schemas


class Policy(StrEnum):
    """What is registered for an event.

    EXACT: the schema of that event alone, so n optional fields may make 2^n versions.
    GROW: every field ever seen, so n optional fields make at most n versions.
    """

    EXACT = "exact"
    GROW = "grow"


_ADVICE = {
    Policy.EXACT: "choose the policy grow, which makes a version per field, or raise the budget",
    Policy.GROW: "look whether data became names of fields, or raise the budget",
}


def choose_schema(
    inferred: Schema, versions: Sequence[Schema], policy: Policy, budget: int
) -> Schema:
    """Choose the schema for an event, given the usable versions (oldest first) of its schema.

    Args:
        inferred: What `infer_schema` gave for the event.
        versions: The versions that readers merge.
        policy: What a new version holds.
        budget: How many versions there may be; one that exists is never refused.

    Raises:
        SchemaConflictError: the event contradicts a version.
        VersionBudgetError: it would take one version more than the budget.
    """
    existing = {canonical_form(version): version for version in versions}
    if policy is Policy.EXACT and (text := canonical_form(inferred)) in existing:
        return existing[text]
    # A contradiction is refused here under either policy, before anything is registered.
    grown = merge_schemas([*versions, inferred])
    wanted = inferred if policy is Policy.EXACT else grown
    if (text := canonical_form(wanted)) in existing:
        return existing[text]
    if len(existing) >= budget:
        raise VersionBudgetError(
            f"the event needs a new version of its schema, found {len(existing)} versions and "
            f"expected at most {budget}: {_ADVICE[policy]}"
        )
    return wanted
