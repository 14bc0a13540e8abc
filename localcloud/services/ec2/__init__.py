"""EC2's PrivateLink: endpoint services in one account, endpoints for them in others."""

from __future__ import annotations

from localcloud.services.ec2 import endpoint_services, endpoints

__all__ = ["endpoint_services", "endpoints"]
