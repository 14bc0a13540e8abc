"""What is to scale keeps its tags."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

CLUSTER = "arn:aws:kafka:eu-central-1:111111111111:cluster/c/11111111-2222-3333-4444-555555555555-1"
TARGET = {
    "ServiceNamespace": "kafka",
    "ResourceId": CLUSTER,
    "ScalableDimension": "kafka:broker-storage:VolumeSize",
}


@pytest.fixture
def scaling(client):
    return client("application-autoscaling")


def tags_of(scaling, arn):
    return scaling.list_tags_for_resource(ResourceARN=arn)["Tags"]


def test_tags_are_kept_and_changed(scaling):
    registered = scaling.register_scalable_target(
        **TARGET, MinCapacity=10, MaxCapacity=20, Tags={"team": "a"}
    )
    arn = registered["ScalableTargetARN"]
    assert tags_of(scaling, arn) == {"team": "a"}

    scaling.tag_resource(ResourceARN=arn, Tags={"cost": "1"})
    scaling.untag_resource(ResourceARN=arn, TagKeys=["team", "absent"])
    scaling.register_scalable_target(**TARGET, MinCapacity=10, MaxCapacity=30)
    assert tags_of(scaling, arn) == {"cost": "1"}

    scaling.deregister_scalable_target(**TARGET)
    with pytest.raises(ClientError, match=f"The resource {arn} is not a scalable target"):
        tags_of(scaling, arn)


def test_a_target_that_is_refused_has_no_tags(scaling):
    with pytest.raises(ClientError, match="ValidationException"):
        scaling.register_scalable_target(**TARGET | {"ServiceNamespace": "none"})
