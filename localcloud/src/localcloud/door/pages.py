"""The pages of a list: a call asks for one by a token and a size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Pages:
    """The parameters by which a service cuts its lists, and the refusal of an unknown token."""

    token: str
    size: str
    default_size: int
    code: str
    said: str = "{name} {token!r} is unknown"

    def cut(self, call: Call, found: Sequence[T]) -> tuple[list[T], dict[str, str]]:
        """Return the page that a call requests, and the token of the next one, if there is one."""
        token = call.params.get(self.token) or "0"
        if not token.isdecimal() or int(token) > len(found):
            raise AwsError(self.code, self.said.format(name=self.token, token=token))
        start = int(token)
        end = start + int(call.params.get(self.size) or self.default_size)
        return list(found[start:end]), {self.token: str(end)} if end < len(found) else {}
