"""kill -9 of the server, with real brokers under it: nobody is left, and all can begin again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from getpass import getuser
from pathlib import Path

import boto3
import pytest

from localcloud.command.instance import find_instance, start_time
from localcloud.testing import wait_until
from tests.kafka.requests import describe_request

pytestmark = pytest.mark.kafka
_GONE_SECONDS = 60  # a JVM that halts, on a machine that does other things too


def _run(folder, *words):
    command = [sys.executable, "-m", "localcloud", "--folder", str(folder), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)


@pytest.fixture
def folder(tmp_path):
    """A folder of localcloud's, and no localcloud on it afterwards."""
    folder = tmp_path / "state"
    yield folder
    _run(folder, "down")


def _start_brokers(endpoint):
    def client(service):
        keys = {"aws_access_key_id": "111111111111", "aws_secret_access_key": "x"}
        return boto3.client(service, "eu-central-1", endpoint_url=endpoint, **keys)

    ec2, kafka = client("ec2"), client("kafka")
    vpc = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(
            VpcId=vpc, CidrBlock=f"10.1.{number}.0/24", AvailabilityZone=f"eu-central-1{zone}"
        )["Subnet"]["SubnetId"]
        for number, zone in enumerate("abc")
    ]
    arn = kafka.create_cluster(**describe_request(subnets))["ClusterArn"]

    def state():
        return kafka.describe_cluster(ClusterArn=arn)["ClusterInfo"]["State"]

    wait_until("the brokers have started", lambda: state() != "CREATING", 150)
    assert state() == "ACTIVE"


def _broker_pids(folder):
    [cluster] = find_instance(folder).ask("status")["clusters"]
    return [process["pid"] for process in cluster["processes"]]


def _readable_by_others(folder):
    """The files and folders that another user of the machine may read or list."""
    return [path for path in (folder, *folder.rglob("*")) if path.stat().st_mode & 0o077]


@pytest.mark.parametrize("end", ["kill -9", "down"])
def test_no_broker_outlives_the_server(folder, end):
    _run(folder, "up", "--port", "0")
    server = find_instance(folder)
    _start_brokers(server.endpoint)
    pids = _broker_pids(folder)
    assert len(pids) == 3  # two brokers and their controller
    assert all(start_time(pid) for pid in pids)
    assert "b-1." in _run(folder, "status").stdout
    assert _run(folder, "logs", "broker-1", "--once").stdout
    assert list(folder.rglob("keystore.pem"))
    assert not _readable_by_others(folder)
    of_java = Path("/tmp", f"hsperfdata_{getuser()}")  # noqa: S108 - whatever TMPDIR is
    assert not any((of_java / str(pid)).exists() for pid in pids)
    if end == "down":
        _run(folder, "down")
        assert not any(start_time(pid) for pid in pids)
    else:
        os.kill(paused := pids.pop(), signal.SIGSTOP)  # it cannot notice the end of the server
        os.kill(server.pid, signal.SIGKILL)
        wait_until("they are gone", lambda: not any(map(start_time, pids)), _GONE_SECONDS)
        assert start_time(paused)
        assert (
            _run(folder, "down").stdout == f"localcloud had ended before (process {server.pid})\n"
        )
        assert not start_time(paused)
        assert [path.name for path in folder.iterdir()] == ["localcloud.json"]
    _run(folder, "up", "--port", "0")
    assert find_instance(folder).pid != server.pid
    assert find_instance(folder).ask("status")["clusters"] == []
