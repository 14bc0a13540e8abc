"""The services, found by their folders: each folder of `localcloud/services` has its `SERVICE`.

Nothing lists them: a service is added or removed with its folder.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil

from moto.core.request import Request

from localcloud.door.service import Service
from localcloud.identity.access import by_action

_PACKAGE = "localcloud.services"


@functools.cache
def list_services() -> dict[str, tuple[Service, str]]:
    """Return each service with its package, by the service's name."""
    folders = pkgutil.iter_modules(importlib.import_module(_PACKAGE).__path__, f"{_PACKAGE}.")
    found: dict[str, tuple[Service, str]] = {}
    for folder in folders:
        service: Service = importlib.import_module(folder.name).SERVICE
        if service.name in found:
            raise ValueError(f"{folder.name} and {found[service.name][1]} are both {service.name}")
        found[service.name] = (service, folder.name)
    return found


def find_service(name: str) -> Service:
    """Return a service by its name in boto3; of one without a folder nothing is answered."""
    if known := list_services().get(name):
        return known[0]
    return Service(name, endpoint=name, throttle=None, resources=by_action, moto=None)


def find_signed(signing_name: str, request: Request | None = None) -> Service:
    """Return the service of a signing name, or of a request that is signed for it."""
    services = _by_signing_name().get(signing_name, [])
    claiming = [each for each in services if each.claims and request and each.claims(request)]
    plain = [each for each in services if each.claims is None]
    return next(iter(claiming + plain), None) or find_service(signing_name)


@functools.cache
def load_operations(name: str) -> None:
    """Import the operations of a service."""
    if known := list_services().get(name):
        service, package = known
        for module in service.operations:
            importlib.import_module(f"{package}.{module}")


def load_all() -> None:
    """Import the operations of every service."""
    for name in list_services():
        load_operations(name)


@functools.cache
def _by_signing_name() -> dict[str, list[Service]]:
    found: dict[str, list[Service]] = {}
    for service, _ in list_services().values():
        for name in service.signing_names or (service.name,):
            found.setdefault(name, []).append(service)
    return found
