"""Every place that a service of localcloud's own needs: the table of "How to add a service"."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from moto.core.utils import get_service_model

from localcloud import services
from localcloud.door import wire
from localcloud.door.operations import find_operation, own_operations
from localcloud.faults.injection import THROTTLES
from localcloud.identity.resources import BY_ACTION_ALONE, judged_by_resource
from localcloud.network.border import ENDPOINT_NAMES

_SERVICES = sorted({service for service, _ in own_operations()})
# What runs beside the calls: it has to end with localcloud, and `status` has to show it.
_STARTS = re.compile(r"threading\.Thread\(|Child\(|localcloud\.(brokers|functions|jobs) import")


def _source(service):
    """The text of every module that answers operations of a service."""
    modules = {find_operation(*each).__module__ for each in own_operations() if each[0] == service}
    packages = {".".join(name.split(".")[:3]) for name in modules}
    files = [Path(sys.modules[name].__file__) for name in packages]
    parts = [
        part
        for file in files
        for part in (file.parent.rglob("*.py") if file.name == "__init__.py" else [file])
    ]
    return "".join(part.read_text() for part in parts)


def _problems(service):
    signing_name = get_service_model(service).signing_name
    request = SimpleNamespace(path="/", headers={})
    if wire.service_of(signing_name, request) != service:
        yield f"door/wire.py does not lead from signing name {signing_name} to {service}"
    if judged_by_resource(service) == (service in BY_ACTION_ALONE):
        yield f"identity/resources.py has no row for {service}, or one and BY_ACTION_ALONE as well"
    if signing_name not in ENDPOINT_NAMES:
        yield f"network/border.py has no endpoint name for {signing_name}"
    if service not in THROTTLES:
        yield f"faults/injection.py does not say how {service} throttles"
    source = _source(service)
    if _STARTS.search(source) and ".on_stop(" not in source:
        yield f"{service} starts something and does not end it: cloud.on_stop"
    if ".on_stop(" in source and "@describe(" not in source:
        yield f"{service} runs something that status does not show: @describe"


@pytest.mark.parametrize("service", _SERVICES)
def test_a_service_is_known_wherever_it_has_to_be(service):
    assert list(_problems(service)) == []


def test_every_module_of_services_is_imported():
    found = {module.name for module in pkgutil.iter_modules(services.__path__)}

    assert found == set(services.__all__)
    assert all(importlib.import_module(f"localcloud.services.{name}") for name in found)


def test_a_service_without_its_places_is_reported(monkeypatch):
    monkeypatch.delitem(THROTTLES, "kafka")
    monkeypatch.delitem(ENDPOINT_NAMES, "kafka")
    monkeypatch.setattr(f"{__name__}.judged_by_resource", lambda _service: False)
    monkeypatch.setattr(f"{__name__}._source", lambda _service: "threading.Thread(")
    monkeypatch.setattr(wire, "service_of", lambda *_: "other")

    told = list(_problems("kafka"))

    assert [problem.split(" ")[0] for problem in told] == [
        "door/wire.py",
        "identity/resources.py",
        "network/border.py",
        "faults/injection.py",
        "kafka",
    ]


def test_the_document_names_every_place():
    text = (Path(services.__file__).parents[3] / "README.md").read_text()
    places = ["services/__init__.py", "identity/resources.py", "door/wire.py", "network/border.py"]

    for place in [*places, "faults/injection.py", "cloud.on_stop", "@describe"]:
        assert f"`{place}" in text
