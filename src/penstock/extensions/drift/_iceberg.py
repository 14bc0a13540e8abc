"""Iceberg tables by pyiceberg: columns, data files, and one commit that grows the columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import count
from types import TracebackType
from typing import Any, Final

from pyiceberg import types as iceberg
from pyiceberg.catalog.glue import GlueCatalog, _to_columns
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError, ValidationError
from pyiceberg.io import FileIO, InputFile, OutputFile
from pyiceberg.manifest import DataFileContent, FileFormat
from pyiceberg.schema import Schema, index_by_id
from pyiceberg.serializers import FromInputFile
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.update.schema import UpdateSchema

from penstock.errors import OperationError, SinkError
from penstock.extensions.drift._clients import Clients, translated_glue_errors
from penstock.tables import Array, Column, ColumnType, Growth, Map, Struct, lower_type

_LEAVES: Final[dict[str, iceberg.PrimitiveType]] = {
    "boolean": iceberg.BooleanType(),
    "int": iceberg.IntegerType(),
    "bigint": iceberg.LongType(),
    "float": iceberg.FloatType(),
    "double": iceberg.DoubleType(),
    "date": iceberg.DateType(),
    "timestamp": iceberg.TimestamptzType(),
    "timestamp_ntz": iceberg.TimestampType(),
    "string": iceberg.StringType(),
    "binary": iceberg.BinaryType(),
}
_NAMES: Final[dict[type[iceberg.IcebergType], str]] = {
    type(each): name for name, each in _LEAVES.items()
}
_NAME_MAPPING: Final = "schema.name-mapping.default"
_DECIMAL: Final = re.compile(r"decimal\((\d+),(\d+)\)")


@dataclass(frozen=True, slots=True)
class DataFile:
    """A Parquet file of a table, and the sequence number of the commit that added it."""

    location: str
    sequence: int


class IcebergSchema:
    """The columns of a table's current metadata."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self.columns = Struct(tuple(map(_read_field, schema.fields)))

    @property
    def required(self) -> list[str]:
        """Return the paths of fields that must have a value, except identifier fields."""
        fields = index_by_id(self._schema)
        types = (field.field_type for field in fields.values())
        keys = {type_.key_id for type_ in types if isinstance(type_, iceberg.MapType)}
        fixed = keys.union(self._schema.identifier_field_ids)
        return [
            self._schema.find_column_name(number) or field.name
            for number, field in fields.items()
            if field.required and number not in fixed
        ]

    def fields(self) -> dict[int, tuple[str, ColumnType]]:
        """Return the path and type of each field by its id, which files have too."""
        return {
            number: (
                self._schema.find_column_name(number) or "",
                lower_type(_read_type(field.field_type)),
            )
            for number, field in index_by_id(self._schema).items()
        }


class IcebergMetadata:
    """The metadata of a table at a location.

    Raises (when built, and when files are listed):
        OperationError: the metadata is no metadata that pyiceberg can read.
        SinkAccessDeniedError, SinkUnavailableError: S3 denies a call, or does not answer.
    """

    def __init__(self, clients: Clients, name: str, location: str) -> None:
        self._clients, self._name = clients, name
        self._io = _Io(clients)
        with _translated(f"the metadata of {name} cannot be read"):
            found: TableMetadata = FromInputFile.table_metadata(self._io.new_input(location))
        self._metadata = found
        self.schema = IcebergSchema(found.schema())
        self.has_name_mapping = _NAME_MAPPING in found.properties

    def list_files(self) -> Iterator[DataFile]:
        """Yield the Parquet files of the current snapshot: a call for it and one per manifest."""
        snapshot = self._metadata.current_snapshot()
        with _translated(f"the manifests of {self._name} cannot be read"):
            for manifest in [] if snapshot is None else snapshot.manifests(self._io):
                for entry in manifest.fetch_manifest_entry(self._io):
                    file = entry.data_file
                    is_data = file.content == DataFileContent.DATA
                    if is_data and file.file_format == FileFormat.PARQUET:
                        yield DataFile(file.file_path, entry.sequence_number or 0)

    def glue_columns(self) -> list[dict[str, Any]]:
        """Return the columns as Iceberg's catalogs give them to Glue."""
        return [dict(each) for each in _to_columns(self._metadata)]

    def grow(self, growth: Growth, optional: Sequence[str]) -> bool:
        """Change the table's columns in one commit; return False if another came first.

        Raises:
            OperationError: Iceberg or Glue refuses the change.
            SinkAccessDeniedError, SinkUnavailableError: AWS denies a call, or does not answer.
        """
        place = tuple(self._name.split("."))
        problem = f"{self._name} cannot be changed"
        with translated_glue_errors(problem), _translated(problem):
            try:
                loaded = _Catalog(self._clients).load_table(place)
                if loaded.schema() != self._metadata.schema():
                    return False
                with loaded.update_schema() as update:
                    _change(update, growth, optional)
            except (CommitFailedException, NoSuchTableError):
                return False
        return True


