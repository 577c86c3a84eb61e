"""Output files of experiments."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from nonsmooth.errors import OptionError


def prepare_folder(folder: Path) -> Path:
    """Create the output folder."""
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"output folder {str(folder)!r} is a file: name a folder")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_text(path: Path, text: str) -> Path:
    """Write a text file."""
    path.write_text(text, encoding="utf-8")
    return path


def write_json(path: Path, content: Any) -> Path:
    """Write a JSON file; numbers have full precision."""
    return write_text(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """Write a table; None becomes an empty cell, numbers have full precision."""
    unfinished = path.with_name(f"{path.name}.part")
    with unfinished.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(header)
        table.writerows(rows)
    os.replace(unfinished, path)  # atomic: an existing file is complete
    return path
