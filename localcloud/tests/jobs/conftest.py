"""What all tests of job runs share."""

from __future__ import annotations

import pytest

from tests.fixtures.jobs import make_jobs


@pytest.fixture(scope="session")
def jobs(client):
    """An application, a bucket, and a role for jobs."""
    return make_jobs(client, "111111111111")
