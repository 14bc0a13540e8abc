"""What runs for a function or a mapping never outlives localcloud."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from localcloud.testing import is_running, wait_until

_ROOT = Path(__file__).resolve().parents[2]
_SCRIPT = """
import sys, threading, time
from pathlib import Path
import boto3
from localcloud.door.server import start_server
from localcloud.testing import deploy, wait_until
from localcloud.testing import invoke
server = start_server(Path(sys.argv[1]), 0)
def client(service, account="111111111111"):
    return boto3.client(service, endpoint_url=server.cloud.endpoint, region_name="eu-central-1",
                        aws_access_key_id=account, aws_secret_access_key="x")
source = '''
import os, subprocess, time
def handler(event, context):
    if event == "idle":
        return os.getpid()
    child = subprocess.Popen(["sleep", "60"])
    open(event, "w").write(f"{os.getpid()} {child.pid}\\\\n")
    time.sleep(60)
'''
idle, _ = invoke(client, deploy(client, source), "idle")
busy = deploy(client, source, Timeout=60)
pids = sys.argv[1] + "/pids"
threading.Thread(target=invoke, args=(client, busy, pids), daemon=True).start()
mapping = client("lambda").create_event_source_mapping(
    FunctionName=busy, Topics=["orders"], StartingPosition="LATEST",
    SelfManagedEventSource={"Endpoints": {"KAFKA_BOOTSTRAP_SERVERS": ["127.0.0.1:9"]}},
)["UUID"]
from localcloud.services.lambda_.mappings import Mappings
mappings = server.cloud.state(Mappings, "111111111111", "eu-central-1")
poller = wait_until("a poller", lambda: (found := mappings.by_id[mapping].poller) and found.pid)
text = wait_until("pids", lambda: Path(pids).exists() and Path(pids).read_text().strip())
print(idle, poller, text, flush=True)
time.sleep(60) if sys.argv[2] == "wait" else server.stop()
"""


def start(folder, then):
    """Run a localcloud of its own with an idle and a busy function and a poller."""
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", _SCRIPT, str(folder), then],
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process.stdout as said:
        pids = [int(word) for word in said.readline().split()]
    assert len(pids) == 4
    return process, pids


def test_kill_9_of_localcloud_leaves_nothing_behind(tmp_path):
    process, pids = start(tmp_path / "cloud", "wait")
    assert all(map(is_running, pids))
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    wait_until("all processes are gone", lambda: not any(map(is_running, pids)))


def test_a_stop_leaves_nothing_behind(tmp_path):
    process, pids = start(tmp_path / "cloud", "stop")
    assert process.wait(60) == 0
    assert not any(map(is_running, pids))
