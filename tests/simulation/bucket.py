"""A bucket in memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

from penstock.errors import ObjectMissingError, SinkUnavailableError
from tests.simulation.weather import Trouble, Weather

_UNDONE = {Trouble.LOST, Trouble.THROTTLED, Trouble.DENIED, Trouble.ODD}


@dataclass
class SimulatedBucket:
    """A bucket behind the methods of `ObjectStore`; what fails has failed at each try."""

    weather: Weather
    objects: dict[str, bytes] = field(default_factory=dict)

    def put(self, name: str, content: bytes, content_type: str = "") -> str:
        """Write an object, or fail, perhaps after it was written."""
        trouble = self.weather.call("s3")
        if trouble is Trouble.LATE:
            self.weather.do_late(partial(self.objects.update, {name: content}))
        elif trouble not in _UNDONE:
            self.objects[name] = content
        if trouble is not None:
            raise SinkUnavailableError(f"s3: {trouble}")
        return f"s3://simulated/{name}"

    def put_each(self, objects: Iterable[tuple[str, bytes]]) -> list[str]:
        """Write objects one after the other."""
        return [self.put(name, content) for name, content in objects]

    def get(self, where: str) -> bytes:
        """Read an object."""
        if trouble := self.weather.call("s3"):
            raise SinkUnavailableError(f"s3: {trouble}")
        try:
            return self.objects[where.removeprefix("s3://simulated/")]
        except KeyError as error:
            raise ObjectMissingError(where) from error
