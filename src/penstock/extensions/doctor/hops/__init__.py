"""The hops, in the order of the path from the brokers to the tables.

A symptom in a hop follows from a break in the hops that it comes `after`.
"""

from __future__ import annotations

from typing import Final

from penstock.extensions.doctor.findings import Hop, Side
from penstock.extensions.doctor.hops import (
    balancers,
    cluster,
    connection,
    endpoints,
    firewall,
    functions,
    names,
    peering,
    schemas,
    secrets,
    stores,
    surroundings,
    vpc_connections,
)

_P, _C = Side.PRODUCER, Side.CONSUMER
_LINK, _PEER, _MULTI = "privatelink", "peering", "multi_vpc"
_NETWORK = (
    *("targets", "logins", "records", "name resolution", "egress of programs"),
    *("ingress of endpoints", "endpoints of AWS services", "routes", "subnets"),
    *("keys of passwords", "passwords", "secret keys of the cluster"),
    *("peering connection", "routes to the brokers", "routes to the consumer"),
    *("rules of the brokers' VPC", "rules of the consumer's VPC"),
    *("multi-VPC connectivity", "VPC connection", "rules of the VPC connection"),
)
_PEERING, _CONNECTIVITY = ("peering connection",), ("multi-VPC connectivity", "cluster")

HOPS: Final = (
    Hop("cluster", _P, cluster.look_at_cluster),
    Hop("secret keys of the cluster", _P, secrets.look_at_producers_keys),
    Hop("secrets of the cluster", _P, secrets.look_at_producers_secrets),
    Hop("logins", _P, cluster.look_at_logins, ("cluster", "secrets of the cluster")),
    Hop("endpoint services", _P, balancers.look_at_services, (), _LINK),
    Hop("load balancers", _P, balancers.look_at_load_balancers, ("endpoint services",), _LINK),
    Hop("listeners", _P, balancers.look_at_listeners, ("load balancers",), _LINK),
    Hop("brokers' security group", _P, firewall.look_at_brokers_rules, (), _LINK),
    Hop(
        "targets",
        _P,
        balancers.look_at_targets,
        ("cluster", "listeners", "brokers' security group"),
        _LINK,
    ),
    Hop("acceptance", _P, endpoints.look_at_acceptance, (), _LINK),
    Hop("endpoints", _C, endpoints.look_at_endpoints, ("acceptance", "endpoint services"), _LINK),
    Hop("peering connection", _C, peering.look_at_peering, (), _PEER),
    Hop("routes to the brokers", _C, peering.look_at_routes_to_brokers, _PEERING, _PEER),
    Hop("routes to the consumer", _P, peering.look_at_routes_to_consumer, _PEERING, _PEER),
    Hop("rules of the consumer's VPC", _C, peering.look_at_clients_rules, (), _PEER),
    Hop("rules of the brokers' VPC", _P, peering.look_at_brokers_rules, (), _PEER),
    Hop("multi-VPC connectivity", _P, vpc_connections.look_at_connectivity, (), _MULTI),
    Hop("VPC connection", _C, vpc_connections.look_at_connection, _CONNECTIVITY, _MULTI),
    Hop("rules of the VPC connection", _C, vpc_connections.look_at_rules, (), _MULTI),
    Hop("name resolution", _C, names.look_at_resolution),
    Hop("zone", _C, names.look_at_zone, (), _LINK),
    Hop("records", _C, names.look_at_records, ("endpoints", "zone"), _LINK),
    Hop("egress of programs", _C, firewall.look_at_clients_rules, (), _LINK),
    Hop("ingress of endpoints", _C, firewall.look_at_endpoints_rules, (), _LINK),
    Hop("subnets", _C, surroundings.look_at_subnets),
    Hop("routes", _C, surroundings.look_at_routes),
    Hop("endpoints of AWS services", _C, surroundings.look_at_service_endpoints),
    Hop("keys of passwords", _C, secrets.look_at_keys),
    Hop("passwords", _C, secrets.look_at_secrets),
    Hop("connection", _C, connection.look_at_connections, _NETWORK),
    Hop("access lists", _P, connection.look_at_access, ("connection", *_NETWORK)),
    Hop("registry", _P, schemas.look_at_registry),
    Hop("reader role", _P, schemas.look_at_reader_role),
    Hop(
        "schemas",
        _C,
        connection.look_at_schemas,
        ("registry", "reader role", "endpoints of AWS services", "egress of programs"),
    ),
    Hop("producer functions", _P, functions.look_at_producers_functions),
    Hop("tables", _C, stores.look_at_tables),
    Hop("lake", _C, stores.look_at_lake),
    Hop("permissions on the lake", _C, stores.look_at_grants),
    Hop("Spark application", _C, stores.look_at_application),
    Hop("schedules", _C, stores.look_at_schedules),
    Hop("leases", _C, stores.look_at_leases),
    Hop("concurrency", _C, functions.look_at_concurrency),
    Hop("interfaces of functions", _C, functions.look_at_interfaces),
    Hop("consumer functions", _C, functions.look_at_functions),
    Hop(
        "mappings",
        _C,
        functions.look_at_mappings,
        (
            *_NETWORK,
            *("connection", "access lists", "schemas", "registry", "reader role", "tables", "lake"),
            *("concurrency", "interfaces of functions", "consumer functions"),
        ),
    ),
)
