"""What no command expects ends with a sentence, if another state of the machine mends it."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from botocore.exceptions import ClientError, TokenRetrievalError

from penstock.cli import main


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """What `penstock cdc explain` reads its file with."""
    fail = Mock()
    monkeypatch.setattr("penstock.extensions.cdc.command.read_text", fail)
    return fail


@pytest.mark.parametrize(
    "error",
    [
        ClientError({"Error": {"Code": "ExpiredToken", "Message": "old"}}, "AssumeRole"),
        TokenRetrievalError(provider="sso", error_msg="Token has expired"),
        RuntimeError("Credentials were refreshed, but the refreshed credentials are still expired"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_expired_credentials_are_a_sentence(
    fail: Mock, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    fail.side_effect = error

    assert main(["cdc", "explain", "status.json"], {}) == 1
    said = capsys.readouterr().err
    assert said.startswith("penstock: AWS cannot be used: ")
    assert said.endswith("; if the credentials expired, log in again\n")


def test_a_mistake_of_the_program_has_its_traceback(fail: Mock) -> None:
    fail.side_effect = RuntimeError("dictionary changed size during iteration")

    with pytest.raises(RuntimeError, match="changed size"):
        main(["cdc", "explain", "status.json"], {})
