"""The dead-letter table: consumers write its rows, a replay finds, reads and marks them."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Final

from penstock.errors import Failure, SinkRefusedError
from penstock.records import FUNCTION, FailedRecord, read_letter_id, write_letter_id
from penstock.settings import Settings, parse_names, setting
from penstock.sinks.dead_letter import DeadLetter, make_error, write_detail, write_headers
from penstock.sinks.dynamodb_client import DynamoDbClient
from penstock.sinks.item_json import write_item
from penstock.sinks.object_store import ObjectStore
from penstock.sinks.row_reader import ROWS_AT_ONCE, RowAddress, query_rows, read_rows
from penstock.sinks.row_update import Update, update_each, update_row
from penstock.sinks.selection import Selection

DEFAULT_KEEP_DAYS: Final = 365  # the same as for parked records

# A row holds 400 KB. The rest is for its other attributes: `detail` may take 12 KB and, in a row of
# a join, `driver` 9.5 KB and `waitingFor`, which a retry may make longer, 64 KB.
_MAX_RAW_BYTES: Final = 390_000
_MAX_RAW_BYTES_OF_A_JOIN: Final = 300_000
_LOG: Final = "dead-letters/"
JOIN: Final = "join"  # the stage of rows that were not joined; the retry function owns them
_REPLAYED: Final = (FUNCTION, "spark")  # the stages of rows that a replay owns
_ALL: Final = Selection()
_DUE_INDEX: Final = "due"
_IDS_AT_ONCE: Final = 100_000  # 10 MB
_DAY_SECONDS: Final = 86_400
_NEITHER_OPEN_NOR_PARKED: Final = b"attribute_not_exists(id) OR attribute_exists(doneAt)"
_OPEN: Final = "#stage = :stage"
_DUE: Final = f"{_OPEN} AND nextAttemptAt <= :until"
# Without it, an update of a missing row would create one with few attributes.
_THERE: Final = "attribute_exists(id)"
_UNSETTLED: Final = f"{_THERE} AND attribute_not_exists(doneAt) AND attribute_not_exists(parkedAt)"
_PARKED: Final = "#replay = :replay AND parkedAt = :where"
_FAILURE: Final = "#reason = :reason, #detail = :detail"
_SETTLED: Final = "#replay = :replay, expiresAt = :expires REMOVE nextAttemptAt"
# A row takes one result of a replay, however often the replay reports it.
_UNTOLD: Final = f"{_UNSETTLED} AND (attribute_not_exists(#replay) OR #replay <> :replay)"
_AS_TRIED: Final = "#attempts = :before"


@dataclass(frozen=True, slots=True)
class DeadLetterSettings(Settings):
    """The dead-letter table and its bucket."""

    errors_table: str = setting(
        "PENSTOCK_ERRORS_TABLE",
        "DynamoDB table for dead letters: records that cannot be decoded or written",
    )
    parked_bucket: str = setting(
        "PENSTOCK_PARKED_BUCKET",
        "bucket for dead letters that are too large for a row, and for parked ones",
    )


def account_tables_setting() -> Any:
    """Return the setting that names the dead-letter tables of an account."""
    return setting(
        "PENSTOCK_STATUS_TABLES",
        "dead-letter tables of the account, separated by commas",
        parse=parse_names,
        default=(),
    )


@dataclass(frozen=True, slots=True)
class OpenDeadLetters:
    """The numbers of open rows: those that a replay owns, by reason, and those that wait for a row.

    `is_complete` is false if there may be more, and an older one than `oldest_seconds`.
    """

    reasons: Mapping[str, int]
    waiting: int
    oldest_seconds: int
    is_complete: bool

    @property
    def total(self) -> int:
        """The number of rows that a replay owns."""
        return sum(self.reasons.values())


class ErrorTable:
    """The dead-letter table, and the bucket for its log and for bytes that rows cannot hold.

    For one thread. Athena reads the log, which has a line of JSON for each dead letter. A row that
    is done or parked expires (TTL) after `keep_days`.
    """

    def __init__(
        self,
        client: DynamoDbClient,
        table: str,
        store: ObjectStore,
        *,
        keep_days: int = DEFAULT_KEEP_DAYS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._table = table
        self._store = store
        self._keep_seconds = keep_days * _DAY_SECONDS
        self._clock = clock

    def keep(self, failed: Sequence[FailedRecord]) -> None:
        """Write a line of the log and then a row for each record; idempotent.

        The log comes first, so that no row is without its line. A line may be without a row: if a
        program ends between the two, the record may be read well when it comes again.

        Raises:
            SinkAccessDeniedError, SinkUnavailableError: some may be written; writing all of them
                again is safe.
            SinkRefusedError: DynamoDB rejects the row of a record.
        """
        self.log(failed)
        self.keep_rows(failed)

    def keep_rows(self, failed: Sequence[FailedRecord]) -> None:
        """Write a row for each record; a row that is open or parked is not changed.

        A row that is done is replaced: its record fails again if tables are built again from the
        start of their topics.
        """
        errors = self._client.call_each("PutItem", map(self._make_request, failed))
        for each, error in zip(failed, errors, strict=True):
            if isinstance(error, SinkRefusedError):
                raise _explain(each, error) from error

    def log(self, failed: Sequence[FailedRecord]) -> None:
        """Write an object with a line for each record; the same records are the same object."""
        if not failed:
            return
        rows = [DeadLetter.describe(make_error(each)).to_values() for each in failed]
        lines = [f"{json.dumps({**row, 'error_table': self._table})}\n" for row in rows]
        ids = "\n".join([self._table, *(each.id for each in failed)])
        name = hashlib.sha256(ids.encode()).hexdigest()
        self._store.put(f"{_LOG}{name}.json", "".join(lines).encode())

    def find(self, selection: Selection) -> Iterator[list[str]]:
        """Yield sorted ids of rows that a replay owns and that match in the index, 100,000 at once.

        The index may lag behind the table; `read` has the current rows. One that fails again
        meanwhile may be yielded again.
        """
        ids = self._find_ids(_REPLAYED, selection)
        while some := sorted(islice(ids, _IDS_AT_ONCE)):
            yield some

    def describe(self, selection: Selection) -> Iterator[DeadLetter]:
        """Yield the rows that match the selection, in the order of their ids, without raw bytes."""
        ids = sorted(self._find_ids((*_REPLAYED, JOIN), selection))
        for row in self._rows(ids, selection.matches):
            yield DeadLetter.describe(row)

    def describe_others(self, letter: DeadLetter) -> list[DeadLetter]:
        """Return the other dead letters of a record, settled ones too, without raw bytes."""
        _, record_id = read_letter_id(letter.id)
        ids = [write_letter_id(record_id, stage) for stage in (*_REPLAYED, JOIN)]
        found = self._rows([each for each in ids if each != letter.id], lambda row: True)
        return list(map(DeadLetter.describe, found))

    def read(
        self, ids: Sequence[str], matches: Callable[[DeadLetter], bool] = lambda row: True
    ) -> Iterator[DeadLetter]:
        """Yield the full rows for `ids` that match; skip ids missing in the table."""
        for row in self._rows(ids, matches):
            yield DeadLetter.restore(row, self._store)

    def count_failures(
        self, failed: Sequence[FailedRecord], replay: str, selection: Selection = _ALL
    ) -> None:
        """Count a failed attempt of a replay in those rows of each record that it selected.

        The reason of another owner, whose row was not selected, stays. A second call for the same
        replay is ignored. A call of an earlier replay that has its effect late changes no row that
        was counted since, which would then count as done; if it comes first, the row is read again.
        """
        failures = {
            write_letter_id(each.record_id, stage): each.failure
            for each in reversed(failed)  # the first failure of a record stays
            for stage in _REPLAYED
        }
        left = list(self._rows(list(failures), selection.matches))
        while left:
            updates = [self._make_count(row, failures[row["id"]], replay) for row in left]
            counted = zip(left, update_each(self._client, updates), strict=True)
            missed = [row["id"] for row, is_counted in counted if not is_counted]
            left = list(self._rows(missed, lambda row: not row.settled and row.replay != replay))

    def _make_count(self, row: Mapping[str, Any], failure: Failure, replay: str) -> Update:
        return self._make_update(
            row["id"],
            f"SET #attempts = #attempts + :one, {_FAILURE}, "
            "#replay = :replay, nextAttemptAt = :next REMOVE expiresAt",
            {":one": 1, ":replay": replay, **_make_values(failure), **self._next_attempt(1)},
            _UNTOLD,
            row["attempts"],
        )

    def mark_done(self, row_id: str, replay: str) -> bool:
        """Mark a row as done by a replay; return whether the row was changed.

        It is not changed if it is gone, done or parked, or has a result of this replay.
        """
        return update_row(self._client, *self._make_done(row_id, replay))

    def mark_all_done(self, rows: Iterable[DeadLetter], replay: str) -> list[bool]:
        """Mark rows as `mark_done` does, except for one that has other attempts than it had.

        The call may have its effect after a later replay has failed.
        """
        updates = (self._make_done(row.id, replay, row.attempts) for row in rows)
        return update_each(self._client, updates)

    def mark_parked(
        self, row_id: str, where: str, replay: str, attempts: int | None = None
    ) -> bool:
        """Mark a row as parked at `where`; return False if it is gone or settled otherwise.

        It also returns False if the row has other attempts: it may have been opened again. If this
        replay has parked it there already, it returns True: the first answer may have been lost.
        """
        return update_row(self._client, *self._make_parked(row_id, where, replay, attempts))

    def mark_all_parked(
        self, rows: Iterable[DeadLetter], places: Iterable[str], replay: str
    ) -> list[bool]:
        """Mark rows, each as parked at its place, as `mark_parked` does."""
        updates = (
            self._make_parked(row.id, where, replay, row.attempts)
            for row, where in zip(rows, places, strict=True)
        )
        return update_each(self._client, updates)

    def make_change(
        self,
        row_id: str,
        changes: str,
        values: Mapping[str, Any],
        condition: str = "",
        failure: Failure | None = None,
    ) -> Update:
        """Return the update of an open row that is as the condition says.

        Args:
            row_id: its id.
            changes: the assignments of an update expression, as DynamoDB writes them.
            values: what they and the condition compare and assign, such as `:next`.
            condition: a condition on the row.
            failure: replaces the row's.
        """
        if failure is not None:
            changes, values = f"{changes}, {_FAILURE}", {**values, **_make_values(failure)}
        open_as = f"{_UNSETTLED} AND {condition}" if condition else _UNSETTLED
        return self._make_update(row_id, f"SET {changes}", values, open_as)

    def find_pages(self, stage: str, selection: Selection) -> Iterator[list[str]]:
        """Yield the ids of matching rows by page; the index has only open rows and no raw bytes."""
        for rows in self._query(stage, selection.due_s):
            yield [row["id"] for row in rows if selection.matches(DeadLetter.describe(row))]

    def count_open(self, most: int) -> OpenDeadLetters:
        """Count the open rows by reason, up to `most` of each stage.

        The index has nothing but open rows: a lease or a row that is settled costs nothing.
        """
        stages = {
            stage: [*islice(chain.from_iterable(self._query(stage, limit=most)), most)]
            for stage in (*_REPLAYED, JOIN)
        }
        rows = [row for stage in _REPLAYED for row in stages[stage]]
        first_ms = min((row["firstSeen"] for row in rows), default=None)
        return OpenDeadLetters(
            reasons=dict(sorted(Counter(row["reason"] for row in rows).items())),
            waiting=len(stages[JOIN]),
            oldest_seconds=0 if first_ms is None else max(0, int(self._clock() - first_ms / 1_000)),
            is_complete=all(len(found) < most for found in stages.values()),
        )

    def _query(
        self, stage: str, due_s: int | None = None, limit: int | None = None
    ) -> Iterator[list[dict[str, Any]]]:
        """Yield the open rows of a stage by page, as the index has them."""
        condition, values = _OPEN, dict[str, Any]({":stage": stage})
        if due_s is not None:
            condition, values = _DUE, {**values, ":until": due_s}
        request = {
            "TableName": self._table,
            "IndexName": _DUE_INDEX,
            "KeyConditionExpression": condition,
            "ExpressionAttributeNames": {"#stage": "stage"},
            "ExpressionAttributeValues": json.loads(write_item(values)),
            **({} if limit is None else {"Limit": limit}),
        }
        return query_rows(self._client, request)

    def _rows(
        self, ids: Sequence[str], matches: Callable[[DeadLetter], bool]
    ) -> Iterator[dict[str, Any]]:
        for start in range(0, len(ids), ROWS_AT_ONCE):
            some = ids[start : start + ROWS_AT_ONCE]
            found = read_rows(self._client, [RowAddress.of(self._table, {"id": id}) for id in some])
            for row in sorted(found.values(), key=lambda row: str(row["id"])):
                if matches(DeadLetter.describe(row)):
                    yield row

    def _make_request(self, failed: FailedRecord) -> bytes:
        try:
            row = write_item(self._fit(failed))
        except SinkRefusedError as error:
            raise _explain(failed, error) from error
        request = b'{"TableName":%b,"Item":%b,"ConditionExpression":"%b"}'
        return request % (json.dumps(self._table).encode(), row, _NEITHER_OPEN_NOR_PARKED)

    def _fit(self, failed: FailedRecord) -> dict[str, Any]:
        """Return the row of a record; bytes that do not fit go to the bucket, longest first."""
        row, record = make_error(failed, self._delay_seconds(0)), failed.record
        raw = {
            "value": record.value or b"",
            "headers": write_headers(record.headers),
            "key": record.key or b"",
        }
        left = sum(map(len, raw.values()))  # an upper bound: headers are longer as JSON
        most = _MAX_RAW_BYTES_OF_A_JOIN if failed.driver else _MAX_RAW_BYTES
        for name in sorted(raw, key=lambda name: -len(raw[name])):
            if left <= most:
                break
            del row[name]
            row[f"{name}At"] = self._store.put(f"errors/{failed.id}/{name}", raw[name])
            left -= len(raw[name])
        return row

    def _make_done(self, row_id: str, replay: str, attempts: int | None = None) -> Update:
        changes = f"SET doneAt = :now, {_SETTLED}"
        values = {":now": int(self._clock() * 1_000), **self._settle(replay)}
        return self._make_update(row_id, changes, values, _UNTOLD, attempts)

    def _make_parked(self, row_id: str, where: str, replay: str, attempts: int | None) -> Update:
        changes = f"SET parkedAt = :where, {_SETTLED}"
        values = {":where": where, **self._settle(replay)}
        return self._make_update(row_id, changes, values, f"{_PARKED} OR {_UNSETTLED}", attempts)

    def _settle(self, replay: str) -> dict[str, Any]:
        return {":replay": replay, ":expires": int(self._clock()) + self._keep_seconds}

    def _make_update(
        self,
        row_id: str,
        update: str,
        values: Mapping[str, Any],
        condition: str,
        attempts: int | None = None,
    ) -> Update:
        """Return the update of a row that is as the condition says, with any given attempts."""
        if attempts is not None:
            condition, values = f"{condition} AND {_AS_TRIED}", {":before": attempts, **values}
        return RowAddress.of(self._table, {"id": row_id}), update, condition, values

    def _delay_seconds(self, failures: int) -> int:
        """Return the delay before the next retry; a table whose delays grow overrides it."""
        return 3_600 if failures else 0

    def _next_attempt(self, failures: int) -> dict[str, Any]:
        """Return the value of `:next`, when the next retry is due."""
        return {":next": int(self._clock()) + self._delay_seconds(failures)}

    def _find_ids(self, stages: Sequence[str], selection: Selection) -> Iterator[str]:
        if selection.ids:
            rows = self._rows(sorted(selection.ids), selection.matches)
            return (row["id"] for row in rows if row.get("stage") in stages)
        pages = (self.find_pages(stage, selection) for stage in stages)
        return chain.from_iterable(chain.from_iterable(pages))


def _make_values(failure: Failure) -> dict[str, str]:
    """Return the values of `_FAILURE`."""
    return {":reason": failure.reason.value, ":detail": write_detail(failure.detail)}


def _explain(failed: FailedRecord, error: SinkRefusedError) -> SinkRefusedError:
    source = failed.record.source
    return type(error)(f"{source} cannot be written as a dead letter: {error}")