@contextmanager
def _translated(problem: str) -> Iterator[None]:
    """Translate errors of pyiceberg; the message is `<problem>: <reason>`."""
    try:
        yield
    except (ValueError, KeyError, TypeError, EOFError, ValidationError) as error:
        reason = " ".join(str(error).split())
        raise OperationError(f"{problem}: {reason:.500}") from error


def _change(update: UpdateSchema, growth: Growth, optional: Sequence[str]) -> None:
    for new in growth.added:
        parent = tuple(new.parent.split(".")) if new.parent else ()
        type_ = _write_type(new.column.type, count(1))
        update.add_column((*parent, new.column.name), type_, new.column.comment or None)
    for wider in growth.widened:
        update.update_column(tuple(wider.path.split(".")), _write_type(wider.new, count(1)))
    for path in optional:
        update.update_column(tuple(path.split(".")), required=False)


def _read_field(field: iceberg.NestedField) -> Column:
    return Column(field.name, _read_type(field.field_type), field.doc or "", field.required)


def _read_type(type_: iceberg.IcebergType) -> ColumnType:
    if isinstance(type_, iceberg.StructType):
        return Struct(tuple(map(_read_field, type_.fields)))
    if isinstance(type_, iceberg.ListType):
        return Array(_read_type(type_.element_type))
    if isinstance(type_, iceberg.MapType):
        return Map(_read_type(type_.key_type), _read_type(type_.value_type))
    return _read_leaf(type_)


def _read_leaf(type_: iceberg.IcebergType) -> str:
    if isinstance(type_, iceberg.DecimalType):
        return f"decimal({type_.precision},{type_.scale})"
    if isinstance(type_, iceberg.UUIDType):
        return "string"
    if isinstance(type_, iceberg.FixedType):
        return "binary"
    return _NAMES.get(type(type_), str(type_))


def _write_type(type_: ColumnType, ids: count[int]) -> iceberg.IcebergType:
    """Return a type of Iceberg; its field ids are replaced when it is added."""
    if isinstance(type_, Struct):
        return iceberg.StructType(
            *(
                iceberg.NestedField(
                    next(ids),
                    each.name,
                    _write_type(each.type, ids),
                    required=False,
                    doc=each.comment or None,
                )
                for each in type_.columns
            )
        )
    if isinstance(type_, Array):
        return iceberg.ListType(next(ids), _write_type(type_.item, ids), element_required=False)
    if isinstance(type_, Map):
        return iceberg.MapType(
            next(ids),
            _write_type(type_.key, ids),
            next(ids),
            _write_type(type_.value, ids),
            value_required=False,
        )
    if decimal := _DECIMAL.fullmatch(type_):
        return iceberg.DecimalType(int(decimal[1]), int(decimal[2]))
    return _LEAVES[type_]


class _Catalog(GlueCatalog):
    """The Glue catalog, with our clients."""

    def __init__(self, clients: Clients) -> None:
        super().__init__("penstock", client=clients.get("glue"))
        self._clients = clients

    def _load_file_io(self, *_: Any, **__: Any) -> FileIO:
        return _Io(self._clients)


class _Io(FileIO):
    """Files of Iceberg on S3, by our client: its endpoint, certificates and count of calls."""

    def __init__(self, clients: Clients) -> None:
        super().__init__()
        self._clients = clients

    def new_input(self, location: str) -> InputFile:
        """Return a file to read."""
        return _Input(location, self._clients)

    def new_output(self, location: str) -> OutputFile:
        """Return a file to write."""
        return _Output(location, self._clients)

    def delete(self, location: str | InputFile | OutputFile) -> None:
        """Delete a file; pyiceberg logs an OSError and goes on, since its commit is done."""
        try:
            self._clients.delete(location if isinstance(location, str) else location.location)
        except SinkError as error:
            raise OSError(str(error)) from error


class _Input(InputFile):
    def __init__(self, location: str, clients: Clients) -> None:
        super().__init__(location)
        self._clients = clients

    def __len__(self) -> int:
        return len(self._clients.read(self.location))

    def exists(self) -> bool:
        raise NotImplementedError  # pyiceberg asks it of outputs only

    def open(self, seekable: bool = True) -> Any:
        return BytesIO(self._clients.read(self.location))


class _Output(OutputFile):
    def __init__(self, location: str, clients: Clients) -> None:
        super().__init__(location)
        self._clients = clients

    def __len__(self) -> int:
        return len(self.to_input_file())

    def exists(self) -> bool:
        return False  # names of metadata files have a random part

    def to_input_file(self) -> InputFile:
        return _Input(self.location, self._clients)

    def create(self, overwrite: bool = False) -> Any:
        return _Written(self.location, self._clients)


class _Written(BytesIO):
    """Bytes that are put when they are closed, unless writing them failed."""

    def __init__(self, location: str, clients: Clients) -> None:
        super().__init__()
        self._location, self._clients = location, clients
        self._failed = False

    def close(self) -> None:
        """Put the bytes."""
        if not self.closed and not self._failed:
            self._clients.put(self._location, self.getvalue())
        super().close()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._failed = kind is not None
        super().__exit__(kind, error, trace)
