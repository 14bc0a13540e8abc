"""`localcloud registry`: a real Apicurio Registry on request, and what VPCs see of it."""

from __future__ import annotations

import json
import os
import socket
import urllib.request

import pytest

from localcloud import registry
from localcloud.cloud import Cloud
from localcloud.command import commands
from localcloud.command.logs import follow_log
from localcloud.network import Nodes, Source, load_network, trace
from localcloud.registry import RegistryServer, start_registry
from tests.vpcs import make_vpc

pytestmark = pytest.mark.java

_HOST = "schemas.corp.example"
_PORT = 8081


@pytest.fixture(scope="module")
def own(cloud, tmp_path_factory):
    """A localcloud that ends with this module, over the same accounts."""
    own = Cloud(cloud.endpoint, tmp_path_factory.mktemp("registry"))
    yield own
    own.stop()


@pytest.fixture(scope="module")
def vpc(client):
    """A VPC with a network interface: (VPC, subnet, interface, its group, a client's group)."""
    ec2 = client("ec2")
    made = make_vpc(ec2, "10.78.0.0/16")
    subnet = ec2.create_subnet(VpcId=made, CidrBlock="10.78.1.0/24")["Subnet"]["SubnetId"]
    server, user = (
        ec2.create_security_group(VpcId=made, GroupName=name, Description=name)["GroupId"]
        for name in ("registry", "user")
    )
    interface = ec2.create_network_interface(SubnetId=subnet, Groups=[server])["NetworkInterface"]
    return made, subnet, interface["NetworkInterfaceId"], server, user


@pytest.fixture(scope="module")
def shown(own, vpc):
    """The registry, behind the interface."""
    return start_registry(own, port=_PORT, interface=vpc[2], host=_HOST.upper())


def _let_in(ec2, vpc, revoke=False):
    """Let the client's group into the registry's, or no longer."""
    peer = {"UserIdGroupPairs": [{"GroupId": vpc[4]}]}
    rule = {"IpProtocol": "tcp", "FromPort": _PORT, "ToPort": _PORT, **peer}
    change = ec2.revoke_security_group_ingress if revoke else ec2.authorize_security_group_ingress
    change(GroupId=vpc[3], IpPermissions=[rule])


def _ask(own, vpc):
    """Ask the registry from the VPC as a function there would."""
    network = load_network(own)
    address = network.view(Source(vpc[0], (vpc[1],), (vpc[4],))).addresses[_HOST]
    with urllib.request.urlopen(f"http://{address}:{_PORT}/health/ready", timeout=60) as answer:
        return answer.status


def test_it_listens_on_a_loopback_address_alone(shown):
    host, port = shown["url"].removeprefix("http://").split(":")

    assert host.startswith("127.")
    assert int(port) == _PORT
    with urllib.request.urlopen(f"{shown['url']}/health/ready", timeout=60) as answer:
        assert answer.status == 200
    with socket.socket() as other:
        other.bind(("127.0.0.1", _PORT))  # nobody has it


def test_it_answers_no_web_page(shown):
    url = f"{shown['url']}/apis/registry/v2/search/artifacts"
    for origin in ("https://evil.example", "http://localhost:8080"):
        page = urllib.request.Request(url, headers={"Origin": origin})
        with pytest.raises(urllib.error.HTTPError, match="403") as refused:
            urllib.request.urlopen(page, timeout=60)
        with refused.value:
            assert "Access-Control-Allow-Origin" not in refused.value.headers

    with urllib.request.urlopen(url, timeout=60) as answer:
        assert answer.status == 200


def test_a_second_start_is_the_same_registry(own, shown):
    assert start_registry(own, port=_PORT)["pid"] == shown["pid"]
    with pytest.raises(ValueError, match="the registry is on port 8081 already, not on 8080"):
        start_registry(own)


def test_a_registry_that_ended_starts_again_at_its_address(own, shown):
    own.state(RegistryServer).process.kill()

    again = start_registry(own, port=_PORT)

    assert again["pid"] != shown["pid"]
    assert (again["url"], again["hosts"]) == (shown["url"], shown["hosts"])


def test_security_groups_judge_who_reaches_it(own, client, vpc, shown):
    ec2 = client("ec2")
    source = Source(vpc[0], (vpc[1],), (vpc[4],))
    missing = trace(own.state(Nodes), source, _HOST, _PORT).missing

    assert f"({vpc[3]}) let no TCP {_PORT} in from {vpc[4]} of {vpc[0]}" in missing
    with pytest.raises(OSError):
        _ask(own, vpc)
    _let_in(ec2, vpc)
    assert _ask(own, vpc) == 200
    _let_in(ec2, vpc, revoke=True)
    with pytest.raises(OSError):
        _ask(own, vpc)


def test_no_other_vpc_resolves_its_name(own, client, shown):
    other = make_vpc(client("ec2"), "10.79.0.0/16")

    assert _HOST not in load_network(own).view(Source(other)).addresses


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({"interface": "eni-0"}, ValueError, "interface and host go together"),
        ({"host": "a.b"}, ValueError, "interface and host go together"),
        ({"interface": "eni-0", "host": "a.b"}, LookupError, "there is no network interface eni-0"),
    ],
)
def test_what_is_refused(own, given, kind, message):
    with pytest.raises(kind, match=message):
        start_registry(own, **given)


def test_the_command_prints_its_urls(own, vpc, shown, capsys, monkeypatch):
    class Asked:
        alive = True

        def ask(self, name, **arguments):
            assert name == "start-registry"
            return start_registry(own, **arguments)

    monkeypatch.setattr(commands, "find_instance", lambda folder: Asked())
    pid = own.state(RegistryServer).process.pid
    commands.registry(own.folder, _PORT, "", "", "text")

    address = shown["url"].removeprefix("http://")
    assert capsys.readouterr().out.splitlines() == [
        f"Apicurio Registry answers on {shown['url']} (process {pid})",
        "  this machine",
        f"    its own API     apicurio+http://{address}",
        f"    Confluent's API confluent+http://{address}/apis/ccompat/v7",
        f"  {vpc[2]}",
        f"    its own API     apicurio+http://{_HOST}:{_PORT}",
        f"    Confluent's API confluent+http://{_HOST}:{_PORT}/apis/ccompat/v7",
    ]
    commands.registry(own.folder, _PORT, "", "", "json")
    told = json.loads(capsys.readouterr().out)
    assert (told["url"], told["pid"]) == (shown["url"], pid)
    assert told["hosts"] == {vpc[2]: _HOST}
    assert any(
        "Listening on" in line for line in follow_log(Asked(), own.folder, "apicurio", once=True)
    )


def test_without_its_jar_the_sentence_names_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setattr(registry.apicurio, "_APP", tmp_path)

    with pytest.raises(registry.apicurio.MissingToolError, match="run `localcloud fetch`"):
        registry.ApicurioProcess("127.0.0.1", 0, tmp_path / "apicurio.log")


def test_a_start_that_fails_shows_the_log(tmp_path):
    log = tmp_path / "apicurio.log"

    with pytest.raises(registry.apicurio.RegistryStartError, match="Apicurio ended with exit code"):
        registry.ApicurioProcess("no.such.address.invalid", 0, log)


def test_it_ends_with_localcloud(own, shown):
    pid = start_registry(own, port=_PORT)["pid"]

    own.stop()

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
