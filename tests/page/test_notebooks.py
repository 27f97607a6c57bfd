"""The player in real notebooks: JupyterLab and marimo, in an environment of their own."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import dwell
from dwell.scenario import template_text
from tests.page.conftest import ROOT

pytestmark = [pytest.mark.exhaustive, pytest.mark.timeout(1200)]

CELL = "import dwell\nrun = dwell.load_run({run!r})\ndwell.player(run)"
MARIMO = """import marimo

app = marimo.App()


@app.cell
def _():
    import dwell

    dwell.player({run!r})
    return
"""


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with both notebooks."""
    folder = tmp_path_factory.mktemp("notebooks") / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    install = [folder / "bin" / "python", "-m", "pip", "install", "--quiet"]
    subprocess.run([*install, "jupyterlab", "marimo", f"{ROOT}[notebook]"], check=True)
    return folder / "bin"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A stored run."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "a.toml").write_text(template_text("two-hills"))
    dwell.run_scenario(folder / "a.toml", out=folder / "a.nc")
    return str(folder / "a.nc")


@contextmanager
def served(*words: str | Path) -> Iterator[str]:
    """A server of notebooks at a free port, given as the last word."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([*words, f"--port={port}"])
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/")
                break
            except OSError:
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def plays(page: Any) -> None:
    """The player is there, and its time moves; the notebook keeps its own look."""
    page.locator(".map-canvas").wait_for(timeout=180_000)
    page.locator(".play").click()
    page.wait_for_timeout(2000)
    assert float(page.locator(".readout").inner_text().split()[1]) > 0.5
    assert page.evaluate("getComputedStyle(document.body).display") == "block"


def test_jupyterlab(browser: Any, notebooks: Path, run: str, tmp_path: Path) -> None:
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    found = {
        "cells": [{**cell, "source": CELL.format(run=run)}],
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (tmp_path / "a.ipynb").write_text(json.dumps(found))
    words = ["--no-browser", "--allow-root", "--ServerApp.token=", f"--notebook-dir={tmp_path}"]
    with served(notebooks / "jupyter", "lab", *words) as address:
        page = browser.new_page()
        page.goto(f"{address}/lab/tree/a.ipynb?reset")
        page.locator(".jp-Notebook").wait_for(timeout=90_000)
        page.get_by_text("| Idle").wait_for(timeout=90_000)  # the kernel
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text("Run All Cells", exact=True).click()
        plays(page)
        page.close()


def test_marimo(browser: Any, notebooks: Path, run: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(MARIMO.format(run=run))
    with served(
        notebooks / "marimo", "run", tmp_path / "a.py", "--headless", "--no-token"
    ) as address:
        page = browser.new_page()
        page.goto(address)
        plays(page)
        page.close()
