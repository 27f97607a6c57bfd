"""Files: which are read, which are refused, and where the fault is."""

from __future__ import annotations

import ast
import json
import os
import sys
from itertools import product
from pathlib import Path

import pytest

import dwell.scenario.schema
from dwell.errors import InputError, ScenarioError
from dwell.scenario import load_scenario, parse_scenario, text_to_mapping
from tests.scenario.conftest import small

GOOD = """
[workspace]
kind = "box"
lower = [0, 0]
upper = [4, 4]
[agents]
start = [[1, 1], [2, 2], [3, 3]]
[controller]
kind = "timer"
k1 = 1.0
nu = 0.5
t1 = 0.1
t2 = 0.2
[run]
horizon = 10.0
seed = 1
"""


@pytest.fixture
def write(tmp_path):
    def put(content, name="s.toml"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return put


def error_of(path, *overrides):
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path, overrides)
    assert len(str(caught.value).splitlines()) <= 5
    return caught.value


ACCEPTED = {  # name and content
    "P22-hex": ("s.toml", GOOD.replace("seed = 1", "seed = 0x1")),
    "P23-bom": ("s.toml", b"\xef\xbb\xbf" + GOOD.encode()),
    "P23-bom-json": ("s.json", b"\xef\xbb\xbf" + json.dumps(small()).encode()),
    "P23-crlf": ("s.toml", GOOD.replace("\n", "\r\n").encode()),
    "P23-json": ("s.json", json.dumps(small())),
    "P23-suffix": ("s.TOML", GOOD),
    "P23-no-suffix": ("plain", GOOD),
    "P23-no-suffix-json": ("plain.txt", "\n " + json.dumps(small())),
    "P24": ("s.toml", "schema_version = 1\n" + GOOD),
    "P24-missing": ("s.toml", GOOD),
}


