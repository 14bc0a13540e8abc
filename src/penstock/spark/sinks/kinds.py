"""The register of the kinds of sinks."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Final

from penstock.errors import SettingsError
from penstock.spark.sinks.base import KindSettings, SinkKind
from penstock.spark.sinks.dynamodb import DYNAMODB
from penstock.spark.sinks.iceberg import ICEBERG

_GROUP: Final = "penstock.sinks"


@cache
def load_kinds() -> dict[str, SinkKind]:
    """Return all kinds of sinks by name: those of Penstock, and installed ones.

    Raises:
        SettingsError: an entry point cannot be loaded, or is no `SinkKind`.
    """
    kinds = {each.name: each for each in (DYNAMODB, ICEBERG)}
    for point in entry_points(group=_GROUP):
        try:
            kind = point.load()
        except Exception as error:  # whatever its code raises
            said = f"{type(error).__name__}: {error}"
            problem = f"{_GROUP}: {point.name} ({point.value}) cannot be loaded: {said}"
            raise SettingsError([problem]) from error
        if not isinstance(kind, SinkKind):
            raise SettingsError(
                [f"{_GROUP}: {point.name} is {type(kind).__name__}, expected a SinkKind"]
            )
        kinds[kind.name] = kind
    return kinds


def list_kinds() -> dict[str, type[KindSettings]]:
    """Return the classes of the settings of all kinds, by name."""
    return {name: each.settings for name, each in load_kinds().items()}
