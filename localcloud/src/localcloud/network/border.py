"""The AWS services that a VPC reaches: those with an endpoint, as in a VPC without internet."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from ipaddress import IPv4Network
from typing import Any, TypeAlias

from moto.core.request import Request

from localcloud.cloud import Cloud
from localcloud.door import wire
from localcloud.door.errors import AwsError
from localcloud.door.operations import EndpointUse
from localcloud.door.services import find_signed
from localcloud.errors import MissingHopError
from localcloud.identity.callers import read_scope
from localcloud.network import inventory
from localcloud.network._firewall import Party
from localcloud.network._routes import route_tables
from localcloud.network._walk import Walk
from localcloud.network.nodes import Nodes, Source
from localcloud.network.views import load_network

_Wsgi: TypeAlias = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

_HTTPS = 443
_ANYWHERE = IPv4Network("0.0.0.0/0")
# The key of the endpoint in a WSGI environment.
ENDPOINT = "localcloud.endpoint"


def require_service(source: Source, service: str, region: str) -> EndpointUse:
    """Return the endpoint by which a source reaches an AWS service, given by its signing name.

    Raises:
        MissingHopError: no endpoint lets it through; the message names the remedy.
    """
    end = find_signed(service).endpoint
    if end is None:
        raise MissingHopError(
            f"no endpoint leads to {service}, so it cannot be reached from {source.vpc_id}"
        )
    name = f"com.amazonaws.{region}.{end}"
    use = use_endpoint(source, name)
    if use is None:
        raise MissingHopError(
            f"{source.vpc_id} has no endpoint for {name}, so {service} cannot be reached from it; "
            f"create one ({'gateway' if service in {'s3', 'dynamodb'} else 'interface'})"
        )
    return use


def use_endpoint(source: Source, service_name: str) -> EndpointUse | None:
    """Return the endpoint of a service of PrivateLink, None if the source's VPC has none.

    Raises:
        MissingHopError: the endpoint does not let the source through.
    """
    walk = Walk(Nodes(), source)
    for endpoint in inventory.endpoints(walk.ec2, source.vpc_id):
        if endpoint.service_name == service_name:
            enter = _enter_interface if inventory.is_interface(endpoint) else _enter_gateway
            enter(walk, source, endpoint)
            return EndpointUse(endpoint.id, source.vpc_id, endpoint.policy_document)
    return None


def _enter_interface(walk: Walk, source: Source, endpoint: Any) -> None:
    if not endpoint.private_dns_enabled:
        raise MissingHopError(
            f"endpoint {endpoint.id} for {endpoint.service_name} has private DNS off, so the "
            f"service's name does not lead to it in {source.vpc_id}; enable it"
        )
    vpc = inventory.find_vpc(source.vpc_id or "")
    if vpc is not None and not inventory.resolves_private_names(vpc[1]):
        raise MissingHopError(
            f"{source.vpc_id} has DNS hostnames or DNS support off, so the name of "
            f"{endpoint.service_name} does not lead to its endpoint there; turn both on"
        )
    walk.into_endpoint(endpoint, _HTTPS)


def _enter_gateway(walk: Walk, source: Source, endpoint: Any) -> None:
    tables = route_tables(walk.ec2, source.vpc_id, source.subnet_ids or (None,))
    missing = {table.id for table in tables} - set(endpoint.route_table_ids)
    if missing:
        raise MissingHopError(
            f"endpoint {endpoint.id} for {endpoint.service_name} is not in the route table "
            f"{', '.join(sorted(missing))} of {source.vpc_id}; add it there"
        )
    prefixes = (endpoint.destination_prefix_list_id,)
    walk.check_out(Party(f"endpoint {endpoint.id}", prefixes, (_ANYWHERE,)), _HTTPS)


class VpcBorder:
    """The WSGI application before the gateway; it refuses services without an endpoint."""

    def __init__(self, cloud: Cloud, inside: _Wsgi) -> None:
        self._cloud = cloud
        self._inside = inside

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer one HTTP request."""
        request = Request(environ)
        scope = read_scope(request)
        if scope is None:
            return self._inside(environ, start_response)
        _, region, service = scope
        network = load_network(self._cloud)
        source = network.source_at(environ.get("REMOTE_ADDR", ""))
        if source is not None:
            try:
                environ[ENDPOINT] = require_service(source, service, region)
            except MissingHopError as error:
                return _refuse(request, service, str(error), start_response)
        answer = self._inside(environ, start_response)
        if find_signed(service).changes_network:
            network.notice()
        return answer


def _refuse(
    request: Request, signing_name: str, sentence: str, start_response: Callable[..., Any]
) -> Iterable[bytes]:
    """Answer in the service's protocol, so that the caller's SDK shows the message."""
    target = wire.find_target(request, find_signed(signing_name, request).name)
    if target is None:
        start_response("403 Forbidden", [("Content-Type", "text/plain")])
        return [sentence.encode()]
    answer = wire.serialize(target, AwsError("VpcEndpointMissing", sentence, status=403))
    start_response("403 Forbidden", list(answer.headers))
    return [answer.body]
