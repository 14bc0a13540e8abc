"""DynamoDB refuses attributes without a name, in each operation that writes items."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError


@pytest.fixture
def table(client):
    dynamodb = client("dynamodb")
    dynamodb.create_table(
        TableName="rows",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    yield dynamodb
    dynamodb.delete_table(TableName="rows")


@pytest.mark.parametrize("item", [{"": {"S": "x"}}, {"m": {"M": {"": {"N": "1"}}}}], ids=str)
def test_an_item_with_an_empty_name_is_refused_and_not_stored(table, item) -> None:
    item = {"id": {"S": "1"}, **item}
    put = {"PutRequest": {"Item": item}}
    calls = [
        lambda: table.put_item(TableName="rows", Item=item),
        lambda: table.batch_write_item(RequestItems={"rows": [put]}),
        lambda: table.transact_write_items(
            TransactItems=[{"Put": {"TableName": "rows", "Item": item}}]
        ),
    ]

    for call in calls:
        with pytest.raises(ClientError, match=r"\(ValidationException\).*Empty attribute name$"):
            call()

    assert table.scan(TableName="rows")["Items"] == []


def test_a_name_that_ends_in_a_quotation_mark_is_stored(table) -> None:
    item = {"id": {"S": '""'}, 'a"': {"S": '"": '}}

    table.put_item(TableName="rows", Item=item)

    assert table.scan(TableName="rows")["Items"] == [item]


def test_a_refused_put_returns_the_item_that_is_there_only_on_request(table) -> None:
    item = {"id": {"S": "1"}, "m": {"M": {"a": {"N": "1"}}}}
    table.put_item(TableName="rows", Item=item)

    def put(condition, asked, key="1", **values):
        with pytest.raises(ClientError, match="ConditionalCheckFailedException") as refused:
            table.put_item(
                TableName="rows",
                Item={"id": {"S": key}},
                ConditionExpression=condition,
                ReturnValuesOnConditionCheckFailure=asked,
                **values,
            )
        return refused.value.response

    assert put("attribute_not_exists(id)", "ALL_OLD")["Item"] == item
    assert "Item" not in put("attribute_not_exists(id)", "NONE")
    assert "Item" not in put("attribute_exists(id)", "ALL_OLD", key="2")
    other = {":m": {"M": {"a": {"N": "2"}}}}
    assert put("m = :m", "ALL_OLD", ExpressionAttributeValues=other)["Item"] == item
    same = {":m": {"M": {"a": {"N": "1.0"}}}}
    table.put_item(
        TableName="rows",
        Item={"id": {"S": "1"}},
        ConditionExpression="m = :m",
        ExpressionAttributeValues=same,
    )
    assert table.scan(TableName="rows")["Items"] == [{"id": {"S": "1"}}]
