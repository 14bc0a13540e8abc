"""Configurations of asynchronous invocation: one for each version, checked as AWS checks them."""

from __future__ import annotations

import secrets

import pytest

from localcloud.testing import allow, deploy, make_queue, make_role
from tests.refusals import refusal

_REGION = "arn:aws:{}:eu-central-1:111111111111:"
_INVALID = "InvalidParameterValueException"


@pytest.fixture
def lambda_(client):
    return client("lambda")


@pytest.fixture
def function(client):
    return deploy(client)


@pytest.fixture
def role(client):
    """The role of `reporting`, without rights to a destination."""
    return make_role(client)


@pytest.fixture
def reporting(client, role):
    """A function whose role gets rights in the test."""
    return deploy(client, Role=role)


def _shown(answer):
    return {name: answer[name] for name in answer if name.startswith(("Max", "Dest"))}


def _qualifier(answer):
    return answer["FunctionArn"].partition(":function:")[2].partition(":")[2]


def _none(name, qualifier):
    """The refusal of what has no configuration."""
    arn = f"{_REGION.format('lambda')}function:{name}:{qualifier}"
    return "ResourceNotFoundException", f"The function {arn} doesn't have an EventInvokeConfig"


_NO_DESTINATION = {"DestinationConfig": {"OnFailure": {}, "OnSuccess": {}}}


def test_a_second_put_replaces_the_first_and_an_update_keeps_the_rest(lambda_, function):
    put = lambda_.put_function_event_invoke_config
    update = lambda_.update_function_event_invoke_config
    named = {"FunctionName": function}

    put(**named, MaximumRetryAttempts=0)
    answer = put(**named, MaximumEventAgeInSeconds=60)
    assert _shown(answer) == {**_NO_DESTINATION, "MaximumEventAgeInSeconds": 60}
    update(**named, MaximumRetryAttempts=1)

    for found in (
        lambda_.get_function_event_invoke_config(**named),
        lambda_.get_function_event_invoke_config(**named, Qualifier="$LATEST"),
        *lambda_.list_function_event_invoke_configs(**named)["FunctionEventInvokeConfigs"],
    ):
        assert _qualifier(found) == "$LATEST"
        assert _shown(found) == {
            **_NO_DESTINATION,
            "MaximumEventAgeInSeconds": 60,
            "MaximumRetryAttempts": 1,
        }


def test_each_version_and_alias_has_a_configuration_of_its_own(lambda_, function):
    named = {"FunctionName": function}
    lambda_.put_function_event_invoke_config(**named, MaximumRetryAttempts=0)
    version = lambda_.publish_version(**named)["Version"]
    lambda_.create_alias(**named, Name="live", FunctionVersion=version)
    get = lambda_.get_function_event_invoke_config

    assert refusal(get, **named, Qualifier=version) == _none(function, version)
    lambda_.put_function_event_invoke_config(**named, Qualifier="live", MaximumRetryAttempts=1)
    assert refusal(get, **named, Qualifier=version) == _none(function, version)
    assert get(FunctionName=f"{function}:live")["MaximumRetryAttempts"] == 1
    listed = lambda_.list_function_event_invoke_configs(**named)["FunctionEventInvokeConfigs"]
    assert sorted(map(_qualifier, listed)) == ["$LATEST", "live"]

    lambda_.delete_function_event_invoke_config(**named)
    assert refusal(get, **named) == _none(function, "$LATEST")
    assert refusal(lambda_.delete_function_event_invoke_config, FunctionName=function) == _none(
        function, "$LATEST"
    )
    assert get(**named, Qualifier="live")["MaximumRetryAttempts"] == 1


def test_a_function_takes_its_configurations_along(client, lambda_, function):
    lambda_.put_function_event_invoke_config(FunctionName=function, MaximumRetryAttempts=0)
    lambda_.delete_function(FunctionName=function)
    deploy(client, FunctionName=function)

    get = lambda_.get_function_event_invoke_config
    assert refusal(get, FunctionName=function) == _none(function, "$LATEST")


def test_an_alias_that_is_made_again_has_the_defaults(lambda_, function):
    named = {"FunctionName": function, "Name": "live"}
    place = {"FunctionName": function, "Qualifier": "live"}
    version = lambda_.publish_version(FunctionName=function)["Version"]
    lambda_.create_alias(**named, FunctionVersion=version)
    lambda_.put_function_event_invoke_config(**place, MaximumRetryAttempts=1)

    lambda_.delete_alias(**named)
    lambda_.create_alias(**named, FunctionVersion=version)

    get = lambda_.get_function_event_invoke_config
    assert refusal(get, **place) == _none(function, "live")


