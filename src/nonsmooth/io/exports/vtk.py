"""Files for ParaView and other programs of VTK: surfaces, lines and points (.vtp), and series of them (.pvd).

A .vtp file is XML with all arrays behind it in one block, compressed with zlib. Numbers are written in the
byte order and the type that they have in memory; every array carries its unit as VTK's key UNITS_LABEL.
"""

from __future__ import annotations

import os
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

from nonsmooth.io._hdf5 import FilePath, writing

_TYPES = {"i1": "Int8", "i4": "Int32", "i8": "Int64", "f4": "Float32", "f8": "Float64"}
"""VTK's names of NumPy's types."""

_BLOCK = 1 << 20
"""Size of a compressed block in bytes; readers need memory for one block."""

_LEVEL = 1
"""Compression level of zlib: higher levels gain little for double precision."""

_PVD_END = b"</Collection></VTKFile>\n"


@dataclass(frozen=True, eq=False)
class VtkArray:
    """A named array, one row per point: numbers (n,) or (n, k), or a list of n strings."""

    name: str
    values: NDArray[Any] | list[str]
    unit: str = ""


def write_polydata(
    path: FilePath,
    points: NDArray[Any],
    arrays: list[VtkArray],
    *,
    cells: NDArray[Any] | None = None,
    normals: NDArray[Any] | None = None,
    facts: list[VtkArray] | None = None,
) -> None:
    """Write points with their arrays as a .vtp file, atomically.

    Args:
        path: of the file.
        points: (n, 3) in m.
        arrays: of the points, each with n rows.
        cells: triangles (t, 3) or lines (t, 2), rows of the points; without them every point is a
            vertex.
        normals: (n, 3) of the surface at the points, for smooth light.
        facts: arrays of the whole file, such as the time; of any length.
    """
    count = len(points)
    cells = np.arange(count).reshape(count, 1) if cells is None else np.asarray(cells)
    cells = cells.astype(np.int32 if count < 2**31 else np.int64, copy=False)
    ends = VtkArray("offsets", np.arange(1, len(cells) + 1) * cells.shape[1])
    kind = {1: "Verts", 2: "Lines", 3: "Polys"}[cells.shape[1]]
    counts = " ".join(
        f'NumberOf{name}="{len(cells) if name == kind else 0}"'
        for name in ("Verts", "Lines", "Strips", "Polys")
    )
    block = _Block()
    parts = [
        '<?xml version="1.0"?>\n'
        f'<VTKFile type="PolyData" version="1.0" byte_order="{_byte_order()}" header_type="UInt64" '
        'compressor="vtkZLibDataCompressor">\n<PolyData>',
        "<FieldData>",
        *(block.add(fact, whole=True) for fact in facts or []),
        "</FieldData>",
        f'<Piece NumberOfPoints="{count}" {counts}>',
        "<PointData>" if normals is None else '<PointData Normals="Normals">',
        *(block.add(array) for array in arrays),
        *([] if normals is None else [block.add(VtkArray("Normals", normals))]),
        "</PointData>",
        "<Points>",
        block.add(VtkArray("Points", points, "m")),
        "</Points>",
        f"<{kind}>",
        block.add(VtkArray("connectivity", cells.ravel())),
        block.add(ends),
        f"</{kind}>",
        "</Piece>",
        '</PolyData>\n<AppendedData encoding="raw">\n_',
    ]
    with writing(path):
        scratch = Path(f"{os.fspath(path)}.part")
        try:
            with open(scratch, "wb") as file:
                file.write("\n".join(parts).encode())
                file.writelines(block.chunks)
                file.write(b"\n</AppendedData></VTKFile>\n")
            os.replace(scratch, path)
        finally:
            scratch.unlink(missing_ok=True)


class PvdSeries:
    """A series of files over time, for ParaView: after every `add` it is a complete file.

    Args:
        path: of the .pvd file; an older one is replaced.
    """

    def __init__(self, path: FilePath) -> None:
        head = '<?xml version="1.0"?>\n<VTKFile type="Collection" version="1.0"><Collection>\n'
        with writing(path):
            self._file = open(path, "wb")  # noqa: SIM115
            self._file.write(head.encode() + _PVD_END)
            self._file.flush()
        self.path = path

    def add(self, time: float, file: str) -> None:
        """Add a file, named relative to the series, that holds for a time in s."""
        line = f"<DataSet timestep={quoteattr(repr(float(time)))} file={quoteattr(file)}/>\n"
        with writing(self.path):
            self._file.seek(-len(_PVD_END), os.SEEK_END)
            self._file.write(line.encode() + _PVD_END)
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> PvdSeries:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Block:
    """The block of compressed arrays behind the XML, with the offset of each array."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []
        self._size = 0

    def add(self, array: VtkArray, *, whole: bool = False) -> str:
        """Append an array and return the XML that names it; `whole` marks arrays that are not per point."""
        facts = f'Name={quoteattr(array.name)} format="appended" offset="{self._size}"'
        if isinstance(array.values, list):
            tag, rows = "Array", len(array.values)
            facts = f'type="String" NumberOfComponents="1" {facts}'
            data = b"".join(text.encode() + b"\0" for text in array.values)
        else:
            values = np.ascontiguousarray(array.values)
            tag, rows = "DataArray", len(values)
            width = values.shape[1] if values.ndim == 2 else 1
            facts = f'type="{_TYPES[values.dtype.str[1:]]}" NumberOfComponents="{width}" {facts}'
            data = values.tobytes()
        if whole:
            facts += f' NumberOfTuples="{rows}"'
        self._append(data)
        if not array.unit:
            return f"<{tag} {facts}/>"
        key = 'InformationKey name="UNITS_LABEL" location="vtkDataArray"'
        return f"<{tag} {facts}><{key}>{escape(array.unit)}</InformationKey></{tag}>"

    def _append(self, data: bytes) -> None:
        """Append bytes in VTK's form: number of blocks, their size and the last one's, then the blocks."""
        pieces = [zlib.compress(data[at : at + _BLOCK], _LEVEL) for at in range(0, len(data), _BLOCK)]
        sizes = [len(pieces), _BLOCK, len(data) % _BLOCK, *map(len, pieces)]
        for chunk in (np.array(sizes, dtype=np.uint64).tobytes(), *pieces):
            self.chunks.append(chunk)
            self._size += len(chunk)


def _byte_order() -> str:
    return "LittleEndian" if sys.byteorder == "little" else "BigEndian"
