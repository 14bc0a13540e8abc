"""What a call is refused with, in the words of AWS."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError


def refusal(call, **params):
    """Make a call that must be refused; returns code and message."""
    with pytest.raises(ClientError) as caught:
        call(**params)
    error = caught.value.response["Error"]
    return error["Code"], error["Message"]


def fails(code, message, call, **params):
    """Make a call and see it refused with a code and a message that begins so."""
    found, said = refusal(call, **params)
    assert (found, said[: len(message)]) == (code, message)


def is_gone(call, **params):
    """Return whether AWS does not find what a call is about."""
    try:
        call(**params)
    except ClientError as error:
        return error.response["Error"]["Code"].endswith("NotFoundException")
    return False


def code_of(refused):
    """The code of a refusal that was caught."""
    return refused.value.response["Error"]["Code"]