def test_what_does_not_exist_has_no_configuration(lambda_, function):
    put = lambda_.put_function_event_invoke_config
    update = lambda_.update_function_event_invoke_config
    get = lambda_.get_function_event_invoke_config
    list_ = lambda_.list_function_event_invoke_configs
    missing = ("ResourceNotFoundException", "The function doesn't exist.")

    assert refusal(put, FunctionName="nobody", MaximumRetryAttempts=1) == missing
    assert refusal(put, FunctionName=function, Qualifier="no", MaximumRetryAttempts=1) == missing
    assert refusal(update, FunctionName="nobody", MaximumRetryAttempts=1) == missing
    assert refusal(list_, FunctionName="nobody") == missing
    assert refusal(get, FunctionName="nobody") == _none("nobody", "$LATEST")
    assert refusal(update, FunctionName=function, MaximumRetryAttempts=1) == _none(
        function, "$LATEST"
    )


def test_settings_out_of_range_or_missing_are_refused(lambda_, function):
    put = lambda_.put_function_event_invoke_config
    code, said = refusal(put, FunctionName=function, MaximumRetryAttempts=3)
    assert code == "ValidationException"
    assert said.endswith("Member must have value less than or equal to 2")
    assert refusal(put, FunctionName="nobody") == (
        _INVALID,
        "You must specify at least one of error handling or destination setting.",
    )


def test_destinations_that_no_record_could_go_to_are_refused(lambda_, function):
    put = lambda_.put_function_event_invoke_config

    def refused(destination, on="OnFailure"):
        config = {on: {"Destination": destination}}
        return refusal(put, FunctionName=function, DestinationConfig=config)

    for missing in (
        _REGION.format("sqs") + "none",
        _REGION.format("sns") + "none",
        _REGION.format("lambda") + "function:none",
        "arn:aws:sqs:eu-nowhere-1:111111111111:none",
        "arn:aws:s3:::none",
    ):
        assert refused(missing) == (_INVALID, f"The destination ARN {missing} is invalid.")
    assert refused(_REGION.format("lambda") + f"function:{function}") == (
        _INVALID,
        "You can't specify the function as a destination for itself.",
    )
    wrong = _REGION.format("iam") + "q"
    assert refused(wrong, on="OnSuccess") == (
        _INVALID,
        "The provided destination config DestinationConfig(onSuccess=OnSuccess("
        f"destination={wrong}), onFailure=null) is invalid.",
    )
    assert refused("arn:aws:s3:::bucket", on="OnSuccess")[0] == _INVALID
    assert "localcloud" in refused(_REGION.format("events") + "event-bus/default")[1]


def _make_targets(client):
    """Make a destination of each kind; by ARN, the actions that each needs."""
    bucket, topic = (f"{kind}-{secrets.token_hex(4)}" for kind in "bt")
    client("s3").create_bucket(
        Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    function = deploy(client)
    return {
        make_queue(client)[0]: ["sqs:SendMessage"],
        client("sns").create_topic(Name=topic)["TopicArn"]: ["sns:Publish"],
        _REGION.format("lambda") + f"function:{function}": ["lambda:InvokeFunction"],
        f"arn:aws:s3:::{bucket}": ["s3:PutObject", "s3:ListBucket"],
    }


def test_the_role_must_be_allowed_to_write_to_a_destination(client, lambda_, role, reporting):
    for target, actions in _make_targets(client).items():
        call = {
            "FunctionName": reporting,
            "DestinationConfig": {"OnFailure": {"Destination": target}},
        }
        for action in actions:
            assert refusal(lambda_.put_function_event_invoke_config, **call) == (
                _INVALID,
                "The function's execution role does not have permissions to call "
                f"{action.partition(':')[2]} on {target}",
            )
            objects = f"{target}/aws/lambda/async/{reporting}/*"
            allow(client, role, action, objects if action == "s3:PutObject" else target)

        answer = lambda_.put_function_event_invoke_config(**call)
        assert answer["DestinationConfig"]["OnFailure"] == {"Destination": target}

    update = lambda_.update_function_event_invoke_config
    queue, _ = make_queue(client)
    config = {"OnSuccess": {"Destination": queue}}
    assert refusal(update, FunctionName=reporting, DestinationConfig=config)[0] == _INVALID
