"""A child process in a VPC resolves its VPC's names, and reaches nothing but its VPC."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import textwrap

import pytest

from localcloud.errors import MissingHopError
from localcloud.network import Source, find_source, load_network
from localcloud.testing import wait_until
from tests.account_ids import CONSUMER
from tests.java_options import SHORT_LIVED
from tests.two_accounts import PORT

ZONE = "names.abc123.c1.kafka.eu-central-1.amazonaws.com"
CHILD_SECONDS = 30


@pytest.fixture
def environment(cloud, accounts):
    return load_network(cloud).environment_for(accounts.source)


def run_python(environment, code, **more):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={"PATH": os.defpath, **environment, **more},
        capture_output=True,
        text=True,
        timeout=CHILD_SECONDS,
        check=False,
    )
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def test_python_reaches_the_broker_by_its_name(environment, accounts):
    host = accounts.brokers[0].host
    code = f"""
        import socket
        print(socket.create_connection(({host!r}, {PORT})).makefile().readline())
    """

    assert run_python(environment, code) == host


@pytest.mark.parametrize(
    "name", ["b-9." + ZONE, "sts.eu-central-1.amazonaws.com", "example.com", "b-1.names.abc123"]
)
def test_python_knows_no_other_name(environment, name):
    said = run_python(environment, f"import socket; socket.getaddrinfo({name!r}, 443)")

    assert said == f"socket.gaierror: [Errno -2] {name} is not in the table of names"


@pytest.mark.parametrize("name", ["localhost", socket.gethostname(), "127.0.0.1", "127.0.0.1."])
def test_python_knows_its_own_machine(environment, name):
    code = f"import socket; print(socket.getaddrinfo({name!r}, 443)[0][4][0])"

    assert run_python(environment, code).startswith("127.")


@pytest.mark.parametrize("method", ["connect", "connect_ex"])
@pytest.mark.parametrize(("address", "family"), [("10.0.0.7", "AF_INET"), ("fd00::7", "AF_INET6")])
def test_python_cannot_go_around_its_names(environment, method, address, family):
    code = f"import socket; socket.socket(socket.{family}).{method}(({address!r}, 9096))"

    said = run_python(environment, code)

    unreachable = f"this VPC has no route to {address}"
    assert said == f"OSError: [Errno 101] Network is unreachable: {unreachable}"


def test_a_name_given_to_connect_is_looked_up_in_the_view_too(environment):
    said = run_python(environment, "import socket; socket.socket().connect(('example.com', 80))")

    assert said.endswith("example.com is not in the table of names")


def test_python_sees_names_come_and_go(environment, accounts, cloud):
    broker = accounts.brokers[0]
    code = f"""
        import socket, sys
        for line in sys.stdin:
            try:
                print(len(socket.getaddrinfo({broker.host!r}, 9096)), flush=True)
            except socket.gaierror:
                print("gone", flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={"PATH": os.defpath, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:

        def look_up():
            process.stdin.write("?\n")
            process.stdin.flush()
            return process.stdout.readline().strip()

        assert look_up() != "gone"
        accounts.make_record(broker, "DELETE")
        load_network(cloud).refresh()
        assert look_up() == "gone"
        accounts.make_record(broker)
        load_network(cloud).refresh()
        assert look_up() != "gone"
        process.stdin.close()
        assert process.wait(CHILD_SECONDS) == 0


def test_names_are_followed_after_a_failure(accounts, environment, cloud, monkeypatch, caplog):
    def fail_once(*_):
        monkeypatch.undo()
        raise RuntimeError("dictionary changed size during iteration")

    network = load_network(cloud)
    monkeypatch.setattr("localcloud.network.views.visible_names", fail_once)
    network.notice()

    failed = "the network cannot follow what was created"
    wait_until("somebody looked", lambda: failed in caplog.text, CHILD_SECONDS)
    broker = accounts.brokers[0]
    accounts.make_record(broker, "DELETE")
    wait_until("somebody looks again", lambda: not network.links(broker.host), CHILD_SECONDS)
    accounts.make_record(broker)


def test_the_interpreters_own_sitecustomize_runs_as_well(environment, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.own_was_run = True")
    path = f"{environment['PYTHONPATH']}:{tmp_path}"

    said = run_python(environment, "import sys; print(sys.own_was_run)", PYTHONPATH=path)

    assert said == "True"


def test_a_process_in_no_vpc_sees_no_broker(cloud, accounts):
    environment = load_network(cloud).environment_for(find_source([], []))
    host = accounts.brokers[0].host

    assert environment["AWS_ENDPOINT_URL"] == cloud.endpoint
    said = run_python(environment, f"import socket; socket.getaddrinfo({host!r}, 9096)")
    assert said == f"socket.gaierror: [Errno -2] {host} is not in the table of names"


def test_the_vpc_is_found_by_the_subnet(accounts):
    subnets = accounts.subnets[CONSUMER]

    assert find_source(subnets, ["sg-1"]) == Source(
        accounts.vpcs[CONSUMER], tuple(subnets), ("sg-1",)
    )
    with pytest.raises(MissingHopError, match="there is no subnet subnet-0 in any account"):
        find_source(["subnet-0"], [])


@pytest.mark.kafka
def test_java_resolves_by_the_view_alone(environment, accounts, tmp_path):
    host = accounts.brokers[0].host
    source = tmp_path / "Dial.java"
    source.write_text(
        """
        import java.io.*;
        import java.net.*;

        class Dial {
            public static void main(String[] arguments) throws Exception {
                System.out.println(InetAddress.getLocalHost().isLoopbackAddress());
                try (Socket socket = new Socket(arguments[0], 9096)) {
                    Reader reader = new InputStreamReader(socket.getInputStream());
                    System.out.println(new BufferedReader(reader).readLine());
                }
                try {
                    InetAddress.getByName("sts.eu-central-1.amazonaws.com");
                } catch (UnknownHostException error) {
                    System.out.println("unknown: " + error.getMessage());
                }
            }
        }
        """
    )
    java = shutil.which("java")
    assert java, "Java runs Kafka, so the tests of this marker need it"

    done = subprocess.run(
        [java, *SHORT_LIVED, str(source), host],
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=CHILD_SECONDS,
        check=False,
    )

    lines = done.stdout.splitlines()
    assert lines[:2] == ["true", host], done.stderr
    assert lines[2].startswith("unknown: Unable to resolve host sts.eu-central-1.amazonaws.com")
