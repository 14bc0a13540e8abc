"""Errors of ours that ended a task, as the driver hears of them: in the text of Spark's error."""

from __future__ import annotations

import re
from typing import Final

from penstock.errors import SinkAccessDeniedError, SinkRefusedError, SinkUnavailableError

_KINDS: Final = {
    kind.__name__: kind for kind in (SinkAccessDeniedError, SinkRefusedError, SinkUnavailableError)
}
_LINE: Final = re.compile(rf"^penstock\.errors\.({'|'.join(_KINDS)}): (.*)$", re.MULTILINE)


def raise_as_told(error: Exception) -> None:
    """Raise the error that a task ended with, where it is one of a sink."""
    found = _LINE.search(str(error))
    if found is not None:
        raise _KINDS[found[1]](found[2]) from error