@pytest.mark.parametrize(("name", "content"), ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(write, base, name, content):
    path = write(content, name)
    assert load_scenario(path) == load_scenario(str(path)) == parse_scenario(base)


def test_any_letters_make_a_name(write):
    assert load_scenario(write('name = "Überwachung 覆盖 🛰"\n' + GOOD)).name == "Überwachung 覆盖 🛰"


def test_overrides(write):
    scenario = load_scenario(write(GOOD), ["controller.t2=0.5", "run.seed=9"])
    assert (scenario.controller.t2, scenario.run.seed) == (0.5, 9)


BAD_BYTES = {
    "P23-utf16": (GOOD.encode("utf-16"), "scenario.encoding", "UTF-16"),
    "P23-utf16-no-bom": (GOOD.encode("utf-16-le"), "scenario.encoding", "NUL"),
    "P23-nul": (GOOD.encode() + b"\0", "scenario.encoding", f"offset {len(GOOD)}"),
    "P23-latin1": (b'name = "\xe9"', "scenario.encoding", "offset 8"),
    "P23-surrogate": (b'name = "\xed\xa0\x80"', "scenario.encoding", "UTF-8"),
    "P23-size": (b"#" * ((1 << 20) + 1), "scenario.too-large", "1048576 bytes"),
    "P23-key-parts": (b"a." * 20_000 + b"a=1", "scenario.too-deep", "line 1, column 32"),
    "P23-header-parts": (b"[" + b"a." * 20 + b"a]", "scenario.too-deep", "16 parts"),
    "P23-quoted-parts": (b'"a".' * 20 + b'"a" = 1', "scenario.too-deep", "16 parts"),
    "P23-arrays": (b"\na=" + b"[" * 10_000, "scenario.too-deep", "line 2, column 67"),
    "P23-inline": (b"a=" + b"{a=" * 10_000, "scenario.too-deep", "64 nested"),
    "P22-digits": (b"[run]\nseed = " + b"1" * 4400, "scenario.too-long", "line 2, column 8"),
    "P22-digits_": (b"seed = " + b"1_" * 4400 + b"1", "scenario.too-long", "line 1, column 8"),
    "syntax": (b"[run]\nhorizon = \n", "scenario.syntax", "line 2, column 11"),
    "syntax-end": (b"[run]\nhorizon = [1,\n", "scenario.syntax", "line 3, column 1"),
    "P21-toml": (b"a = 1\na = 2\n", "scenario.syntax", "line 2"),
}
BAD_JSON = {
    "P21": ('{"run": {"seed": 1, "seed": 2}}', "scenario.duplicate-key", '"seed" twice'),
    "P22-nan": ('{"run": {"horizon": NaN}}', "scenario.not-finite", "NaN"),
    "P22-infinity": ('{"run": {"horizon": -Infinity}}', "scenario.not-finite", "-Infinity"),
    "P22-1e400": ('{"run": {"horizon": 1e400}}', "scenario.not-finite", "1e400"),
    "P22-digits": ('{"run": {"seed": ' + "9" * 5000 + "}}", "scenario.too-long", "column 18"),
    "P23-arrays": ('{"a": ' + "[" * 100_000, "scenario.too-deep", "64 nested"),
    "syntax": ('{\n "a": }', "scenario.syntax", "JSON at line 2, column 7"),
    "list": ("[1, 2]", "scenario.type", "must be a table"),
    "empty": ("", "scenario.syntax", "line 1, column 1"),
}


@pytest.mark.parametrize(
    ("name", "bad"), [*product(["s.toml"], BAD_BYTES), *product(["s.json"], BAD_JSON)]
)
def test_bad_content(write, name, bad):
    content, code, words = (BAD_BYTES if name == "s.toml" else BAD_JSON)[bad]
    error = error_of(write(content, name))
    assert error.code == code
    assert words in str(error)
    assert str(error).endswith(".")


def test_brackets_inside_strings_and_comments_count_for_nothing():
    brackets, dots = "[" * 500, "a." * 500
    text = f'# {brackets} {dots}\na = \'{brackets}{dots}\'\nb = "\\"{brackets}{dots}"\n'
    text += f'c = \'\'\'\n\'{brackets}{dots}\'\'\'\'\nd = """\n"\\"{brackets}{dots}""""\n'
    mapping = text_to_mapping(text)
    assert mapping["a"] == brackets + dots
    assert mapping["c"].count("[") == 500
    assert text_to_mapping("a = " + "[" * 60 + "]" * 60)


def test_p22_toml_nan_names_the_key(write):
    error = error_of(write(GOOD.replace("t1 = 0.1", "t1 = nan")))
    assert str(error) == "controller.t1 needs a finite number, got nan."


def test_p25_no_such_file():
    for name in ("nothing.toml", "~/none.toml", "file:///etc/hosts", "a\nb", "a\0b"):
        error = error_of(name)
        assert error.code == ("scenario.unreadable" if "\0" in name else "scenario.not-found")
        assert str(error).count("\n") == 0
    with pytest.raises(InputError, match="5000 characters long") as caught:
        load_scenario("x" * 5000)
    assert caught.value.code == "path"
    assert len(str(caught.value)) < 200


def test_p25_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    os.symlink(tmp_path, tmp_path / "dir.toml")
    places = {tmp_path: "a directory", tmp_path / "dir.toml": "a directory", "/dev/zero": "device"}
    for path, what in (places | {tmp_path / "pipe.toml": "pipe"}).items():
        error = error_of(path)
        assert error.code == "scenario.not-a-file"
        assert what in str(error)


def test_p25_unreadable(write):
    path = write(GOOD)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    assert error_of(path).code == "scenario.unreadable"


def test_an_odd_file_name_does_not_break_the_line(write):
    error = error_of(write("a = ", "odd\nname.toml"))
    assert str(error).count("\n") == 0
    assert error.code == "scenario.syntax"


DATA_HALF = (
    "values", "checks", "problems", "explain", "guards", "load",
    "overrides", "templates",
)  # fmt: skip


@pytest.mark.parametrize("name", DATA_HALF)
def test_the_data_half_imports_no_other_folder_and_no_arrays(name):
    source = Path(dwell.scenario.schema.__file__).with_name(f"{name}.py").read_text("utf-8")
    imported = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            imported.add(node.module)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 1
    roots = {module.split(".")[0] for module in imported - {"dwell.errors"}}
    assert roots <= {*sys.stdlib_module_names, "pydantic", "pydantic_core"}
