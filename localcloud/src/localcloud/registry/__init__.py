"""Another registry than Glue: Apicurio as a process, behind interfaces of VPCs."""

from __future__ import annotations

from localcloud.registry.apicurio import ApicurioProcess
from localcloud.registry.server import RegistryServer, start_registry

__all__ = ["ApicurioProcess", "RegistryServer", "start_registry"]
