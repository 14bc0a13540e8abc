"""What no command expects ends with a sentence, if another state of the machine mends it."""

from __future__ import annotations

import errno
import socket
import subprocess
import sys
from pathlib import Path
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


_PROGRAM = "import sys; from penstock.cli import main; sys.exit(main(['explain'], {}))"


def test_an_output_that_takes_nothing_is_a_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert (done.returncode, done.stderr) == (1, "penstock: No space left on device\n")


def test_outputs_that_are_closed_take_everything() -> None:
    words = ["sh", "-c", '"$@" >&- 2>&-', "sh", sys.executable, "-c", _PROGRAM]

    assert subprocess.run(words, check=False).returncode == 0


def test_a_port_in_use_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        words = ["lag", "--listen", address, "--bootstrap-servers", "b:1", "--security=plaintext"]

        assert main(words, {}) == 1
    assert capsys.readouterr().err == "penstock: Address already in use\n"


def test_a_file_that_the_system_refuses_is_named(
    fail: Mock, capsys: pytest.CaptureFixture[str]
) -> None:
    fail.side_effect = PermissionError(errno.EACCES, "Permission denied", "status.json")

    assert main(["cdc", "explain", "status.json"], {}) == 1
    assert capsys.readouterr().err == "penstock: status.json: Permission denied\n"
