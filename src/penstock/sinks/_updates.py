"""Parts of the expressions that update a dead letter."""

from __future__ import annotations

from typing import Any, Final

from penstock.errors import Failure
from penstock.sinks.dead_letter import write_detail

# Without this condition, an update of a missing row would create one with few attributes.
THERE: Final = "attribute_exists(id)"
UNSETTLED: Final = f"{THERE} AND attribute_not_exists(doneAt) AND attribute_not_exists(parkedAt)"
# The update that replaces the failure of a row.
RETELL: Final = "#reason = :reason, #detail = :detail"


def retell(failure: Failure) -> dict[str, Any]:
    """Return the values of `RETELL`."""
    return {":reason": failure.reason.value, ":detail": write_detail(failure.detail)}
