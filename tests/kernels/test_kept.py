"""Compiled kernels on disk: damage is compiled anew, and a full disk stops nothing."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dwell
from dwell._kernels import _jit
from dwell.errors import DwellWarning

pytestmark = pytest.mark.skipif(not _jit.ENABLED, reason="nothing is compiled")


def tripled(x):
    return 3.0 * x + 0.0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache of one kernel for two kinds of number."""
    from dwell._kernels import _kept

    monkeypatch.setattr(_jit, "cache_folder", lambda file: tmp_path)
    monkeypatch.setattr(_kept, "_WARNED", [])
    assert loaded_or_compiled() == (2, 4.5)
    assert loaded_or_compiled() == (0, 4.5)
    return tmp_path


def loaded_or_compiled() -> tuple[int, float]:
    """How often a new process would compile, and what the kernel returns."""
    count = []
    with _jit.compilations(lambda: count.append(1)):
        kernel = _jit.njit(tripled)
        assert kernel(2) == 6.0
        found = kernel(1.5)
    return len(count), found


def files(folder: Path, kind: str) -> list[Path]:
    found = sorted(folder.rglob(f"*.{kind}"))
    assert found
    return found


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-7])


def halved(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def garbled(file: Path) -> None:
    file.write_bytes(b"garbage\n" * 40)


def flipped(file: Path) -> None:
    """One bit of the machine code is another: nothing but a digest can tell."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def removed(file: Path) -> None:
    file.unlink()


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


DAMAGE = [emptied, cut, halved, garbled, flipped, removed]


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_damaged_files_are_compiled_anew_and_overwritten(folder, damage, kind):
    for file in files(folder, kind):
        damage(file)
    assert loaded_or_compiled() == (2, 4.5)
    assert loaded_or_compiled() == (0, 4.5)


def test_of_two_files_only_the_damaged_one_is_compiled(folder):
    first, _ = files(folder, "nbc")
    cut(first)
    assert loaded_or_compiled()[1] == 4.5
    assert loaded_or_compiled() == (0, 4.5)
    assert len(files(folder, "nbc")) == 2


def test_a_file_is_taken_for_what_it_holds_and_not_for_its_name(folder):
    """As after a write that changed places with another: the code is of another signature."""
    one, two = files(folder, "nbc")
    content = one.read_bytes()
    one.write_bytes(two.read_bytes())
    two.write_bytes(content)
    assert loaded_or_compiled() == (2, 4.5)


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_what_cannot_be_overwritten_is_done_without(folder, kind):
    for file in files(folder, kind):
        a_folder(file)
    if kind == "nbi":
        with pytest.warns(DwellWarning, match="cannot be kept in the cache folder"):
            assert loaded_or_compiled() == (2, 4.5)
    else:
        assert loaded_or_compiled()[1] == 4.5


@pytest.mark.parametrize("fault", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_a_disk_that_takes_nothing_is_told_once(folder, monkeypatch, fault):
    from dwell._kernels import _kept

    def refuse(self, path):
        raise OSError(fault, os.strerror(fault), path)

    for file in files(folder, "nbc"):
        file.unlink()
    monkeypatch.setattr(_kept._Files, "_open_for_write", refuse)
    with pytest.warns(DwellWarning, match=os.strerror(fault)) as told:
        assert {loaded_or_compiled() for _ in range(2)} == {(2, 4.5)}
    assert len(told) == 1
    assert "set DWELL_CACHE_DIR" in str(told[0].message)


def test_a_folder_that_cannot_be_made_is_told(tmp_path, monkeypatch):
    from dwell._kernels import _kept

    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(_jit, "cache_folder", lambda file: tmp_path / "file")
    monkeypatch.setattr(_kept, "_WARNED", [])
    with pytest.warns(DwellWarning, match="its folders cannot be written"):
        assert loaded_or_compiled() == (2, 4.5)


SITE = {
    "workspace": {"kind": "box", "lower": [0.0], "upper": [1.0]},
    "agents": {"start": [[0.2], [0.7]]},
    "controller": {"kind": "timer", "k1": 0.4, "nu": 0.2, "t1": 0.1, "t2": 0.3},
    "run": {"horizon": 1.0, "seed": 1},
}
TRIED = """
import contextlib, io, json, sys
import dwell
from dwell.cli.main import main
folder = sys.argv[1]
with contextlib.redirect_stdout(io.StringIO()):
    sys.argv = ["dwell", "run", f"{folder}/site.toml", "--out", f"{folder}/new.nc", "--force"]
    try:
        code = main()
    except SystemExit as end:
        code = end.code or 0
run = dwell.load_run(f"{folder}/run.nc")
same = dwell.load_run(f"{folder}/new.nc").events.time.tolist() == run.events.time.tolist()
print(json.dumps([code, same, dwell.check(run).ok]))
"""


def in_new_process(folder: Path, cache: Path) -> tuple[list[object], str]:
    """What a run, a load and a check return with this cache, and what they complain about."""
    done = subprocess.run(
        [sys.executable, "-c", TRIED, str(folder)],
        env={**os.environ, "DWELL_CACHE_DIR": str(cache), "DWELL_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A scenario on a line, its run, and a cache that holds what it takes."""
    from dwell.scenario import dump_toml

    folder = tmp_path_factory.mktemp("kept")
    (folder / "site.toml").write_text(dump_toml(SITE), "utf-8")
    dwell.run_scenario(folder / "site.toml", out=folder / "run.nc", progress=False)
    in_new_process(folder, folder / "cache")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("damage", [emptied, halved, garbled])
def test_a_run_a_load_and_a_check_do_not_mind(site, tmp_path, damage):
    """Each third kernel has its code damaged, each third its index, each third neither."""
    cache = shutil.copytree(site / "cache", tmp_path / "cache")
    for kind, first in (("nbc", 0), ("nbi", 1)):
        for file in files(cache, kind)[first::3]:
            damage(file)
    assert in_new_process(site, cache) == ([0, True, True], "")
    kept = {file: file.read_bytes() for file in cache.rglob("*.nbc")}
    assert in_new_process(site, cache) == ([0, True, True], "")
    assert {file: file.read_bytes() for file in cache.rglob("*.nbc")} == kept
