"""A bucket for raw bytes that a table cannot hold."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from penstock.aws import open_s3, translated_s3_errors
from penstock.credentials import load_session
from penstock.errors import ObjectMissingError, SinkError

if TYPE_CHECKING:
    from botocore.session import Session

_WRITERS: Final = 8  # no more than a client has connections


class ObjectStore:
    """A bucket, for several threads; the first use connects."""

    def __init__(self, bucket: str, session: Session | None = None) -> None:
        self._bucket = bucket
        self._session = session or load_session()
        self._s3: Any = None
        self._lock = Lock()

    def put(
        self,
        name: str,
        content: bytes,
        content_type: str = "binary/octet-stream",
        *,
        over: bool = True,
    ) -> str:
        """Write bytes under a name and return their URL, over an existing object unless told.

        Raises:
            FileExistsError: there is an object, and it is not to be written over.
            SinkAccessDeniedError: no credentials, or these may not write (retriable).
            SinkUnavailableError: the bucket is throttling, down or does not exist (retriable).
        """
        where = f"s3://{self._bucket}/{name}"
        asked: dict[str, str] = {} if over else {"IfNoneMatch": "*"}
        with translated_s3_errors(f"{where} cannot be written"):
            self._connect().put_object(
                Bucket=self._bucket, Key=name, Body=content, ContentType=content_type, **asked
            )
        return where

    def put_each(self, objects: Iterable[tuple[str, bytes]]) -> list[str]:
        """Write bytes under their names, eight objects at once, and return their URLs.

        Raises:
            SinkAccessDeniedError, SinkUnavailableError: as in `put`; some may be written.
        """
        left, places = iter(objects), list[str]()
        with ThreadPoolExecutor(_WRITERS) as pool:
            while some := list(islice(left, _WRITERS)):
                places += pool.map(self.put, *zip(*some, strict=True))
        return places

    def get(self, where: str) -> bytes:
        """Return the bytes at a URL that `put` returned.

        Raises:
            ObjectMissingError: the bucket has no such object.
            SinkAccessDeniedError: no credentials, or these may not read (retriable).
            SinkUnavailableError: the bucket is throttling or down (retriable).
        """
        bucket, _, name = where.removeprefix("s3://").partition("/")
        try:
            with translated_s3_errors(f"{where} cannot be read"):
                content: bytes = self._connect().get_object(Bucket=bucket, Key=name)["Body"].read()
        except SinkError as error:
            if self._lacks(bucket, name):
                raise ObjectMissingError(f"{where} is not there") from error
            raise
        return content

    def _lacks(self, bucket: str, name: str) -> bool:
        """Return whether a listing shows no such object; a refused read leaves that open."""
        try:
            with translated_s3_errors(f"s3://{bucket} cannot be listed"):
                listed = self._connect().list_objects_v2(Bucket=bucket, Prefix=name, MaxKeys=1)
        except SinkError:
            return False
        return name not in [each["Key"] for each in listed.get("Contents", ())]

    def _connect(self) -> Any:
        with self._lock:
            if self._s3 is None:
                self._s3 = open_s3(self._session)
            return self._s3
