"""The private CAs of a cluster: the last one goes only in a way that MSK follows.

The provider says nothing to MSK of a block that was removed, so that the login would stay open.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from localcloud.testing.certificates import PrivateAuthority
from tests.fixtures.terraform import Terraform
from tools.local_root import allow_destroy, copy_infra

pytestmark = [pytest.mark.terraform, pytest.mark.timeout(600)]

_ACCOUNT = "930000000013"
_HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def made(cloud, client, pretended, tmp_path_factory):
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


def test_an_empty_list_closes_it(made, pretended):
    made.apply(certificate_authorities=[])
    assert pretended["authorities-cluster"].listeners == {"IAM", "SCRAM"}
    assert not made.has_changes(certificate_authorities=[])
    made.destroy(certificate_authorities=[])
    assert pretended["authorities-cluster"].done[-1] == "stop"
