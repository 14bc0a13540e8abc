"""Hops that other extensions bring: entry points, since an extension imports no other one.

The groups are `penstock.doctor.producer` and `penstock.doctor.consumer`, and the name of an entry
point is that of its hop. docs/extending.md says what the function yields.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib.metadata import EntryPoint, entry_points

from penstock.errors import OperationError
from penstock.extensions.doctor.accounts import World
from penstock.extensions.doctor.findings import Break, Hop, NotSeenError, Seen, Side
from penstock.extensions.doctor.hops import HOPS


def list_hops() -> list[Hop]:
    """Return the hops of the doctor, and those that are installed, which come after them all."""
    before = tuple(hop.name for hop in HOPS)
    return [
        *HOPS,
        *(
            Hop(point.name, side, partial(_look_at, point, side), before)
            for side in Side
            for point in sorted(entry_points(group=f"penstock.doctor.{side}"))
        ),
    ]


def _look_at(point: EntryPoint, side: Side, world: World) -> Iterator[Seen | Break]:
    try:
        look = point.load()
    except Exception as error:  # whatever its code raises
        raise NotSeenError(
            f"{point.value} cannot be loaded: {type(error).__name__}: {error}"
        ) from error
    try:
        for found in look(world.outputs(side), partial(world.ask, side)):
            yield Break(**found) if "code" in found else Seen(found["seen"])
    except OperationError as error:
        raise NotSeenError(str(error)) from error
