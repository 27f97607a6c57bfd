"""Files that name Python code: nothing is imported or called but what the user has handed over."""

import json
import shutil
import sys
from importlib.machinery import EXTENSION_SUFFIXES

import h5py
import numpy as np
import pytest

import dwell as library
from dwell._netcdf import digest_of, read_netcdf
from dwell.errors import InputError
from dwell.fleet.journal import JournalWriter
from dwell.live.record import belief_type, sample_type
from dwell.scenario.trust import _secret
from tests.cli.shell import dwell
from tests.scenario.own_law import LAW, TABLES, WITNESS

# Each is the class or the function that a file names, and what would happen if it were followed.
STANDARD = [
    "subprocess:Popen", "os:system", "antigravity:geohash", "this:s", "shutil:rmtree",
    "pathlib:Path", "code:InteractiveConsole", "webbrowser:open", "runpy:run_path", "builtins:exec",
]  # fmt: skip
ELSEWHERE = [
    "numpy:load", "pip.__main__:main", "dwell.__main__:main", "dwell.cli.main:run_command",
    "dwell.fleet.supervisor:main", "numpy.distutils:x", "__main__:Law", "far:Law", "sub.far:Law",
    "matplotlib.pyplot:show",
]  # fmt: skip


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with a scenario and its law; a law elsewhere, on sys.path; the present folder."""
    for name in ("site", "elsewhere", "data"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("WITNESS", str(tmp_path / "witness"))
    monkeypatch.syspath_prepend(str(tmp_path / "elsewhere"))
    _secret.cache_clear()
    (tmp_path / "elsewhere" / "far.py").write_text(WITNESS)
    (tmp_path / "site" / "near.py").write_text(LAW)
    written(tmp_path / "site" / "own.toml", TABLES)
    yield tmp_path
    _secret.cache_clear()
    sys.modules.pop("far", None)


def written(path, tables):
    path.write_text(library.scenario.dump_toml(library.scenario.parse_scenario(tables)))
    return path


def naming(name, key="controller"):
    if key == "controller":
        return {**TABLES, "controller": {"kind": "python", "class": name}}
    named = {"kind": "callable", "function": name}
    plain = {**TABLES, "controller": {"kind": "lloyd", "dt": 0.1}}
    if key == "density":
        return {**plain, "density": named}
    if key == "world":
        return {**plain, "world": [{"from": 0.5, "density": named}]}
    sensor = {"name": "a", "density": named}
    agents = {**plain["agents"], "sensors": [["a"]] * len(plain["agents"]["start"])}
    return {**plain, "agents": agents, "sensor": [sensor]}


def nothing_happened(home):
    return not (home / "witness").exists() and "antigravity" not in sys.modules


@pytest.mark.parametrize("name", [*STANDARD, *ELSEWHERE])
def test_scenarios_name_no_code_from_elsewhere(home, name, capfd):
    path = home / "site" / "evil.toml"
    path.write_text((home / "site" / "own.toml").read_text().replace("near:Law", name))
    for command in (["validate", path], ["run", path], ["design", path]):
        outcome = dwell(*command)
        assert (outcome.code, len(outcome.sentences)) == (2, 1)
        assert name in outcome.sentences[0]
        assert "--allow-code" in outcome.sentences[0]
    assert nothing_happened(home)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("key", ["controller", "density", "world", "sensor"])
@pytest.mark.parametrize("name", ["far:Law", "os:getcwd"])
def test_every_place_that_can_name_code_is_seen(home, key, name):
    path = home / "site" / "evil.json"
    path.write_text(json.dumps(naming(name, key)))
    for command in ("validate", "run"):
        outcome = dwell(command, path)
        assert (outcome.code, name in outcome.sentences[0]) == (2, True)
    assert nothing_happened(home)


@pytest.mark.parametrize("name", STANDARD)
@pytest.mark.parametrize("key", ["controller", "density"])
def test_nor_does_any_option_or_table_name_the_standard_library(home, key, name):
    with pytest.raises(InputError, match="standard library"):
        library.run_scenario(naming(name, key))
    assert nothing_happened(home)


@pytest.mark.parametrize(
    "modules", ["../elsewhere", "{home}/elsewhere", "..", "link", "/", "sub/../../elsewhere"]
)
def test_folders_of_modules_lie_beside_the_file(home, modules):
    (home / "site" / "link").symlink_to(home / "elsewhere")
    (home / "site" / "sub").mkdir()
    tables = {**naming("far:Law"), "modules": modules.format(home=home)}
    path = home / "site" / "evil.json"
    path.write_text(json.dumps(tables))
    outcome = dwell("run", path)
    assert (outcome.code, "--allow-code" in outcome.sentences[0]) == (2, True)
    assert nothing_happened(home)


# Links beside a scenario: what is named, the files that are there, and the links to elsewhere.
NEAR, PACKAGE = "near:Law", "pkg.law:Law"
LINKS = {
    "module": (NEAR, {}, {"near.py": "far.py"}),
    "package": (PACKAGE, {}, {"pkg": "pkg"}),
    "package hides the module": (NEAR, {"near.py": LAW}, {"near": "pkg"}),
    "__init__": (PACKAGE, {"pkg/law.py": LAW}, {"pkg/__init__.py": "far.py"}),
    "__init__ alone": ("pkg:Law", {"pkg/law.py": LAW}, {"pkg/__init__.py": "far.py"}),
    "inner __init__": (
        "pkg.sub.law:Law", {"pkg/__init__.py": "", "pkg/sub/law.py": LAW},
        {"pkg/sub/__init__.py": "far.py"},
    ),
    "submodule": (PACKAGE, {"pkg/__init__.py": ""}, {"pkg/law.py": "far.py"}),
    "submodule of __init__": (
        "pkg:Law", {"pkg/__init__.py": f"from pkg import other\n{LAW}"}, {"pkg/other.py": "far.py"}
    ),
    "inner package": (
        "pkg:Law", {"pkg/__init__.py": f"import pkg.other\n{LAW}"}, {"pkg/other": "pkg"}
    ),
    "a link to a link": (
        PACKAGE, {"pkg/law.py": LAW}, {"there.py": "far.py", "pkg/__init__.py": "../site/there.py"}
    ),
    "compiled": (
        PACKAGE, {"pkg/__init__.py": "", "pkg/law.py": LAW},
        {f"pkg/law{EXTENSION_SUFFIXES[0]}": "far.py"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "files", "links"), LINKS.values(), ids=LINKS)
def test_links_to_elsewhere_are_not_beside_the_file(home, name, files, links):
    site, elsewhere = home / "site", home / "elsewhere"
    (elsewhere / "pkg").mkdir()
    for one in ("__init__.py", "law.py"):
        (elsewhere / "pkg" / one).write_text(WITNESS)
    (site / "near.py").unlink()
    for path, text in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
    for path, target in links.items():
        (site / path).symlink_to(elsewhere / target)
    path = site / "evil.json"
    path.write_text(json.dumps(naming(name)))
    for command in ("validate", "run"):
        outcome = dwell(command, path)
        assert (outcome.code, len(outcome.sentences)) == (2, 1)
        assert "--allow-code" in outcome.sentences[0]
    assert nothing_happened(home)


def test_links_within_the_folder_are_followed(home):
    site = home / "site"
    (site / "code").mkdir()
    (site / "code" / "__init__.py").write_text("")
    (site / "near.py").rename(site / "code" / "law.py")
    (site / "pkg").symlink_to("code")
    (site / "link").symlink_to(site)
    (site / "own.json").write_text(json.dumps(naming(PACKAGE)))
    assert dwell("run", site / "own.json").code == 0
    assert dwell("run", site / "link" / "own.json").code == 0
    (site / "pkg" / "data.csv").symlink_to(home / "elsewhere" / "far.py")  # no code
    assert dwell("run", site / "own.json").code == 0


def test_validate_imports_nothing_even_beside_the_file(home):
    (home / "site" / "near.py").write_text(WITNESS)
    outcome = dwell("validate", home / "site" / "own.toml")
    assert outcome.code == 0
    assert "near:Law was not imported" in outcome.out
    assert nothing_happened(home)
    assert dwell("validate", home / "site" / "own.toml", "--allow-code").code == 0
    assert not nothing_happened(home)


# What a module beside the scenario may hold under the name: it is refused before it is called.
OBJECTS = {
    "a function": "def Law(): touch()",
    "an instance": "class Any:\n    def __call__(self, **k): touch()\nLaw = Any()",
    "no methods": "class Law:\n    def __init__(self, **k): touch()",
    "properties": "class Law:\n    begin = property(lambda s: touch())\n    decide = begin",
    "a metaclass": "class Meta(type):\n    def __getattr__(c, n): touch()\n"
    "    def __call__(c, **k): touch()\nclass Law(metaclass=Meta): pass",
    "another base": "from subprocess import Popen as Law",
    "from elsewhere": "class Law:\n    def begin(s, o): touch()\n    decide = begin\n"
    "Law.__module__ = 'shutil'",
    "getattr": "def __getattr__(name): touch()",
    "a claim of its class": "class Any:\n    __class__ = property(lambda s: touch() or type)\n"
    "Law = Any()",
    "descriptors": "class D:\n    def __get__(s, *a): touch()\n"
    "class Law:\n    begin = decide = D()",
    "one method": "class Law:\n    def begin(s, o): touch()",
}  # fmt: skip
TOUCH = "import os\ndef touch(): open(os.environ['WITNESS'], 'w').close()\n"


@pytest.mark.parametrize("text", OBJECTS.values(), ids=OBJECTS)
def test_objects_are_looked_at_before_they_are_called(home, text):
    (home / "site" / "near.py").write_text(TOUCH + text)
    outcome = dwell("run", home / "site" / "own.toml")
    assert outcome.code == 2
    assert "near:Law" in outcome.sentences[0]
    assert nothing_happened(home)


def stored(home):
    """A run of the law beside the scenario, and then nothing of this user."""
    path = home / "run.nc"
    assert dwell("run", home / "site" / "own.toml", "--out", path).code == 0
    assert dwell("check", path).code == 0
    return path


def forged(path, name=None, modules=None):
    """Another name in a run file; its digest fits again."""
    with h5py.File(path, "r+") as file:
        scenario = json.loads(file.attrs["scenario"])
        scenario["controller"]["class"] = name or scenario["controller"]["class"]
        scenario["modules"] = modules or scenario["modules"]
        file.attrs["scenario"] = json.dumps(scenario)
    renewed(path)


def renewed(path):
    """The digest of a changed file fits again."""
    variables, attributes = read_netcdf(path)
    with h5py.File(path, "r+") as file:
        file.attrs["digest"] = digest_of(variables, attributes)


@pytest.mark.parametrize("name", [*STANDARD, *ELSEWHERE])
def test_runs_name_no_code(home, name):
    path = stored(home)
    forged(path, name, str(home / "elsewhere"))
    assert dwell("show", path).code == 0
    checked = dwell("check", path)
    assert (checked.code, "--allow-code" in checked.sentences[0]) == (2, True)
    assert name in checked.sentences[0]
    assert dwell("run", "--resume", path, "--horizon", 9).code != 0
    assert library.load_run(path).agents == 3
    assert nothing_happened(home)


CHANGES = {
    "parameter": {"controller": {"top_speed": 0.1}},
    "modules": {"modules": "elsewhere"},
    "function": {"density": {"kind": "callable", "function": "near:Law"}},
}


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_a_run_whose_code_or_its_parameters_were_changed_is_not_trusted(home, changes):
    law = {**TABLES["controller"], "top_speed": 0.15}
    density = {"kind": "callable", "function": "near:ridge"}
    written(home / "site" / "own.toml", {**TABLES, "controller": law, "density": density})
    path = stored(home)
    with h5py.File(path, "r+") as file:
        scenario = json.loads(file.attrs["scenario"])
        scenario |= changes | {"controller": scenario["controller"] | changes.get("controller", {})}
        file.attrs["scenario"] = json.dumps(scenario)
    renewed(path)
    checked = dwell("check", path)
    assert (checked.code, "not written by this user" in checked.sentences[0]) == (2, True)
    run = library.load_run(path)
    with pytest.raises(InputError, match="not written by this user"):
        library.run_scenario(run.scenario)


def test_a_run_of_another_user_is_shown_and_checked_with_leave_alone(home, monkeypatch):
    path = stored(home)
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "another"))
    _secret.cache_clear()
    assert "not written by this user" in dwell("check", path).sentences[0]
    run = library.load_run(path)
    assert repr(run).startswith("<Run of Law: 3 agents")
    for again in (lambda: library.check(run), lambda: library.run_scenario(run.scenario)):
        with pytest.raises(InputError, match="not written by this user"):
            again()
    assert dwell("check", path, "--allow-code").code == 0
    assert library.check(library.load_run(path, allow_code=True)).ok


def test_a_module_put_beside_a_run_of_ones_own_is_not_taken_for_that_which_ran(home):
    path = stored(home)
    shutil.copy(home / "site" / "near.py", home / "near.py")
    assert dwell("check", path).code == 0
    (home / "near.py").write_text(WITNESS)
    assert dwell("check", path).code == 0  # with the module that ran
    assert nothing_happened(home)


SWEEPS = {
    "class": {"grid": {"controller.class": ["near:Law", "far:Law"]}},
    "controller": {"grid": {"controller": [{"kind": "python", "class": "far:Law"}]}},
    "density": {"grid": {"density": [{"kind": "callable", "function": "far:ridge"}]}},
    "function": {"zip": {"density.function": ["far:ridge"], "run.seed": [1]}},
    "kind": {"grid": {"controller.kind": ["lloyd", "far:Law"]}},
    "laws": {"grid": {"controller.kind": ["python"]}, "laws": {"python": {"class": "far:Law"}}},
    "modules": {"grid": {"modules": ["../elsewhere"]}},
    "scenario": {"scenario": naming("far:Law")},
    "folder": {"scenario": {**TABLES, "modules": "../elsewhere"}},
    "world": {"scenario": naming("far:ridge", "world")},
    "standard": {"grid": {"controller.class": ["subprocess:Popen"]}},
}


@pytest.mark.parametrize("tables", SWEEPS.values(), ids=SWEEPS)
def test_sweeps_name_no_code_from_elsewhere(home, tables):
    path = home / "site" / "sweep.json"
    path.write_text(json.dumps({"scenario": "own.toml", **tables}))
    outcome = dwell("sweep", path, "--dry-run")
    assert (outcome.code, len(outcome.sentences)) == (2, 1)
    assert nothing_happened(home)
    assert dwell("sweep", path, "--out", home / "out").code == 2
    assert nothing_happened(home)


def test_the_folder_of_a_sweep_is_ones_own_or_names_no_code(home):
    path = home / "site" / "sweep.json"
    path.write_text(json.dumps({"scenario": "own.toml", "grid": {"run.seed": [1]}}))
    assert dwell("sweep", path, "--out", home / "out", "--workers", 1).code == 0
    assert dwell("sweep", home / "out", "--dry-run").code == 0
    plan = json.loads((home / "out" / "sweep.json").read_text())
    plan["sweep"]["scenario"] |= {"modules": str(home / "elsewhere")}
    plan["sweep"]["scenario"]["controller"]["class"] = "far:Law"
    (home / "out" / "sweep.json").write_text(json.dumps(plan))
    assert dwell("sweep", home / "out", "--dry-run").code == 2
    assert nothing_happened(home)


@pytest.mark.parametrize("name", [*STANDARD, *ELSEWHERE])
def test_journals_name_no_code(home, name):
    folder = home / "log"
    folder.mkdir()
    header = {
        "run": "r", "host": "agent-0000", "agents": [0, 1, 2], "boot": 0, "dimension": 2,
        "scenario": {**naming(name), "modules": str(home / "elsewhere")}, "settings": {},
        "exact": True, "shared_clock": True, "machine": "m", "seal": "0" * 64,
    }  # fmt: skip
    journal = JournalWriter(folder / "agent-0000-0000.journal", header)
    journal.sample(np.zeros((), sample_type(2)), np.zeros(0, belief_type(2)))
    journal.close()
    outcome = dwell("merge", folder, "--out", home / "live.nc", "--partial")
    assert outcome.code != 0
    assert name in outcome.sentences[-1]
    assert "--allow-code" in outcome.sentences[-1]
    assert nothing_happened(home)


def linked(path, how):
    """A run file of which one variable lies in another file."""
    other = path.with_name("other.h5")
    with h5py.File(path, "r") as file:
        values = file["start_position"][...]
    with h5py.File(other, "w") as file:
        file["start_position"] = values
    other.with_suffix(".raw").write_bytes(values.tobytes())
    with h5py.File(path, "r+") as file:
        del file["start_position"]
        if how == "external link":
            file["start_position"] = h5py.ExternalLink(str(other), "start_position")
        elif how == "external data":
            raw = [(str(other.with_suffix(".raw")), 0, values.nbytes)]
            file.create_dataset("start_position", values.shape, values.dtype, external=raw)
        elif how == "virtual":
            layout = h5py.VirtualLayout(values.shape, values.dtype)
            layout[...] = h5py.VirtualSource(str(other), "start_position", values.shape)
            file.create_virtual_dataset("start_position", layout)
        else:
            file["start_position"] = h5py.SoftLink("/position")


@pytest.mark.parametrize("how", ["external link", "external data", "virtual", "soft link"])
def test_runs_read_no_other_file(home, how):
    path = stored(home)
    linked(path, how)
    for command in ("show", "check"):
        outcome = dwell(command, path)
        assert (outcome.code, len(outcome.sentences)) == (2, 1)
        assert "run.nc" in outcome.sentences[0]
