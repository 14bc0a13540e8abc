"""EMR Serverless: applications and job runs; each run is a spark-submit on this machine."""

from __future__ import annotations

from localcloud.services.emr_serverless import applications, job_runs, tags

__all__ = ["applications", "job_runs", "tags"]
