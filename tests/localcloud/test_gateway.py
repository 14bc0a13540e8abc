"""The one door, seen from outside: accounts apart, every call named."""

from __future__ import annotations


def test_a_key_of_12_digits_is_that_account(client):
    client("dynamodb").create_table(
        TableName="mine",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    assert client("dynamodb").list_tables()["TableNames"] == ["mine"]
    assert client("dynamodb", account="222222222222").list_tables()["TableNames"] == []
