"""Tables in files that grow by rows: CSV, and Parquet if the package pyarrow is installed.

Both take the same columns. Rows written before a program is stopped are kept. In Parquet each column
has its unit and meaning as metadata of the field; a CSV file has only their names, in the first line.
"""

from __future__ import annotations

import csv
import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from nonsmooth.errors import MissingPackageError
from nonsmooth.io._hdf5 import writing

_GROUP = 200_000
"""Rows that are written to a Parquet file together."""


class TableForm(StrEnum):
    """File format of a table; the value is the ending of its file."""

    CSV = "csv"
    PARQUET = "parquet"


@dataclass(frozen=True, eq=False)
class TableColumn:
    """One column of rows: numbers (n,) or n strings."""

    name: str
    values: NDArray[Any] | list[str]
    unit: str
    meaning: str


class TableFile(ABC):
    """A table that grows; all rows have the columns of the first ones."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @abstractmethod
    def append(self, columns: list[TableColumn]) -> None:
        """Append rows."""

    @abstractmethod
    def close(self) -> None:
        """Write the remaining rows and close the file."""

    def __enter__(self) -> TableFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def new_table(path: Path, form: TableForm) -> TableFile:
    """Begin a table; an older file of this name is replaced."""
    return _CsvFile(path) if form is TableForm.CSV else _ParquetFile(path)


class _CsvFile(TableFile):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._empty = True
        with writing(path):
            self._file = open(path, "w", encoding="utf-8", newline="")  # noqa: SIM115

    def append(self, columns: list[TableColumn]) -> None:
        lines = csv.writer(self._file, lineterminator="\n")
        # Python's floats are written with the digits needed to read the same number again.
        with writing(self.path):
            if self._empty:
                lines.writerow([column.name for column in columns])
                self._empty = False
            lines.writerows(zip(*(_listed(column.values) for column in columns), strict=True))
            self._file.flush()

    def close(self) -> None:
        with writing(self.path):
            self._file.close()


class _ParquetFile(TableFile):
    """Renamed to its place when it is closed: until then it is not a valid Parquet file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        check_parquet()
        self._scratch = path.with_name(f"{path.name}.part")
        self._writer: Any = None
        self._waiting: list[Any] = []
        self._rows = 0

    def append(self, columns: list[TableColumn]) -> None:
        import pyarrow as pa

        arrays = [pa.array(column.values) for column in columns]
        if self._writer is None:
            fields = [
                # An empty list has no type.
                pa.field(
                    column.name,
                    pa.string() if isinstance(column.values, list) else array.type,
                    metadata={"unit": column.unit, "meaning": column.meaning},
                )
                for column, array in zip(columns, arrays, strict=True)
            ]
            self._begin(pa.schema(fields))
        rows = pa.Table.from_arrays(
            [array.cast(field.type) for array, field in zip(arrays, self._schema, strict=True)],
            schema=self._schema,
        )
        self._waiting.append(rows)
        self._rows += rows.num_rows
        if self._rows >= _GROUP:
            self._write()

    def _begin(self, schema: Any) -> None:
        from pyarrow import parquet

        self._schema = schema
        with writing(self.path):
            self._writer = parquet.ParquetWriter(self._scratch, schema, compression="zstd")

    def _write(self) -> None:
        import pyarrow as pa

        waiting, self._waiting, self._rows = self._waiting, [], 0
        with writing(self.path):
            self._writer.write_table(pa.concat_tables(waiting))

    def close(self) -> None:
        if self._writer is None:
            return
        if self._waiting:
            self._write()
        with writing(self.path):
            self._writer.close()
            os.replace(self._scratch, self.path)
        self._writer = None


def check_parquet() -> None:
    """Raise if Parquet files cannot be written here."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise MissingPackageError(
            'Parquet files need the package pyarrow: pip install "nonsmooth[tables]", or export to CSV'
        ) from None


def _listed(values: NDArray[Any] | list[str]) -> list[Any]:
    return values if isinstance(values, list) else values.tolist()
