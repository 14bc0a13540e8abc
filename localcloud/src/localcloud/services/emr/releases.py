"""The requirements of EMR for a private network, by release.

EMR Management Guide, "Amazon VPC options when you launch a cluster" and "Working with Amazon
EMR-managed security groups"; infra/modules/releases.json has the same for the labels in use.
"""

from __future__ import annotations

import re

# Spark 8.0.0 and later: EMR reaches a cluster through an endpoint of its VPC, not through ports.
_ENDPOINT = re.compile(r"emr-(spark-)?([89]|[1-9][0-9])\.")


def network_rules(label: str) -> str:
    """Return `endpoint` or `ports`, by which EMR and a cluster in a private subnet meet."""
    return "endpoint" if _ENDPOINT.match(label) else "ports"
