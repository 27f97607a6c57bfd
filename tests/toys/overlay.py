"""A package with more in it than the built-in one: files of a test stand before those of dwell."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from unittest import mock

from tests.cli.shell import REPOSITORY, Outcome
from tests.web.servers import Server
from tests.workers.watch import LONG

SOURCE = REPOSITORY / "src"
# Run at the start of each Python process whose path begins with the folder of an overlay.
FINDER = '''
import sys
from importlib.machinery import PathFinder
from importlib.util import spec_from_file_location
from pathlib import Path

HERE, SOURCE = Path(__file__).parent, Path({source!r})

class Finder:
    """Finds a module in this folder first; what a package lacks here is in the source."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        file = HERE.joinpath(*name.split("."))
        if (file / "__init__.py").is_file():
            places = [str(file), str(SOURCE.joinpath(*name.split(".")))]
            return spec_from_file_location(
                name, file / "__init__.py", submodule_search_locations=places
            )
        if name.startswith("dwell.") and file.with_suffix(".py").is_file():
            return spec_from_file_location(name, file.with_suffix(".py"))
        return None

sys.meta_path.insert(0, Finder)
'''


class Overlay:
    """A folder with files of the repository that a test adds or changes, and `touched`, a list."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.touched: list[str] = []
        self.folder.mkdir(parents=True)
        (folder / "sitecustomize.py").write_text(FINDER.format(source=str(SOURCE)))

    def add(self, path: str, text: str) -> None:
        """Add a file of the repository."""
        file = self._file(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        self.touched += [] if path in self.touched else [path]

    def insert(self, path: str, *insertions: tuple[str, str]) -> None:
        """Insert texts into a file of the repository, each before a text that stands there once."""
        file = self._file(path)
        text = (file if file.exists() else REPOSITORY / path).read_text(encoding="utf-8")
        for new, before in insertions:
            assert text.count(before) == 1, (path, before)
            text = text.replace(before, new + before)
        self.add(path, text)

    def _file(self, path: str) -> Path:
        return self.folder / path.removeprefix("src/")

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs that is to see this package."""
        path = os.pathsep.join(map(str, (self.folder, REPOSITORY, SOURCE)))
        return {"PYTHONPATH": path, "DWELL_PROGRESS": "0"}

    def python(self, *words: object, cwd: Path) -> Outcome:
        """Run Python with this package."""
        done = subprocess.run(
            [sys.executable, *map(str, words)], capture_output=True, text=True, timeout=LONG,
            encoding="utf-8", cwd=cwd, env={**os.environ, **self.environment}, check=False,
        )  # fmt: skip
        return Outcome(done.returncode, done.stdout, done.stderr)

    def generate(self, script: str, *more: str) -> None:
        """Run a script of the repository here that writes files beside it; it reads `more`."""
        for path in (script, *more):
            file = self._file(path)
            file.parent.mkdir(parents=True, exist_ok=True)
            if not file.exists():
                file.write_bytes((REPOSITORY / path).read_bytes())
        done = self.python(self._file(script), cwd=self.folder)
        assert done.code == 0, done.err

    def text(self, path: str) -> str:
        """The text of a file that is here."""
        return self._file(path).read_text(encoding="utf-8")

    def served(self, scenario: str) -> dict[str, Any]:
        """What a server answers to a scenario: `valid`, `schema`, `begin` of its run and `job`."""
        body = tomllib.loads(scenario)
        with mock.patch.dict(os.environ, self.environment), Server("--workers", "1") as server:
            run = server.start(body)
            texts, frames = server.hear(run)
            messages = [*texts, *(header for header, _ in frames)]
            return {
                "valid": server.post(body, "/api/validate").json(),
                "schema": server.http.get("/api/schema").json(),
                "begin": next(one for one in messages if one.get("type") == "begin"),
                "job": server.wait(run),
            }

    def used(self, scenario: str, axis: str, cwd: Path) -> dict[str, Any]:
        """What commands print that run, store, check, sweep and plot a scenario: see `uses`."""
        (cwd / "toy.toml").write_text(scenario)
        done = self.python("-m", "tests.toys.uses", "toy.toml", axis, cwd=cwd)
        assert done.code == 0, done.err[-3000:]
        return done.json
