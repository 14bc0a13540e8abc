"""The life of an instance: its PostgreSQL, its network interface, and its states."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from moto.ec2.models import ec2_backends
from moto.rds.models import DBInstance, rds_backends

from localcloud.authorities import Authorities
from localcloud.children import resident_mb
from localcloud.cloud import Cloud
from localcloud.door.control import action, describe
from localcloud.door.operations import Call
from localcloud.errors import DatabaseStartError, LocalcloudError
from localcloud.metrics import Metric, gauge
from localcloud.network import Node, Nodes, load_network
from localcloud.network.loopback import LoopbackAddresses
from localcloud.services.rds.parameters import (
    find_group,
    find_settings,
    forces_tls,
    read_values,
    reload_values,
)
from localcloud.services.rds.postgres import Master, PostgresServer


class _Addresses(LoopbackAddresses):
    """The addresses of databases on this machine."""


@dataclass(slots=True)
class Database:
    """An instance of moto's, its server, and the values of parameters that this has."""

    instance: DBInstance
    server: PostgresServer
    interface_id: str
    values: dict[str, str] = field(default_factory=dict)
    reason: str = ""
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    @property
    def settings(self) -> dict[str, str]:
        """The settings of its PostgreSQL."""
        return find_settings(self.values)

    @property
    def force_tls(self) -> bool:
        """Whether it wants encrypted connections."""
        return forces_tls(self.values)

    @property
    def pending_reboot(self) -> bool:
        """Whether parameters of its group wait for a reboot."""
        return self.values != read_values(self.group)

    @property
    def group(self) -> Any:
        """Its parameter group, None for a default one."""
        instance = self.instance
        return find_group(instance.account_id, instance.region, instance.db_parameter_group_name)


class Databases(dict[str, Database]):
    """The databases of an account and region by the names of their instances."""


class OwnInstance(DBInstance):
    """An instance of moto's, whose parameter group may wait for a reboot."""

    database: Database

    @property
    def db_parameter_group_status_list(self) -> Any:
        """Its parameter group, with the state that the server is in."""
        groups = super().db_parameter_group_status_list
        for group in groups:
            group.ParameterApplyStatus = (
                "pending-reboot" if self.database.pending_reboot else "in-sync"
            )
        return groups


def create_database(cloud: Cloud, instance: DBInstance, password: str) -> None:
    """Start the server of a new instance in the background: creating, then available."""
    if not cloud.states(_Addresses):
        cloud.on_stop(cloud.state(_Addresses).close)
    name = instance.db_instance_identifier
    home = cloud.folder / "rds" / instance.account_id / instance.region / name
    address = cloud.state(_Addresses).take()
    server = PostgresServer(home, instance.address, address, int(instance.port or 0))
    database = Database(instance, server, _make_interface(instance))
    instance.__class__ = OwnInstance  # type: ignore[type-abstract]
    cast(OwnInstance, instance).database = database
    cloud.state(Databases, instance.account_id, instance.region)[name] = database
    cloud.on_stop(server.kill)
    master = Master(str(instance.master_username), password, instance.db_name or "")

    def create() -> None:
        database.values = read_values(database.group)
        server.create(master, database.settings, force_tls=database.force_tls)
        cloud.state(Authorities).add(instance.arn, server.ca_file)
        ports = frozenset({server.port})
        cloud.state(Nodes).plug(Node(server.name, database.interface_id, address, ports))
        load_network(cloud).refresh()

    work(database, "creating", create)


def work(database: Database, state: str, act: Callable[[], object]) -> None:
    """Do something in the background, in a state that ends as available, or failed."""
    database.instance.status = state

    def run() -> None:
        with database.lock:
            try:
                act()
            except LocalcloudError as error:
                database.reason, database.instance.status = str(error), "failed"
            else:
                database.reason, database.instance.status = "", "available"

    threading.Thread(target=run, name=f"rds {database.server.name}", daemon=True).start()


def reboot(database: Database) -> None:
    """Restart the server with the present parameters."""
    database.server.stop()
    start(database)


