"""Examine a deployment: every hop in order, and the first causes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from penstock.extensions.doctor.accounts import World
from penstock.extensions.doctor.findings import (
    Break,
    Finding,
    Hop,
    Seen,
    State,
    look_until_unseen,
    name_causes,
)


@dataclass(frozen=True, slots=True)
class Report:
    """The findings, in the order of the hops."""

    findings: tuple[Finding, ...]

    @property
    def causes(self) -> tuple[Finding, ...]:
        """Return the first causes."""
        return tuple(each for each in self.findings if each.state is State.BROKEN)

    @property
    def not_seen(self) -> tuple[Finding, ...]:
        """Return the hops that could not be looked at."""
        return tuple(each for each in self.findings if each.state is State.NOT_SEEN)


def examine(world: World, hops: Sequence[Hop]) -> Report:
    """Look at every hop; one that cannot be looked at does not keep the others from it."""
    hops = [each for each in hops if each.exposure in {"", world.contract.get("exposure")}]
    findings = [finding for hop in hops for finding in _look_at(hop, world)]
    return Report(tuple(name_causes(findings, {hop.name: hop for hop in hops})))


def _look_at(hop: Hop, world: World) -> Iterator[Finding]:
    account = world.deployment.account_of(hop.side)
    found, why = look_until_unseen(partial(hop.look, world))
    breaks = [each for each in found if isinstance(each, Break)]
    for each in breaks or ([] if why else found):
        yield _to_finding(hop, account, each, world)
    if why:
        yield Finding(hop.name, hop.side, account, State.NOT_SEEN, why)


def _to_finding(hop: Hop, account: str, found: Seen | Break, world: World) -> Finding:
    if isinstance(found, Seen):
        return Finding(hop.name, hop.side, account, State.OK, found.what)
    state = State.FOLLOWS if found.is_symptom else State.BROKEN
    return Finding(
        hop.name,
        hop.side,
        account,
        state,
        found.seen,
        found.expected,
        found.mend or world.apply(hop.side),
        found.code,
        found.about,
    )
