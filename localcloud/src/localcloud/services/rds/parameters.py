"""Parameter groups: which parameters there are, and PostgreSQL's settings that follow from them."""

from __future__ import annotations

import subprocess
from functools import cache
from typing import Any

from moto.rds.models import DBParameterGroup, rds_backends

from localcloud.door.errors import AwsError
from localcloud.services.rds.programs import find_programs

_REPLICATION = "rds.logical_replication"
_FORCE_TLS = "rds.force_ssl"
_REBOOT = "pending-reboot"
# Parameters of RDS beside PostgreSQL's own, and whether they need a reboot.
_OF_RDS = {_REPLICATION: True, _FORCE_TLS: False}
# RDS User Guide, "Working with parameters on your RDS for PostgreSQL DB instance": RDS sets these.
_NOT_MODIFIABLE = frozenset(
    {
        *("wal_level", "fsync", "full_page_writes", "listen_addresses", "port", "data_directory"),
        *("hba_file", "ident_file", "config_file", "unix_socket_directories", "archive_command"),
        *("ssl", "ssl_cert_file", "ssl_key_file", "ssl_ca_file", "logging_collector"),
    }
)
# RDS's defaults that differ from PostgreSQL's.
_DEFAULTS = {"max_replication_slots": "20", "max_wal_senders": "20"}


def read_values(group: DBParameterGroup | None) -> dict[str, str]:
    """Return the values that a parameter group gives, by the names of parameters."""
    parameters = {} if group is None else group.parameters
    return {
        name: str(given["ParameterValue"])
        for name, given in parameters.items()
        if "ParameterValue" in given
    }


def reload_values(group: DBParameterGroup | None, before: dict[str, str]) -> dict[str, str]:
    """Return the values of a group without a reboot; what waits for one is as before."""
    parameters = {} if group is None else group.parameters
    waiting = {name for name, given in parameters.items() if given.get("ApplyMethod") == _REBOOT}
    waiting |= {name for name in (*parameters, *before) if _is_static(name)}
    kept = {name: value for name, value in before.items() if name in waiting}
    return kept | {k: value for k, value in read_values(group).items() if k not in waiting}


def find_settings(values: dict[str, str]) -> dict[str, str]:
    """Return PostgreSQL's settings for the values of parameters."""
    settings = {name: value for name, value in values.items() if name not in _OF_RDS}
    level = "logical" if values.get(_REPLICATION) == "1" else "replica"
    return {**_DEFAULTS, **settings, "wal_level": level}


def forces_tls(values: dict[str, str]) -> bool:
    """Return whether connections must be encrypted: RDS's default from PostgreSQL 15 on."""
    return values.get(_FORCE_TLS, "1") == "1"


def describe_parameters(group: DBParameterGroup) -> list[dict[str, Any]]:
    """List the parameters of a group, those that somebody set as `user`."""
    given = {name: dict(one) for name, one in group.parameters.items()}
    names = sorted({*given, *_OF_RDS, *_contexts()} - _NOT_MODIFIABLE)
    return [
        {
            "ParameterName": name,
            "ApplyMethod": _REBOOT,
            "ApplyType": "static" if _is_static(name) else "dynamic",
            "IsModifiable": True,
            **given.get(name, {}),
            "Source": "user" if name in given else "engine-default",
        }
        for name in names
    ]


def find_group(account: str, region: str, name: str | None) -> DBParameterGroup | None:
    """Return a parameter group, None for a default one."""
    found: DBParameterGroup | None = rds_backends[account][region].db_parameter_groups.get(
        name or ""
    )
    return found


def check_parameter(name: str, method: str) -> None:
    """Raise AwsError for a parameter that RDS does not have, or cannot set so."""
    if name in _NOT_MODIFIABLE:
        raise AwsError("InvalidParameterValue", f"The parameter {name} cannot be modified.")
    if name not in _OF_RDS and name not in _contexts():
        raise AwsError("InvalidParameterValue", f"Could not find parameter with name: {name}")
    if method == "immediate" and _is_static(name):
        said = "cannot use immediate apply method for static parameter"
        raise AwsError("InvalidParameterCombination", said)


def _is_static(name: str) -> bool:
    return _OF_RDS[name] if name in _OF_RDS else _contexts().get(name) == "postmaster"


@cache
def _contexts() -> dict[str, str]:
    """Return when a setting of PostgreSQL may change, by its name, as PostgreSQL says."""
    command = find_programs().command("postgres", "--describe-config")
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return dict(line.split("\t")[:2] for line in said.splitlines())
