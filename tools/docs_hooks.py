"""What the documentation site needs beyond its pages: a gallery, made from examples, links to the source, and
the reference of every solver of a registry.

Pages link to files of the repository beside docs/, which a site does not hold: there they become plain names.
"""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
_REGISTRY = re.compile(r"^::: ([\w.]+)\.REGISTRY$", re.MULTILINE)
_OUTSIDE = re.compile(r"\[([^\]]*)\]\(\.\./(?!images/)([^)]+)\)")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Name the solvers of a registry; turn links that lead out of docs/ into names."""
    markdown = _REGISTRY.sub(lambda found: _solvers_of(found[1]), markdown)
    return _OUTSIDE.sub(lambda found: _named(found[1], found[2]), markdown)


def _solvers_of(package: str) -> str:
    """One directive for each solver of a package's registry."""
    solvers = importlib.import_module(package).REGISTRY.values()
    return "\n\n".join(f"::: {solver.__module__}.{solver.__name__}" for solver in solvers)


def _named(text: str, path: str) -> str:
    plain = text.replace("\\_", "_").strip("`")
    return f"`{path}`" if Path(path).name == plain or plain == path else f"{text} (`{path}`)"


def on_files(files: Any, config: Any) -> Any:
    """Add the gallery."""
    files.append(File.generated(config, "gallery.md", content=gallery()))
    return files


def gallery() -> str:
    """Every example: what its docstring says, its picture if there is one, and its code."""
    parts = [
        "# Gallery",
        "",
        "Short programs to start from. Each is run by the tests and checks its own answer.",
    ]
    for path in sorted((ROOT / "examples").glob("*.py")):
        source = path.read_text(encoding="utf-8")
        said = ast.get_docstring(ast.parse(source)) or ""
        title, _, rest = said.partition("\n")
        parts += ["", f"## {path.stem.replace('_', ' ').capitalize()}", "", title]
        for block in filter(None, (block.strip("\n") for block in rest.split("\n\n"))):
            sketch = any(line.startswith(" ") for line in block.splitlines())
            parts += ["", "```text", block, "```"] if sketch else ["", block]
        picture = ROOT / "docs" / "images" / f"example-{path.stem}.png"
        if picture.exists():
            parts += ["", f"![{title}](images/{picture.name})"]
        parts += ["", f'??? example "examples/{path.name}"', "", "    ```python"]
        parts += [f"    {line}".rstrip() for line in source.splitlines()] + ["    ```"]
    return "\n".join(parts) + "\n"
