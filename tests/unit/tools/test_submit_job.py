"""A job is submitted by the command of its name, with the environment that is there."""

from __future__ import annotations

import json
import shlex

import pytest

from tools import submit_job
from tools.outputs import OutputError
from tools.submit_job import SubmitError, add_flags, choose_command, submit

_ANSWER = '{"applicationId": "00a", "jobRunId": "00b"}'


def command_of(*words):
    """A command as Terraform puts it out."""
    driver = {"sparkSubmit": {"entryPoint": "it's", "entryPointArguments": list(words)}}
    return f"aws emr-serverless start-job-run --job-driver {shlex.quote(json.dumps(driver))}"


def test_a_command_is_that_of_the_run() -> None:
    assert choose_command({"consume": "aws a", "replay": "aws b"}, "replay") == "aws b"


@pytest.mark.parametrize(("commands", "known"), [({"consume": ""}, "consume"), ({}, "none")])
def test_an_unknown_run_is_refused_with_those_there_are(commands, known) -> None:
    with pytest.raises(OutputError, match=f"no run 'fold' of a Spark job, only {known}$"):
        choose_command(commands, "fold")


def test_flags_come_behind_those_of_the_command() -> None:
    words = shlex.split(add_flags(command_of("--which", "due"), ["--reason", "a 'b'"]))
    assert words == shlex.split(command_of("--which", "due", "--reason", "a 'b'"))


@pytest.fixture
def aws(tmp_path):
    """Make an `aws` that tells its words and answers."""

    def make(*lines):
        program = tmp_path / "aws"
        program.write_text("\n".join(["#!/bin/sh", f'echo "$@" > {tmp_path}/words', *lines]))
        program.chmod(0o755)
        return {"PATH": f"{tmp_path}:/usr/bin:/bin"}

    return make


def test_the_answer_names_the_run(aws, tmp_path) -> None:
    environ = aws(f"echo '{_ANSWER}'")

    assert submit("aws emr-serverless start-job-run --name 'a b'", environ)["jobRunId"] == "00b"
    words = (tmp_path / "words").read_text()
    assert words == "emr-serverless start-job-run --name a b --output json\n"


def test_what_aws_says_is_passed_on(aws) -> None:
    environ = aws("echo no such role >&2", "exit 254")

    with pytest.raises(SubmitError, match=r"^the job was not submitted: no such role$"):
        submit("aws emr-serverless start-job-run", environ)


def test_the_command_line_submits_or_says_why_not(aws, monkeypatch, capsys, tmp_path) -> None:
    monkeypatch.setattr("os.environ", aws(f"echo '{_ANSWER}'"))
    commands = {"replay": command_of("--which", "open")}
    monkeypatch.setattr(submit_job, "read_output", lambda root, name: commands)

    monkeypatch.setattr("sys.argv", ["submit_job.py", "replay", "--reason", "unknown-schema"])
    assert submit_job.main() == 0
    assert capsys.readouterr().out == "submitted replay as job run 00b of 00a\n"
    assert '["--which", "open", "--reason", "unknown-schema"]' in (tmp_path / "words").read_text()

    monkeypatch.setattr("sys.argv", ["submit_job.py", "fold"])
    assert submit_job.main() == 1
    assert "no run 'fold' of a Spark job, only replay" in capsys.readouterr().err
