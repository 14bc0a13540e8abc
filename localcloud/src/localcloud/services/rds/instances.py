"""The operations on instances."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import replace
from typing import Any

from moto.ec2.models import ec2_backends
from moto.rds.models import DBInstance

from localcloud.cloud import Cloud
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.errors import MissingToolError
from localcloud.services.rds.lifecycle import (
    Database,
    Databases,
    create_database,
    delete_database,
    find_instance,
    reboot,
    reload,
    work,
)
from localcloud.services.rds.programs import find_programs

_OK = 200
_AVAILABLE = b"<DBInstanceStatus>available<"  # moto's state at once
_MIN_PASSWORD = 8
_RESERVED_USERS = frozenset({"admin", "rdsadmin", "rdsrepladmin", "rdstopmgr", "rds_superuser"})
_BAD_PASSWORD = re.compile(r"[/@\" ]|[^ -~]")


@operation("rds", "CreateDBInstance")
def create_db_instance(call: Call) -> HttpAnswer:
    """Let moto keep the instance, and start its PostgreSQL."""
    _check_request(call.params)
    answer = call.forward()
    instance = find_instance(call)
    if answer.status == _OK and instance is not None:
        _choose_minor_version(instance)
        password = _manage_password(instance) or call.params["MasterUserPassword"]
        create_database(call.cloud, instance, password)
        body = answer.body.replace(_AVAILABLE, _AVAILABLE.replace(b"available", b"creating"))
        return replace(answer, body=body)
    return answer


@operation("rds", "ModifyDBInstance")
def modify_db_instance(call: Call) -> HttpAnswer:
    """Let moto keep the changes, and apply them; localcloud has no maintenance window."""
    _check_password(call.params.get("MasterUserPassword"))
    if "EngineVersion" in call.params:
        _check_version(call.params["EngineVersion"])
    database = _find_available(call)
    if "MasterUserPassword" not in call.params and call.params.get("ManageMasterUserPassword"):
        raise _not_implemented("ManageMasterUserPassword of an existing instance")
    answer = call.forward()
    if answer.status == _OK:
        _choose_minor_version(database.instance)
        work(database, "modifying", lambda: _apply(database, call.params))
    return answer


@operation("rds", "RebootDBInstance")
def reboot_db_instance(call: Call) -> HttpAnswer:
    """Restart PostgreSQL: static parameters take effect."""
    database = _find_available(call)
    work(database, "rebooting", lambda: reboot(database))
    return call.forward()


@operation("rds", "DeleteDBInstance")
def delete_db_instance(call: Call) -> HttpAnswer:
    """Let moto delete the instance, and end its PostgreSQL."""
    database = _databases(call.cloud, call).get(call.params["DBInstanceIdentifier"].lower())
    answer = call.forward()
    if answer.status == _OK and database is not None:
        delete_database(call.cloud, database)
    return answer


def _check_request(params: dict[str, Any]) -> None:
    if params["Engine"] != "postgres" or "DBClusterIdentifier" in params:
        raise _not_implemented(
            f"instances of {params['Engine']}, only of postgres outside clusters"
        )
    user = params.get("MasterUsername", "")
    if user in _RESERVED_USERS:
        said = f"MasterUsername {user} cannot be used as it is a reserved word used by the engine"
        raise _invalid(said)
    managed = params.get("ManageMasterUserPassword")
    if not managed and "MasterUserPassword" not in params:
        raise _invalid("The parameter MasterUserPassword must be provided and must not be blank.")
    _check_password(params.get("MasterUserPassword"))
    _check_version(params.get("EngineVersion"))


def _check_password(password: str | None) -> None:
    if password is None:
        return
    if len(password) < _MIN_PASSWORD:
        raise _invalid(
            "The parameter MasterUserPassword is not a valid password because it is shorter than "
            f"{_MIN_PASSWORD} characters."
        )
    if _BAD_PASSWORD.search(password):
        raise _invalid(
            "The parameter MasterUserPassword is not a valid password. Only printable ASCII "
            "characters besides '/', '@', '\"', ' ' may be used."
        )


def _check_version(version: str | None) -> None:
    """Refuse another major version than the one that is installed here."""
    try:
        found = find_programs().version
    except MissingToolError as error:
        raise _not_implemented(f"RDS without PostgreSQL: {error}") from error
    major = found.partition(".")[0]
    if version is None or version.partition(".")[0] != major:
        raise _not_implemented(
            f"PostgreSQL {version or 'of no EngineVersion'}: this machine has {found}; set "
            f"EngineVersion to {major}"
        )


def _choose_minor_version(instance: DBInstance) -> None:
    """Do as RDS, where the version that was asked for is a major one."""
    if "." not in instance.engine_version:
        instance.engine_version = find_programs().version


def _manage_password(instance: DBInstance) -> str | None:
    """Make the password of a secret that RDS manages; return None without one."""
    if not instance.manage_master_user_password:
        return None
    password = secrets.token_urlsafe(20)
    text = json.dumps({"username": instance.master_username, "password": password})
    secret = instance.master_user_secret.secret
    secret.secret_string = text
    for version in secret.versions.values():
        version["secret_string"] = text
    return password


def _apply(database: Database, params: dict[str, Any]) -> None:
    if (password := params.get("MasterUserPassword")) is not None:
        database.server.set_password(str(database.instance.master_username), password)
    if groups := params.get("VpcSecurityGroupIds"):
        instance = database.instance
        ec2 = ec2_backends[instance.account_id][instance.region]
        ec2.modify_network_interface_attribute(database.interface_id, groups)
    reload(database)


def _find_available(call: Call) -> Database:
    database = _find(call)
    if database.instance.status != "available":
        said = f"Database instance is not in available state: it is {database.instance.status}."
        raise AwsError("InvalidDBInstanceState", said)
    return database


def _find(call: Call) -> Database:
    name = call.params["DBInstanceIdentifier"].lower()
    database = _databases(call.cloud, call).get(name)
    if database is None:
        raise AwsError("DBInstanceNotFound", f"DBInstance {name} not found.")
    return database


def _databases(cloud: Cloud, call: Call) -> Databases:
    return cloud.state(Databases, call.account, call.region)


def _invalid(message: str) -> AwsError:
    return AwsError("InvalidParameterValue", message)


def _not_implemented(what: str) -> AwsError:
    return AwsError("NotImplemented", f"localcloud does not have {what}", status=501)
