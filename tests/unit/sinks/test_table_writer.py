"""Every row is written once or named, whatever DynamoDB leaves undone or refuses."""

from __future__ import annotations

import json
import secrets
import tracemalloc
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import boto3
import pytest

from localcloud.cloud import Cloud
from localcloud.faults import Faults, Kind
from penstock.errors import RowTooLargeError, SinkRefusedError, SinkUnavailableError
from penstock.records import Mode, RowShape
from penstock.sinks import DynamoDbClient
from penstock.sinks.item_json import write_item
from penstock.sinks.row_writers import TableWriter
from systems.sessions import make_session
from tests.fixtures.readings import make_reading_table
from tests.stubs.clock import FakeTime
from tests.stubs.dynamodb_api import DynamoDbApi, Reply, refusal

Item = dict[str, Any]


def _rows(count: int) -> list[Item]:
    return [{"id": str(number), "n": number} for number in range(count)]


def _ids(request: dict[str, Any]) -> list[str]:
    return [put["PutRequest"]["Item"]["id"]["S"] for put in request["RequestItems"]["rows"]]


@pytest.fixture
def writer(dynamodb: DynamoDbClient) -> TableWriter:
    return TableWriter(dynamodb, "rows", RowShape(("id",), sort_name=None, mode=Mode.UPSERT))


# --- a DynamoDB in the test's hands ---------------------------------------------------------


def _leave(*ids: str) -> Callable[[dict[str, Any]], Reply]:
    """Leave those undone that are asked for now."""

    def answer(request: dict[str, Any]) -> Reply:
        puts = request["RequestItems"]["rows"]
        left = [put for put in puts if put["PutRequest"]["Item"]["id"]["S"] in ids]
        return Reply(body=json.dumps({"UnprocessedItems": {"rows": left} if left else {}}).encode())

    return answer


def test_rows_go_in_batches_of_25(api: DynamoDbApi, writer: TableWriter) -> None:
    assert writer.write(_rows(51)) == {}
    assert [len(_ids(request)) for request in api.requests] == [25, 25, 1]
    assert [each for request in api.requests for each in _ids(request)] == list(map(str, range(51)))


def test_without_rows_nothing_is_called(api: DynamoDbApi, writer: TableWriter) -> None:
    assert writer.write([]) == {}
    assert api.requests == []


def test_the_last_of_several_rows_with_the_same_key_is_written(
    api: DynamoDbApi, writer: TableWriter
) -> None:
    assert writer.write([{"id": "a", "n": 1}, {"id": "b", "n": 2}, {"id": "a", "n": 3}]) == {}
    written = [
        [put["PutRequest"]["Item"] for put in request["RequestItems"]["rows"]]
        for request in api.requests
    ]
    assert [sorted((each["id"]["S"], each["n"]["N"]) for each in items) for items in written] == [
        [("a", "1"), ("b", "2")],
        [("a", "3")],
    ]


def test_if_the_last_row_of_a_key_is_rejected_the_one_before_it_stays(
    api: DynamoDbApi, writer: TableWriter
) -> None:
    api.otherwise = lambda request: (
        refusal("ValidationException") if "odd" in json.dumps(request) else Reply()
    )

    assert writer.write([{"id": "a", "n": 1}, {"id": "a", "n": "odd"}]).keys() == {1}
    written = api.requests[0]["RequestItems"]["rows"]
    assert written == [{"PutRequest": {"Item": {"id": {"S": "a"}, "n": {"N": "1"}}}}]


@pytest.mark.parametrize(
    ("texts", "held"),
    [(["x" * 10], 26), (["x" * 100_000], 26), (["x" * 100_000] * 10, 5), (["x" * 100_000] * 50, 2)],
    ids=["10", "100,000", "1,000,000", "5,000,000"],
)
def test_few_rows_are_held_at_the_same_time(
    api: DynamoDbApi, writer: TableWriter, texts: list[str], held: int
) -> None:
    written, most = 0, 0

    def count(request: dict[str, Any]) -> Reply:
        nonlocal written
        written += len(_ids(request))
        return Reply()

    def rows() -> Iterator[Item]:
        nonlocal most
        for number in range(60):
            most = max(most, number + 1 - written)
            yield {"id": str(number), "texts": texts}

    api.otherwise = count

    assert writer.write(rows()) == {}
    assert (written, most) == (60, held)


