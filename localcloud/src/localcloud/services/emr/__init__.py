"""EMR on EC2: clusters whose steps are spark-submits on this machine."""

from __future__ import annotations

from localcloud.services.emr import clusters, policies, steps

__all__ = ["clusters", "policies", "steps"]
