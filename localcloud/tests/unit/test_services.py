"""The descriptors of services, against boto3's models and what their modules register."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from moto.core.utils import get_service_model

import localcloud.services as packages
from localcloud.cloud import Cloud
from localcloud.door import control, services
from localcloud.door.operations import Call, find_operation, own_operations
from localcloud.door.service import ErrorCode, Service
from localcloud.identity.access import Access, by_action
from localcloud.identity.callers import Caller

_NAMES = sorted(services.list_services())


@pytest.mark.parametrize("name", _NAMES)
def test_a_service_is_found_by_its_signing_name(name):
    signing_name = get_service_model(name).signing_name
    plain = services.find_service(name).claims is None

    assert not plain or services.find_signed(signing_name).name == name


@pytest.mark.parametrize(
    ("signing_name", "path", "target", "name"),
    [
        ("s3", "/v20180820/configuration", "", "s3control"),
        ("s3", "/bucket/key", "", "s3"),
        ("s3express", "/bucket/key", "", "s3"),
        ("dynamodb", "/", "DynamoDBStreams_20120810.ListStreams", "dynamodbstreams"),
        ("dynamodb", "/", "DynamoDB_20120810.ListTables", "dynamodb"),
        ("glacier", "/", "", "glacier"),
    ],
)
def test_a_request_is_claimed_where_two_services_share_a_name(signing_name, path, target, name):
    request = SimpleNamespace(path=path, headers={"X-Amz-Target": target})

    assert services.find_signed(signing_name, request).name == name


def test_a_service_without_a_folder_has_the_usual_answers():
    found = services.find_service("glacier")

    assert (found.endpoint, found.throttle, found.resources) == ("glacier", None, by_action)
    assert found.action("ListVaults") == "glacier:ListVaults"


def test_the_operations_of_a_folder_are_its_services_and_its_status_is_named():
    services.load_all()
    parts = {part for name in _NAMES for part in services.find_service(name).status}

    assert {service for service, _ in own_operations()} >= {"athena", "kafka", "sns"}
    assert {service for service, _ in own_operations()} - set(_NAMES) <= {"nonsense"}
    named = {
        part
        for part, show in control._DESCRIPTIONS.items()
        if show.__module__.startswith("localcloud.services.")
    }
    assert named == parts


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """An empty folder of services, and nothing registered."""
    monkeypatch.setattr(packages, "__path__", [str(tmp_path)])
    monkeypatch.setattr(control, "_DESCRIPTIONS", {})
    caches = (services.list_services, services.load_operations)
    before = set(sys.modules)
    for cached in caches:
        cached.cache_clear()
    yield tmp_path
    for cached in caches:
        cached.cache_clear()
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_the_service_of_the_readme_works_from_its_folder(folders, tmp_path):
    text = (Path(packages.__file__).parents[3] / "README.md").read_text()
    for block in re.findall(
        r"```python\n(.*?)```", text.partition("## How to add a service")[2], re.S
    ):
        file = folders / re.search(r"# services/(\S+)\n", block)[1]
        file.parent.mkdir(exist_ok=True)
        file.write_text(block)
    cloud = Cloud("", tmp_path)
    caller = Caller("111111111111", "eu-central-1", "key", "arn")
    call = Call(cloud, caller, "apprunner", "CreateService", {"ServiceName": "s"}, lambda: None)

    assert control.ControlDoor(cloud)._describe() == {"web services": []}
    services.load_operations("apprunner")
    made = find_operation("apprunner", "CreateService")(call)["Service"]

    assert control.ControlDoor(cloud)._describe() == {"web services": [made]}
    call.params = {"ServiceArn": made["ServiceArn"]}
    found = services.find_service("apprunner")
    assert list(found.resources(call, found.action("DeleteService"))) == [
        Access("apprunner:DeleteService", made["ServiceArn"])
    ]


def test_two_folders_of_one_service_are_refused(folders):
    for name in ("tea", "tea_again"):
        (folders / name).mkdir()
        (folders / name / "__init__.py").write_text(
            "from localcloud.door.service import Service\n"
            "from localcloud.identity.access import by_action\n"
            "SERVICE = Service('tea', None, None, by_action)\n"
        )

    with pytest.raises(ValueError, match=r"tea_again and localcloud\.services\.tea are both tea"):
        services.list_services()


def test_a_service_says_what_iam_calls_its_operations():
    service = Service(
        "lambda", None, ErrorCode("Slow", 429), by_action, actions={"Invoke": "InvokeFunction"}
    )

    assert service.action("Invoke") == "lambda:InvokeFunction"
    assert service.action("GetFunction") == "lambda:GetFunction"


# What runs beside the calls: it has to end with localcloud, and `status` has to show it.
_STARTS = re.compile(r"threading\.Thread\(|Child\(|localcloud\.(brokers|functions|jobs) import")


def _problems(service: Service, source: str) -> Iterator[str]:
    ends = ".on_stop(" in source
    if _STARTS.search(source) and not ends:
        yield f"{service.name} starts something and does not end it: cloud.on_stop"
    if ends and not service.status:
        yield f"{service.name} runs something that status does not show: @describe"


@pytest.mark.parametrize("name", _NAMES)
def test_a_service_ends_and_shows_what_it_starts(name):
    service, package = services.list_services()[name]
    folder = Path(packages.__file__).parent / package.rpartition(".")[2]

    found = _problems(service, "".join(path.read_text() for path in folder.rglob("*.py")))

    assert list(found) == []


def test_a_service_that_neither_ends_nor_shows_anything_is_reported():
    service = services.find_service("sqs")

    assert "does not end it" in next(_problems(service, "threading.Thread(target=run)"))
    assert "does not show" in next(_problems(service, "Child(); cloud.on_stop(end)"))


def _imported_services(source: str) -> set[str]:
    """The services whose modules some source imports."""
    found = [
        name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [each.name for each in node.names]
            if isinstance(node, ast.Import)
            else [f"{node.module}.{each.name}" for each in node.names]
        )
    ]
    return {name.split(".")[2] for name in found if name.startswith("localcloud.services.")}


def test_nothing_before_the_services_imports_one():
    root = Path(packages.__file__).parents[1]
    rooms = {path.relative_to(root): path.read_text() for path in root.rglob("*.py")}
    found = {path: _imported_services(text) for path, text in rooms.items()}

    users = {path.parts[0] for path, names in found.items() if names}
    assert users == {"services", "testing"}
    assert _imported_services("def f():\n    from localcloud.services import sqs") == {"sqs"}
    assert _imported_services("import localcloud.services.sqs.queues as q") == {"sqs"}
