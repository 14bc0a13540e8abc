"""Name resolution and reachability: the data plane of PrivateLink.

A service registers its servers in `Nodes`. A service that starts a process in a VPC finds its
`Source` and asks `load_network(cloud)` for the environment. Everything else follows from the
resources that are created through the API.
"""

from __future__ import annotations

from localcloud.network.border import (
    VpcBorder,
    require_service,
    use_endpoint,
)
from localcloud.network.names import resolve_names
from localcloud.network.nodes import Node, Nodes, Source
from localcloud.network.path import Path, Trace, find_path, find_source, trace
from localcloud.network.views import Network, View, load_network

__all__ = [
    "Network",
    "Node",
    "Nodes",
    "Path",
    "Source",
    "Trace",
    "View",
    "VpcBorder",
    "find_path",
    "find_source",
    "load_network",
    "require_service",
    "resolve_names",
    "trace",
    "use_endpoint",
]
