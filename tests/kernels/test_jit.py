"""The one use of Numba: caches that cannot be written, kernels without a compiler."""

import ast
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from dwell._kernels import _jit

PROBE = (
    "from dwell._kernels import _jit\n"
    "from dwell._kernels.common.arithmetic import cross\n"
    "print(cross(1.0, 2.0, 3.0, 4.5), _jit.cache_root() is None)\n"
)


def fresh(code: str, **environment: str) -> str:
    """What a new interpreter prints."""
    kept = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_a_cache_folder_that_cannot_be_made_is_done_without(tmp_path):
    """A read-only place without a home must not break the import."""
    blocker = tmp_path / "file"
    blocker.write_text("not a folder")
    printed = fresh(PROBE, DWELL_CACHE_DIR=str(blocker / "cache"), DWELL_JIT="1")
    assert printed == "-1.5 True"


def test_a_chosen_cache_folder_is_used(tmp_path):
    printed = fresh(PROBE, DWELL_CACHE_DIR=str(tmp_path), DWELL_JIT="1")
    assert printed == "-1.5 False"
    assert list(tmp_path.rglob("*.nbc"))


def test_without_the_compiler_kernels_are_plain_functions():
    code = PROBE + "import sys; print('numba' in sys.modules, type(cross).__name__)"
    assert fresh(code, DWELL_JIT="0").endswith("False function")


def test_the_cache_is_named_after_the_text_of_all_kernels_it_may_call(tmp_path, monkeypatch):
    shutil.copytree(_jit.ROOT, tmp_path / "kernels")
    monkeypatch.setattr(_jit, "ROOT", tmp_path / "kernels")
    clip, engine = "polygon/halfplane_clip", "polygon/engine"
    arithmetic, philox = "common/arithmetic", "common/philox"
    names = (arithmetic, clip, engine, philox, "star/voronoi")

    def digests():
        _jit.imports_of.cache_clear()
        _jit.cache_folder.cache_clear()
        _jit._records.cache_clear()
        files = [_jit.ROOT / f"{name}.py" for name in names]
        return [*map(_jit.cache_folder, files)]

    def touched(name, text="# one more line\n"):
        before = digests()
        with (_jit.ROOT / f"{name}.py").open("a") as changed:
            changed.write(text)
        return [a != b for a, b in zip(before, digests(), strict=True)]

    assert touched(philox) == [False, False, True, True, False]
    assert touched(clip) == [False, True, True, False, True]
    assert touched(arithmetic) == [True, False, True, False, True]
    assert all(touched("_jit"))
    assert all(touched(philox, "class Pair(NamedTuple):\n    one: float\n"))
    _jit.imports_of.cache_clear()
    _jit.cache_folder.cache_clear()


def test_kernels_import_each_other_in_the_one_way_that_the_cache_reads():
    """Imports of another form would be missing from the names of cache folders."""
    for file in _jit.ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0
                if file.name == "_kept.py" and node.module == "dwell.errors":
                    continue  # the warning of the machinery around kernels
                if node.module.startswith("dwell"):
                    parts = node.module.removeprefix("dwell._kernels.").split(".")
                    assert _jit.ROOT.joinpath(*parts).with_suffix(".py").is_file()
            elif isinstance(node, ast.Import):
                assert not any(alias.name.startswith("dwell") for alias in node.names)


@pytest.mark.skipif(not _jit.ENABLED, reason="nothing is compiled")
def test_kernels_count_no_references():
    """They would at every array that is handed along, and took half of the time."""
    import numba

    from dwell._kernels.polygon import halfplane_clip

    def first(pair, k):
        return pair[k][0]

    text = {}
    for counted in (True, False):
        kernel = numba.njit(first, _nrt=counted)
        kernel((np.ones(2), np.ones(2)), 1)
        text[counted] = next(iter(kernel.inspect_llvm().values()))
    assert "NRT_" in text[True]
    assert "NRT_" not in text[False]
    assert halfplane_clip.farthest.targetoptions["_nrt"] is False