@pytest.mark.parametrize("size", [300_000, 7_000_000])
def test_rejected_rows_are_not_kept_in_memory(
    api: DynamoDbApi, writer: TableWriter, size: int
) -> None:
    api.otherwise = lambda _: refusal("ValidationException", "Item size has exceeded")
    tracemalloc.start()

    refused = writer.write({"id": str(number), "text": "x" * size} for number in range(50))

    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(refused) == 50
    assert held - sum(len(str(each)) for each in api.requests) < 2**20


def test_a_row_that_no_table_takes_enters_no_request(api: DynamoDbApi, writer: TableWriter) -> None:
    long = {f"text{number}": "x" * 400_000 for number in range(17)}

    refused = writer.write([{"id": "a", **long}, {"id": "b"}])

    assert [type(error) for error in refused.values()] == [RowTooLargeError]
    assert [_ids(request) for request in api.requests] == [["b"]]


def test_an_item_of_400_kb_is_never_too_long_as_json() -> None:
    longest = {"id": "a", "numbers": [10**37] * (400 * 1024 // 3)}

    assert len(write_item(longest)) > 6_000_000


def test_unprocessed_rows_are_sent_again_after_a_pause(
    api: DynamoDbApi, writer: TableWriter, time: FakeTime
) -> None:
    left = [("4",), ("3", "4")]

    def answer(request: dict[str, Any]) -> Reply:
        return _leave(*(left.pop() if left else ()))(request)

    api.otherwise = answer

    assert writer.write(_rows(6)) == {}
    assert [_ids(request) for request in api.requests] == [list("012345"), ["3", "4"], ["4"]]
    assert time.pauses == [0.05, 0.1]


@pytest.mark.parametrize("odd", [None, [], {"rows": None}, {"rows": [{}]}], ids=str)
def test_a_response_of_another_shape_is_not_taken_for_success(
    api: DynamoDbApi, writer: TableWriter, odd: Any
) -> None:
    api.replies = [Reply(body=json.dumps({"UnprocessedItems": odd}).encode())]

    assert writer.write(_rows(2)) == {}
    assert [_ids(request) for request in api.requests] == [["0", "1"]] * 2


def test_rows_that_stay_unprocessed_are_an_error(api: DynamoDbApi, writer: TableWriter) -> None:
    api.otherwise = _leave("3", "4")

    with pytest.raises(SinkUnavailableError) as caught:
        writer.write(_rows(6))

    assert str(caught.value) == "DynamoDB left 2 rows for table rows unprocessed for 10 s"


def _refuse(*ids: str) -> Callable[[dict[str, Any]], Reply]:
    """Refuse a batch that holds one of those, as a whole."""
    return lambda request: (
        refusal("ValidationException", "no such value") if {*ids} & {*_ids(request)} else Reply()
    )


@pytest.mark.parametrize("at", [{0}, {24}, {7, 8}, {3, 24, 25, 39}, set(range(40))], ids=str)
def test_a_rejected_row_does_not_stop_the_others(
    api: DynamoDbApi, writer: TableWriter, at: set[int]
) -> None:
    api.otherwise = _refuse(*map(str, at))

    refused = writer.write(_rows(40))

    assert refused.keys() == at
    assert all("ValidationException: no such value" in str(error) for error in refused.values())
    taken = {
        each
        for request in api.requests
        if not at & set(map(int, _ids(request)))
        for each in _ids(request)
    }
    assert taken == {str(number) for number in range(40)} - {str(number) for number in at}


def test_a_row_without_a_json_form_does_not_stop_the_others(
    api: DynamoDbApi, writer: TableWriter
) -> None:
    refused = writer.write([{"id": "a", "n": 1e300}, {"id": "b"}])

    assert [str(error) for error in refused.values()] == [
        "n: found 1e+300, expected 0 or a size of 1e-130 to 9.99e+125"
    ]
    assert list(refused) == [0]
    assert [_ids(request) for request in api.requests] == [["b"]]


def test_an_outage_in_the_middle_is_an_error(api: DynamoDbApi, writer: TableWriter) -> None:
    api.replies = [Reply()]
    api.otherwise = lambda _: refusal("ThrottlingException")

    with pytest.raises(SinkUnavailableError):
        writer.write(_rows(60))


# --- a real table ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tables(cloud: Cloud) -> Any:
    """The tables of an account in localcloud, as boto3's resource shows them."""
    session = boto3.Session("111111111111", "any", region_name="eu-central-1")
    return session.resource("dynamodb", endpoint_url=cloud.endpoint)


@pytest.fixture
def table(tables: Any) -> Iterator[Any]:
    """A table of readings."""
    table = make_reading_table(tables, f"t-{secrets.token_hex(4)}")
    yield table
    table.delete()


@pytest.fixture
def readings(table: Any, cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[TableWriter]:
    monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.endpoint)
    dynamodb = DynamoDbClient(make_session("111111111111"))
    yield TableWriter(dynamodb, table.name, RowShape())
    dynamodb.close()


def _readings(count: int) -> list[Item]:
    return [
        {
            "deviceId": f"d-{number % 3}",
            "readingId": f"{number:013d}-0-{number}",
            "n": 2**63 - number,
            "d": Decimal("0.1") * number,
            "s": '😀 "\u2028\\\x01' * number,
            "o": {"l": [number, None, True, {"b": bytes([number])}], "e": {}},
        }
        for number in range(count)
    ]


def test_rows_are_what_boto3_would_have_written(table: Any, readings: TableWriter) -> None:
    rows = _readings(60)

    assert readings.write(rows) == {}
    ours = _by_id(table.scan()["Items"])
    with table.batch_writer() as batch:
        for row in rows:
            batch.put_item(row)
    assert ours == _by_id(table.scan()["Items"])
    assert len(ours) == 60


def test_writing_again_changes_nothing(table: Any, readings: TableWriter) -> None:
    for _ in range(2):
        assert readings.write(_readings(30)) == {}

    assert len(table.scan()["Items"]) == 30


def test_a_table_with_unprocessed_rows_gets_all_rows(
    table: Any, readings: TableWriter, cloud: Cloud
) -> None:
    fault = cloud.state(Faults).add(kind=Kind.UNPROCESSED, service="dynamodb", items=20, calls=3)

    assert readings.write(_readings(30)) == {}
    assert fault.broken == 3
    assert len(table.scan()["Items"]) == 30
    cloud.state(Faults).clear()


def test_a_row_beyond_400_kilobytes_does_not_stop_the_others(
    table: Any, readings: TableWriter
) -> None:
    rows = _readings(30)
    rows[11]["s"] = "x" * 410_000

    refused = readings.write(rows)

    assert {place: type(error) for place, error in refused.items()} == {11: RowTooLargeError}
    assert len(table.scan()["Items"]) == 29


def test_a_rejected_key_does_not_stop_the_others(table: Any, readings: TableWriter) -> None:
    rows = _readings(5)
    rows[2]["deviceId"] = ""

    refused = readings.write(rows)

    assert {place: type(error) for place, error in refused.items()} == {2: SinkRefusedError}
    assert len(table.scan()["Items"]) == 4


def test_a_table_that_is_not_there_is_unavailable(readings: TableWriter, table: Any) -> None:
    writer = TableWriter(readings._client, "nowhere", RowShape())

    with pytest.raises(SinkUnavailableError, match="was refused: ResourceNotFoundException"):
        writer.write(_readings(1))


def _by_id(items: list[Item]) -> dict[str, Item]:
    return {item["readingId"]: item for item in items}
