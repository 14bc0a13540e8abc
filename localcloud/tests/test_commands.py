"""up, down, kill -9, status, env, logs, trace: the commands as a user types them."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import boto3
import pytest

from localcloud.__main__ import main
from localcloud.command.instance import find_instance, start_time
from localcloud.testing import deploy, invoke, wait_until

_AWS = str(Path(sys.executable).with_name("aws"))

_WRITES = """
import tempfile

def handler(event, context):
    return tempfile.mkstemp()[1]
"""


def _run(folder, *words, **variables):
    return subprocess.run(
        [sys.executable, "-m", "localcloud", "--folder", str(folder), *words],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def folder(tmp_path):
    """A folder of localcloud's, and no localcloud on it afterwards."""
    folder = tmp_path / "state"
    yield folder
    _run(folder, "down")


@pytest.fixture
def free_port():
    """A port that nobody had a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.fixture
def up(folder, free_port):
    """A localcloud in the background, as `find_instance` tells of it."""
    done = _run(folder, "up", "--port", str(free_port))
    assert done.returncode == 0, done.stderr
    return find_instance(folder)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """The folder of one localcloud for the tests that do not end it."""
    folder = tmp_path_factory.mktemp("commands") / "state"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    done = _run(folder, "up", "--port", str(port))
    assert done.returncode == 0, done.stderr
    yield folder
    _run(folder, "down")


def _environment(folder, *words):
    """The variables that `env` prints, as a shell would set them."""
    exports = _run(folder, "env", *words).stdout
    script = f"{exports}\nenv -0"
    shown = subprocess.run(["bash", "-c", script], capture_output=True, check=True).stdout
    return dict(line.split("=", 1) for line in shown.decode().split("\0") if line)


def test_up_prints_the_endpoint_and_a_second_up_too(folder, free_port):
    first = _run(folder, "up", "--port", str(free_port))
    assert f"localcloud answers on http://127.0.0.1:{free_port} after" in first.stdout
    assert re.search(r'use it    eval "\$\((\S+ -m )?localcloud env\)"', first.stdout)
    assert folder.stat().st_mode & 0o777 == 0o700
    pid = find_instance(folder).pid
    second = _run(folder, "up", "--port", str(free_port))
    assert second.returncode == 0
    assert f"localcloud runs already: http://127.0.0.1:{free_port} (process {pid})" in second.stdout
    other = _run(folder, "up", "--port", "1")
    assert other.returncode == 1
    assert "it does not answer on port 1: stop it first, or use another --folder" in other.stderr


def test_a_port_that_is_taken_is_a_clear_error(folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = _run(folder, "up", LOCALCLOUD_PORT=str(port))
    assert done.returncode == 1
    said = "cannot be used (Address already in use): choose another with --port or the variable"
    assert done.stderr == f"port {port} of 127.0.0.1 {said} LOCALCLOUD_PORT\n"


def test_a_folder_of_other_files_is_left_alone(tmp_path, free_port):
    (tmp_path / "thesis.txt").write_text("years of work")
    done = _run(tmp_path, "up", "--port", str(free_port))
    assert done.returncode == 1
    assert "holds files but no localcloud.json, so it is not localcloud's" in done.stderr
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_a_folder_that_the_system_refuses_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    done = _run(tmp_path / "file" / "folder", "up")
    assert done.returncode == 1
    assert done.stderr == f"{tmp_path}/file/folder: Not a directory\n"


def test_down_ends_it_and_the_state_with_it(folder, up, free_port):
    (folder / "terraform").mkdir()
    done = _run(folder, "down")
    assert done.stdout == f"localcloud ended (process {up.pid})\n"
    assert start_time(up.pid) == 0
    assert [path.name for path in folder.iterdir()] == ["localcloud.json"]
    assert _run(folder, "down").stdout == "localcloud does not run\n"
    again = _run(folder, "up", "--port", str(free_port))
    assert again.returncode == 0, again.stderr


def test_after_kill_9_the_next_up_works(folder, up, free_port):
    os.kill(up.pid, signal.SIGKILL)
    wait_until("it is gone", lambda: not up.alive)
    found = re.fullmatch(
        r"localcloud does not run, start it: (\S+) -m localcloud up\n",
        _run(folder, "status").stderr,
    )
    assert found
    assert Path(found[1]).absolute() == Path(sys.executable)
    assert _run(folder, "up", "--port", str(free_port)).returncode == 0
    assert find_instance(folder).pid != up.pid


def test_it_writes_into_its_own_folder_and_for_its_own_user(tmp_path, monkeypatch):
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "state"
    elsewhere.mkdir()
    for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(elsewhere))
    monkeypatch.chdir(elsewhere)
    assert _run(folder, "up", "--port", "0").returncode == 0

    def client(service):
        keys = {"aws_access_key_id": "111111111111", "aws_secret_access_key": "x"}
        endpoint = find_instance(folder).endpoint
        return boto3.client(service, "eu-central-1", endpoint_url=endpoint, **keys)

    try:
        written, _ = invoke(client, deploy(client, _WRITES))
        files = [folder, *folder.rglob("*")]
        assert Path(written) in files
        open_to_others = [path.name for path in files if path.stat().st_mode & 0o077]
        assert open_to_others == ["app.py"]  # as in the zip, in a folder that others cannot enter
    finally:
        _run(folder, "down")
    assert list(elsewhere.iterdir()) == []
    assert [path.name for path in folder.iterdir()] == ["localcloud.json"]


def test_a_process_that_got_the_same_id_is_left_alone(tmp_path):
    somebody = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    began = start_time(somebody.pid)
    told = {"pid": somebody.pid, "started": began - 1, "endpoint": "http://127.0.0.1:1"}
    (tmp_path / "localcloud.json").write_text(json.dumps(told))
    said = f"localcloud had ended before (process {somebody.pid})\n"
    assert _run(tmp_path, "down").stdout == said
    assert start_time(somebody.pid) == began
    somebody.communicate(b"\n", timeout=60)


def test_env_is_all_that_the_aws_command_and_boto3_need(shared):
    environment = _environment(shared, "--account", "222222222222")
    done = subprocess.run(
        [_AWS, "sts", "get-caller-identity", "--query", "Account", "--output", "text"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "222222222222\n", done.stderr
    made = [_AWS, "s3", "mb", "s3://by-command"]
    assert subprocess.run(made, env=environment, capture_output=True, check=True)
    buckets = boto3.client(
        "s3",
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        region_name=environment["AWS_REGION"],
        aws_access_key_id="222222222222",
        aws_secret_access_key="x",
    ).list_buckets()["Buckets"]
    assert [bucket["Name"] for bucket in buckets] == ["by-command"]
    assert environment["AWS_EC2_METADATA_DISABLED"] == "true"


def test_status_and_logs_show_the_calls(shared):
    running = find_instance(shared)
    environment = _environment(shared, "--account", "333333333333")
    subprocess.run([_AWS, "dynamodb", "list-tables"], env=environment, check=True)
    status = _run(shared, "status").stdout
    assert f"localcloud answers on {running.endpoint} (process {running.pid})" in status
    assert re.search(r"^  account +calls.*\n(.*\n)*?  333333333333 +1\b", status, re.MULTILINE)
    shown = json.loads(_run(shared, "status", "--output", "json").stdout)
    assert "333333333333" in {each["account"] for each in shown["accounts"]}
    assert '"operation": "ListTables"' in _run(shared, "logs", "calls", "--once").stdout
    assert _run(shared, "logs", "server", "--once").returncode == 0
    unknown = _run(shared, "logs", "nobody")
    assert "found no log 'nobody', expected one of: calls, server" in unknown.stderr


def test_a_proxy_of_the_shell_is_not_asked(shared, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    assert _run(shared, "status").returncode == 0


def test_logs_of_a_function_are_those_of_its_log_group(shared):
    endpoint = find_instance(shared).endpoint

    def client(service):
        keys = {"aws_access_key_id": "444444444444", "aws_secret_access_key": "x"}
        return boto3.client(service, "eu-central-1", endpoint_url=endpoint, **keys)

    name = deploy(client, "def handler(event, context):\n    print('hello\\tyou \\x1b[2J')\n")
    assert invoke(client, name) == (None, None)
    printed = _run(shared, "logs", name, "--once").stdout.splitlines()
    assert "hello\tyou \\x1b[2J" in printed  # cannot control the terminal
    assert any(line.startswith("REPORT RequestId") for line in printed)


def test_logs_follow_until_localcloud_ends(folder, up):
    following = subprocess.Popen(
        [sys.executable, "-m", "localcloud", "--folder", str(folder), "logs", "calls"],
        stdout=subprocess.PIPE,
        text=True,
    )
    environment = _environment(folder)
    subprocess.run([_AWS, "dynamodb", "list-tables"], env=environment, check=True)
    assert '"operation": "ListTables"' in following.stdout.readline()
    _run(folder, "down")
    assert following.wait(60) == 0
    following.stdout.close()


def test_trace_asks_the_network(shared):
    done = _run(shared, "trace", "b-1.example.org", "9096", "--vpc", "vpc-none")
    assert done.returncode == 1
    assert "vpc-none" in done.stderr


def test_a_path_with_a_missing_hop_is_told_as_json_and_is_an_error(monkeypatch, capsys):
    found = {"hops": ["route table rtb-1"], "missing": "no route"}
    instance = Mock(ask=Mock(return_value=found))
    monkeypatch.setattr("localcloud.command.commands.find_instance", lambda _: instance)
    assert main(["trace", "b-1", "9096", "--vpc", "vpc-1", "--output", "json"]) == 1
    printed = capsys.readouterr()
    assert json.loads(printed.out) == found
    assert printed.err == "no route\n"