def start(database: Database) -> None:
    """Start the server with the present parameters."""
    database.values = read_values(database.group)
    database.server.start(database.settings, force_tls=database.force_tls)


def reload(database: Database) -> None:
    """Apply the parameters that wait for no reboot."""
    if database.server.running:
        database.values = reload_values(database.group, database.values)
        database.server.configure(database.settings, force_tls=database.force_tls)


def delete_database(cloud: Cloud, database: Database) -> None:
    """End the server and release its interface."""
    instance = database.instance
    with database.lock:
        database.server.kill()
    cloud.state(Nodes).unplug(database.interface_id)
    cloud.state(Authorities).remove(instance.arn)
    ec2_backends[instance.account_id][instance.region].enis.pop(database.interface_id, None)
    cloud.state(Databases, instance.account_id, instance.region).pop(
        instance.db_instance_identifier
    )
    cloud.state(_Addresses).give_back(database.server.address)
    load_network(cloud).refresh()


def _make_interface(instance: DBInstance) -> str:
    """Make the interface in the first subnet of the subnet group, else of the default VPC."""
    ec2 = ec2_backends[instance.account_id][instance.region]
    group = getattr(instance, "db_subnet_group", None)
    subnets = [each["SubnetIdentifier"] for each in group.subnets] if group else []
    if not subnets:
        vpc = ec2.default_vpc
        subnets = [each.id for each in ec2.describe_subnets() if each.vpc_id == vpc.id]
    interface = ec2.create_network_interface(
        ec2.get_subnet(subnets[0]),
        [],  # EC2 chooses the address
        group_ids=instance.vpc_security_group_ids,
        description="RDSNetworkInterface",
    )
    return str(interface.id)


@action("kill-database")
def kill_database(cloud: Cloud, *, name: str) -> dict[str, Any]:
    """Kill the PostgreSQL of an instance and start it again; it recovers its data."""
    found = [each for each in _list_all(cloud) if each.instance.db_instance_identifier == name]
    if len(found) != 1:
        raise LookupError(f"{len(found)} databases are named {name!r}")
    with found[0].lock:
        found[0].server.kill()
        start(found[0])
    return {"killed": name}


@describe("databases")
def describe_databases(cloud: Cloud) -> list[dict[str, Any]]:
    """List the databases with their addresses and processes."""
    return [
        {
            "name": each.instance.db_instance_identifier,
            "account": each.instance.account_id,
            "state": each.instance.status,
            **({"reason": each.reason} if each.reason else {}),
            "host": each.server.name,
            "address": f"{each.server.address}:{each.server.port}",
            "ca_file": str(each.server.ca_file),
            "pid": each.server.pid,
            "memory_mb": resident_mb(each.server.pid or 0),
            "log": str(each.server.log),
        }
        for each in _list_all(cloud)
    ]


_RETAINED = """
SELECT coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)), 0),
  (SELECT sum(size) FROM pg_ls_waldir()) FROM pg_replication_slots
"""


@gauge
def measure_databases(cloud: Cloud) -> Iterator[tuple[Metric, float]]:
    """Yield how much log the replication slots retain, as RDS for PostgreSQL reports it."""
    for each in _list_all(cloud):
        if each.instance.status != "available":
            continue
        try:
            lag, disk = each.server.query(_RETAINED).split("|")
        except DatabaseStartError:  # it is down just now, and records nothing
            continue
        names = {"DBInstanceIdentifier": each.instance.db_instance_identifier}
        for metric, value in (
            ("OldestReplicationSlotLag", lag),
            ("TransactionLogsDiskUsage", disk),
        ):
            account, region = each.instance.account_id, each.instance.region
            yield Metric(account, region, "AWS/RDS", metric, names), float(value)


def _list_all(cloud: Cloud) -> list[Database]:
    return [each for _, _, known in cloud.states(Databases) for each in list(known.values())]


def find_instance(call: Call) -> DBInstance | None:
    """Return the instance of a call, None if moto does not know it."""
    name = call.params["DBInstanceIdentifier"].lower()
    found: DBInstance | None = rds_backends[call.account][call.region].databases.get(name)
    return found
