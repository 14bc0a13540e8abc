"""DynamoDB refuses what it cannot hold, in each operation that writes items, and all of a batch."""

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


def _nest(levels):
    value = {"S": "x"}
    for _ in range(levels):
        value = {"L": [value]}
    return value


@pytest.mark.parametrize(
    ("item", "error"),
    [
        ({"": {"S": "x"}}, "Empty attribute name"),
        ({"m": {"M": {"": {"N": "1"}}}}, "Empty attribute name"),
        ({"n": {"NS": ["1", "1" * 39]}}, "more than 38 significant digits in a Number"),
        ({"n": {"N": "1E126"}}, "Number overflow.*"),
        ({"l": {"L": [{"N": "1E-131"}]}}, "Number underflow.*"),
        ({"s": {"S": "x" * 410_000}}, "exceeded the maximum allowed size"),
        ({"b": {"B": b"x" * 410_000}}, "exceeded the maximum allowed size"),
        ({"s": _nest(32)}, "Nesting Levels have exceeded supported limits"),
        ({"m": {"M": {"s": {"SS": ["a", "b", "a"]}}}}, r"\[a, b, a\] contains duplicates\."),
        ({"n": {"NS": ["1", "1.0"]}}, r"\[1, 1.0\] contains duplicates\."),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_item_that_cannot_be_held_is_refused_and_not_stored(table, item, error) -> None:
    item = {"id": {"S": "1"}, **item}
    puts = [{"PutRequest": {"Item": each}} for each in ({"id": {"S": "2"}}, item)]
    calls = [
        lambda: table.put_item(TableName="rows", Item=item),
        lambda: table.batch_write_item(RequestItems={"rows": puts}),
        lambda: table.transact_write_items(
            TransactItems=[{"Put": {"TableName": "rows", "Item": item}}]
        ),
    ]

    for call in calls:
        with pytest.raises(ClientError, match=rf"\(ValidationException\).*{error}$"):
            call()

    assert table.scan(TableName="rows")["Items"] == []


def test_a_batch_of_26_requests_or_with_an_item_twice_is_refused_and_not_stored(table) -> None:
    put = [{"PutRequest": {"Item": {"id": {"S": str(key)}, "n": {"N": "1"}}}} for key in range(26)]
    twice = {"PutRequest": {"Item": {"id": {"S": "0"}, "n": {"N": "2"}}}}
    gone = {"DeleteRequest": {"Key": {"id": {"S": "0"}}}}

    for requests, error in (
        (put, "Too many items requested for the BatchWriteItem call"),
        ([put[0], twice], "Provided list of item keys contains duplicates"),
        ([put[0], gone], "Provided list of item keys contains duplicates"),
    ):
        with pytest.raises(ClientError, match=rf"\(ValidationException\).*{error}$"):
            table.batch_write_item(RequestItems={"rows": requests})
    assert table.scan(TableName="rows")["Items"] == []

    table.batch_write_item(RequestItems={"rows": put[:25]})
    assert table.scan(TableName="rows", Select="COUNT")["Count"] == 25


def test_numbers_of_38_digits_and_bytes_of_400_kb_are_stored(table) -> None:
    item = {"id": {"S": "1"}, "n": {"N": "9" * 38}, "large": {"N": "1" + "0" * 60}}
    deep = {"b": {"B": b"x" * 390_000}, "deep": _nest(31)}
    table.put_item(TableName="rows", Item=item | deep)

    assert table.scan(TableName="rows")["Items"][0]["n"] == item["n"]


_KEY, _CONDITION = {"id": {"S": "1"}}, "attribute_not_exists(id)"
_PUT = {"TableName": "rows", "Item": _KEY, "ConditionExpression": _CONDITION}
_FIND = {"KeyConditionExpression": "id = :id", "TableName": "rows"}
_UNUSED = {":id": {"S": "1"}, ":other": {"S": "2"}}
_MANY = {f":{number}": {"N": "1"} for number in range(101)}


@pytest.mark.parametrize(
    ("operation", "request_", "error"),
    [
        ("put_item", {**_PUT, "ExpressionAttributeValues": _UNUSED}, "keys: {:id, :other}"),
        ("delete_item", {"TableName": "rows", "Key": _KEY, "ConditionExpression": _CONDITION,
                         "ExpressionAttributeValues": _UNUSED}, "keys: {:id, :other}"),
        ("query", {**_FIND, "ExpressionAttributeValues": _UNUSED}, "keys: {:other}"),
        ("scan", {"TableName": "rows", "FilterExpression": "id = :id",
                  "ExpressionAttributeValues": _UNUSED}, "keys: {:other}"),
        ("scan", {"TableName": "rows", "ExpressionAttributeValues": _UNUSED},
         "can only be specified when using expressions"),
        ("transact_write_items",
         {"TransactItems": [{"Put": {**_PUT, "ExpressionAttributeValues": _UNUSED}}]},
         "keys: {:id, :other}"),
        ("update_item", {"TableName": "rows", "Key": _KEY,
                         "UpdateExpression": "REMOVE " + ", ".join(f"a{n}" for n in range(900))},
         "Invalid UpdateExpression: .* maximum allowed size; expression size: 5295"),
        ("scan", {"TableName": "rows", "FilterExpression": f"n IN ({', '.join(_MANY)})",
                  "ExpressionAttributeValues": _MANY},
         "Invalid FilterExpression: The IN .* too many operands; number of operands: 101"),
        ("put_item", {**_PUT, "ConditionExpression": "attribute_exists(b) OR a.#n >= a.n",
                      "ExpressionAttributeNames": {"#n": "n"}},
         r"Invalid ConditionExpression: .* operator: >=, first operand: \[a, n\]"),
        ("get_item", {"TableName": "rows", "Key": {"id": {"N": "1"}}}, "does not match the schema"),
        ("delete_item", {"TableName": "rows", "Key": {"id": {"N": "1"}}},
         "does not match the schema"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_an_expression_or_a_key_that_is_not_taken_is_refused(
    table, operation, request_, error
) -> None:
    with pytest.raises(ClientError, match=rf"\(ValidationException\).*{error}"):
        getattr(table, operation)(**request_)

    assert table.scan(TableName="rows")["Items"] == []


@pytest.fixture
def sorted_table(client):
    dynamodb = client("dynamodb")
    dynamodb.create_table(
        TableName="sorted",
        KeySchema=[
            {"AttributeName": "id", "KeyType": "HASH"},
            {"AttributeName": "at", "KeyType": "RANGE"},
        ],
        AttributeDefinitions=[
            {"AttributeName": "id", "AttributeType": "S"},
            {"AttributeName": "at", "AttributeType": "B"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    yield dynamodb
    dynamodb.delete_table(TableName="sorted")


_UNLIKE = "The provided key element does not match the schema"
_EMPTY = "The AttributeValue for a key attribute cannot contain an empty"


@pytest.mark.parametrize(
    ("key", "error"),
    [
        ({"id": {"N": "1"}, "at": {"B": b"1"}}, _UNLIKE),
        ({"id": {"S": "1"}}, _UNLIKE),
        ({"id": {"S": "1"}, "at": {"B": b"1"}, "other": {"S": "1"}}, _UNLIKE),
        ({"id": {"S": ""}, "at": {"B": b"1"}}, f"{_EMPTY} string value. Key: id"),
        ({"id": {"S": "1"}, "at": {"B": b""}}, f"{_EMPTY} binary value. Key: at"),
        ({"id": {"S": "ä" * 1024 + "x"}, "at": {"B": b"1"}}, "size limit of2048 bytes"),
        ({"id": {"S": "1"}, "at": {"B": b"x" * 1025}}, "size limit of 1024 bytes"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_key_that_no_item_can_have_is_refused(sorted_table, key, error) -> None:
    taken, named = {"id": {"S": "1"}, "at": {"B": b"1"}}, {"TableName": "sorted", "Key": key}
    deletes = [{"DeleteRequest": {"Key": each}} for each in (taken, key)]
    sorted_table.put_item(TableName="sorted", Item=taken)
    calls = [
        lambda: sorted_table.get_item(**named),
        lambda: sorted_table.delete_item(**named),
        lambda: sorted_table.update_item(**named),
        lambda: sorted_table.batch_get_item(RequestItems={"sorted": {"Keys": [taken, key]}}),
        lambda: sorted_table.batch_write_item(RequestItems={"sorted": deletes}),
    ]

    for call in calls:
        with pytest.raises(ClientError, match=rf"\(ValidationException\).*{error}$"):
            call()
    assert sorted_table.scan(TableName="sorted")["Items"] == [taken]


def test_keys_of_the_largest_sizes_are_found(sorted_table) -> None:
    key = {"id": {"S": "ä" * 1024}, "at": {"B": b"x" * 1024}}
    sorted_table.put_item(TableName="sorted", Item=key)

    found = sorted_table.batch_get_item(RequestItems={"sorted": {"Keys": [key]}})

    assert found["Responses"] == {"sorted": [key]}


def test_paths_that_differ_are_compared_and_100_operands_are_taken(table) -> None:
    table.put_item(TableName="rows", Item={"id": {"S": "1"}, "a": {"N": "1"}, "aa": {"N": "1"}})
    values = dict(list(_MANY.items())[:100])
    condition = f"a = aa AND size(id) = a AND a IN ({', '.join(values)})"

    found = table.scan(
        TableName="rows", FilterExpression=condition, ExpressionAttributeValues=values
    )

    assert found["Count"] == 1


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


_LARGE = {"s": {"S": "x" * 390 * 1024}}
_SET = {"UpdateExpression": "SET s = :s", "ExpressionAttributeValues": {":s": _LARGE["s"]}}


@pytest.mark.parametrize(
    ("kind", "request_", "stored"),
    [
        ("Put", {}, False),
        ("Update", _SET, False),
        ("Update", {"UpdateExpression": "REMOVE t"}, True),
        ("Delete", {}, True),
        ("ConditionCheck", {"ConditionExpression": "attribute_exists(id)"}, True),
    ],
)
def test_a_transaction_of_over_4_mb_is_refused_and_not_written(
    table, kind, request_, stored
) -> None:
    keys = [{"id": {"S": f"{number:02}"}} for number in range(11)]
    for key in keys if stored else []:
        table.put_item(TableName="rows", Item=key | _LARGE)
    named = [{"Item": key | _LARGE} if kind == "Put" else {"Key": key} for key in keys]
    requests = [{kind: {"TableName": "rows", **request_, **each}} for each in named]

    with pytest.raises(ClientError, match=r"\(ValidationException\).*cannot exceed 4 MB"):
        table.transact_write_items(TransactItems=requests)
    found = [table.get_item(TableName="rows", Key=key).get("Item") for key in keys]
    assert found == [key | _LARGE if stored else None for key in keys]

    table.transact_write_items(TransactItems=requests[:10])
