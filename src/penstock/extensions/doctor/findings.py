"""The findings of hops, and which of them are first causes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any


class Side(StrEnum):
    """The account that a hop is in."""

    PRODUCER = "producer"
    CONSUMER = "consumer"


class State(StrEnum):
    """The state of a hop, or of one of its resources."""

    OK = "ok"
    BROKEN = "broken"
    FOLLOWS = "follows"
    NOT_SEEN = "not seen"


class NotSeenError(Exception):
    """A hop cannot be looked at; the message says why."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A hop, or one of its resources, is as expected."""

    what: str


@dataclass(frozen=True, slots=True)
class Break:
    """A resource is not as expected.

    Args:
        code: the name of its page (`penstock explain CODE`).
        about: what is broken, such as a broker or a function.
        seen: what was found.
        expected: what should have been found.
        mend: the command that mends it; without one, an apply of the root of the hop's account.
        is_symptom: whether a break of an earlier hop may be the reason.
    """

    code: str
    about: str
    seen: str
    expected: str
    mend: str = ""
    is_symptom: bool = False


Look = Callable[[Any], Iterator[Seen | Break]]


def look_until_unseen(
    look: Callable[[], Iterator[Seen | Break]],
) -> tuple[list[Seen | Break], str]:
    """Return what is found until something cannot be looked at, and why that cannot."""
    found: list[Seen | Break] = []
    try:
        for each in look():
            found.append(each)
    except NotSeenError as error:
        return found, str(error)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        return found, f"an answer of AWS or an output of a root is not as expected: {error!r}"
    return found, ""


@dataclass(frozen=True, slots=True)
class Hop:
    """One hop: its name, its account, the function that looks at it, the hops it depends on.

    `exposure` is that of the brokers which has the hop; empty for all.
    """

    name: str
    side: Side
    look: Look
    after: tuple[str, ...] = ()
    exposure: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A line of a report."""

    hop: str
    side: Side
    account: str
    state: State
    seen: str
    expected: str = ""
    mend: str = ""
    code: str = ""
    about: str = ""
    follows_from: str = ""

    @property
    def cause(self) -> str:
        """Return the code of a break and what it is about."""
        return f"{self.code} ({self.about})"


def name_causes(findings: list[Finding], hops: Mapping[str, Hop]) -> Iterator[Finding]:
    """Yield the findings, each symptom with the earlier break that it follows from.

    `findings` has the state `follows` for each symptom; one without an earlier break is broken.
    """
    broken = [each for each in findings if each.state is State.BROKEN]
    for each in findings:
        if each.state is not State.FOLLOWS:
            yield each
            continue
        before = _list_before(each.hop, hops)
        causes = [cause for cause in broken if cause.hop in before]
        if causes:
            # The break of the same broker or function explains more than another one.
            nearest = min(causes, key=lambda cause: cause.about != each.about)
            yield replace(each, follows_from=nearest.cause)
        else:
            yield replace(each, state=State.BROKEN)


def _list_before(name: str, hops: Mapping[str, Hop]) -> set[str]:
    """Return the names of the hops that a hop depends on, directly or not."""
    found: set[str] = set()
    rest = [*hops[name].after]
    while rest:
        before = rest.pop()
        if before not in found:
            found.add(before)
            rest += hops[before].after if before in hops else ()
    return found
