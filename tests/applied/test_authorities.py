"""The private CAs of a cluster: the last one goes only in a way that MSK follows.

The provider says nothing to MSK of a block that was removed, so that the login would stay open.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from localcloud.testing.certificates import PrivateAuthority
from localcloud.testing.pretending import pretend_brokers
from tests.fixtures.terraform import Terraform
from tools.local_root import allow_destroy, copy_infra

pytestmark = [pytest.mark.terraform, pytest.mark.timeout(600)]

_ACCOUNT = "930000000013"
_HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def brokers(cloud):
    """What the clusters' brokers are told, by the clusters' names."""
    with pretend_brokers(cloud) as known:
        yield known


@pytest.fixture(scope="module")
def made(cloud, client, brokers, tmp_path_factory):
    """The cluster with one private CA."""
    folder = tmp_path_factory.mktemp("authorities")
    copy_infra(_HERE.parents[1] / "infra" / "modules", folder / _HERE.name / "modules")
    allow_destroy(folder / _HERE.name / "modules")
    terraform = Terraform(_HERE / "authorities", folder, cloud.endpoint, _ACCOUNT)
    authority = PrivateAuthority.make(client("acm-pca", account=_ACCOUNT))
    terraform.apply(certificate_authorities=[authority.arn])
    return terraform


def test_a_plan_refuses_what_would_leave_the_login_open(made):
    with pytest.raises(pytest.fail.Exception, match=r"set it to \[\]"):
        made.plan()


def test_an_empty_list_closes_it(made, brokers):
    made.apply(certificate_authorities=[])
    assert brokers["authorities-cluster"].listeners == {"IAM", "SCRAM"}
    assert not made.has_changes(certificate_authorities=[])
    made.destroy(certificate_authorities=[])
    assert brokers["authorities-cluster"].done[-1] == "stop"
