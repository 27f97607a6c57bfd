"""A law and a density of one's own, in a file beside the scenario: every command takes them."""

from __future__ import annotations

import importlib
import os
import random
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import pyarrow.parquet as pq
import pytest

import dwell as library
from dwell.agents import Command
from dwell.density import Function
from dwell.errors import InputError
from dwell.runner import resume_run
from dwell.scenario.describe import describe_controller
from dwell.scenario.modules import find_code, name_of
from dwell.sweep import plan_file
from dwell.sweep.cases import run_case
from tests.cli.conftest import SCENARIO
from tests.cli.shell import dwell
from tests.results.crashes import same

CODE = '''
from dataclasses import dataclass

import numpy as np

from dwell.agents import Command, Traits


@dataclass(frozen=True)
class Seen:
    looks: int


@dataclass(frozen=True)
class Careful:
    """Slower with every look."""

    k: float
    wait: float = 0.2
    factors: tuple = (1.0, 0.9)
    nu: float = 0.3

    @property
    def traits(self):
        return Traits(nu=self.nu)

    def begin(self, view):
        return self.decide(view)

    def decide(self, view):
        seen = view.memory or Seen(0)
        gain = self.k * self.factors[min(seen.looks, 1)] ** seen.looks
        next_at = view.time + self.wait * (0.5 + view.draw)
        return Command(gain * view.measurement.error, next_at, memory=Seen(seen.looks + 1))


@dataclass(frozen=True)
class Still(Careful):
    k: float = 0.1


class Open(Careful):
    def __init__(self, **keys):
        super().__init__(**keys)


def ridge(points):
    return 0.5 + np.exp(-((points[:, 1] - 2.0) ** 2))
'''
OWN = SCENARIO.partition("[controller]")[0] + (
    '[controller]\nkind = "python"\nclass = "mine:Careful"\nk = 0.5\n'
    "[run]\nhorizon = 2.0\nseed = 1\nrecord = { sample_every = 0.5 }\n"
)
RIDGE = "density={kind = 'callable', function = 'mine:ridge'}"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scenario and its module in a folder that is neither the present one nor on sys.path."""
    folder, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (folder / "mine.py").write_text(CODE)
    (folder / "own.toml").write_text(OWN)
    monkeypatch.chdir(elsewhere)
    return folder / "own.toml"


def edit(site: Path, old: str, new: str) -> None:
    """Replaces text of the module and keeps its time, as an edit within one second does."""
    module = site.with_name("mine.py")
    text, time = module.read_text(), module.stat().st_mtime_ns
    assert old in text
    module.write_text(text.replace(old, new))
    os.utime(module, ns=(time, time))


@pytest.mark.parametrize("density", [(), ("--set", RIDGE)], ids=["hill", "own"])
def test_run_save_show_check_resume_and_plot(site, density):
    short = ("--set", "run.horizon=1.0", "--set", "run.record.sample_every=off")
    ran = dwell("run", site, *density, *short, "--out", "run.nc", "--json")
    assert ran.code == 0
    assert ran.json["law"] == "mine:Careful"
    assert dwell("show", "run.nc", "--json").json == ran.json
    report = dwell("check", "run.nc", "--json").json
    assert report["ok"]
    assert {f["name"]: f["status"] for f in report["checks"]}["source"] == "holds"
    assert dwell("run", "--resume", "run.nc", "--horizon", 1.5, "--json").code == 0
    longer = ("--set", "run.horizon=1.5", "--set", "run.record.sample_every=off")
    assert dwell("run", site, *density, *longer, "--out", "whole.nc").code == 0
    assert same(library.load_run("whole.nc"), library.load_run("run.nc"))
    assert dwell("plot", "run.nc", "--out", "figures").code == 0


def test_a_law_that_raises_half_way_leaves_the_run_up_to_there(site):
    fails = "        assert view.time < 1.2, 'no more'\n        seen = view.memory or Seen(0)"
    edit(site, "        seen = view.memory or Seen(0)", fails)
    ran = dwell("run", site, "--out", "run.nc", "--json")
    assert ran.code == 1
    assert f"error: {ran.err}" == ran.json["stop"]["detail"].replace(" ", " dwell: ", 1) + "\n"
    assert "mend the law" in dwell("show", "run.nc").out
    assert re.search("Careful failed for agent .* AssertionError: no more", ran.err)
    assert (ran.json["stop"]["reason"], ran.json["file"]) == ("interrupted", "run.nc")
    kept = library.load_run("run.nc")
    assert 1.0 < kept.horizon < 1.2
    assert (kept.events.time < 1.2).all()
    assert kept.arc.states[-1].segments.next_at.min() >= 1.2
    assert library.check(kept).ok
    assert dwell("run", "--resume", "run.nc").code == 1  # the same again
    with pytest.raises(InputError, match="no more"):
        library.simulate_many(site, seeds=[1])


def test_rates_of_a_law_by_its_class(site):
    """A class that is one of the built-in laws has a rate, and no gains of its own kind."""
    law = ("controller={kind='python',class='dwell:Lloyd'}", "run.horizon=1.0")
    found = dwell("rates", site, "--set", law[0], "--set", law[1], "--json")
    assert found.code == 0, found.err
    assert found.json["gains"].get("python", {}) == {}


def test_a_run_that_moved_goes_on_with_its_scenario_file(site):
    assert dwell("run", site, "--out", "run.nc").code == 0
    shutil.copy(site.with_name("mine.py"), "mine.py")
    assert dwell("run", site, "--resume", "run.nc", "--horizon", 2.5).code == 0
    site.write_text(OWN.replace("k = 0.5", "k = 0.6"))
    says = dwell("run", site, "--resume", "run.nc", "--horizon", 3).sentences[0]
    assert "another scenario" in says


@pytest.mark.exhaustive
def test_sweep_on_two_processes(site):
    table = 'scenario = "own.toml"\nrepeats = 2\n[grid]\n"controller.k" = [0.2, 0.4]\n'
    sweep = site.with_name("sweep.toml")
    sweep.write_text(table)
    found = dwell("sweep", sweep, "--out", "out", "--workers", 2, "--json").json
    assert (found["done"], found["failed"], found["computed"]) == (4, 0, 4)
    rows = pq.read_table("out/runs.parquet").to_pylist()
    assert [row["controller.k"] for row in rows] == [0.2, 0.2, 0.4, 0.4]
    assert {row["law"] for row in rows} == {"mine:Careful"}
    assert rows[0]["cost.final"] > rows[2]["cost.final"]
    assert dwell("sweep", sweep, "--out", "out", "--json").json["computed"] == 0
    edit(site, "0.9)", "0.8)")  # rows of another law are not rows of this one
    assert "holds another sweep" in dwell("sweep", sweep, "--out", "out").sentences[0]


def test_a_sweep_over_laws_gives_each_its_own_keys(site):
    site.with_name("small.toml").write_text(SCENARIO)
    grid = '"controller.kind" = ["timer", "python"]\n"controller.t2" = [0.2, 0.3]\n'
    table = f'scenario = "small.toml"\n[grid]\n{grid}"controller.k" = [0.2, 0.4]\n'
    sweep = site.with_name("sweep.toml")
    sweep.write_text(f'{table}[laws.python]\nclass = "mine:Careful"\n')
    plan = dwell("sweep", sweep, "--dry-run", "--json").json
    assert plan["points"] == 4
    sweep.write_text(f'{table}"controller.q" = [1, 2]\n[laws.python]\nclass = "mine:Careful"\n')
    assert "controller.q is varied" in dwell("sweep", sweep, "--dry-run").sentences[0]


def test_a_class_of_any_keys_is_swept_over_them(site):
    site.write_text(OWN.replace("Careful", "Open"))
    sweep = site.with_name("sweep.toml")
    sweep.write_text('scenario = "own.toml"\n[grid]\n"controller.wait" = [0.1, 0.4]\n')
    found = dwell("sweep", sweep, "--out", "out", "--json").json
    assert found["computed"] == 2
    rows = pq.read_table("out/runs.parquet").to_pylist()
    assert [row["controller.wait"] for row in rows] == [0.1, 0.4]
    assert rows[0]["events.total"] > rows[1]["events.total"]


def test_a_source_that_changes_during_a_sweep_fails_its_cases(site):
    site.with_name("s.toml").write_text('scenario = "own.toml"\n[grid]\n"controller.k" = [0.2]\n')
    plan = plan_file(site.with_name("s.toml"))
    template = plan.template
    edit(site, "0.9)", "0.8)")
    row = run_case(template.case(plan.spec(0)), template, {})
    assert (row["status"], "mine is not the one" in row["failure"]) == ("failed", True)


def test_compare(site):
    laws = "python,lloyd,mine:Still"
    found = dwell("compare", site, "--laws", laws, "--set", "lloyd.dt=0.2", "--json").json
    assert [row["law"] for row in found["laws"].values()] == ["mine:Careful", "lloyd", "mine:Still"]
    errors = [row["error"]["final_max"] for row in found["laws"].values()]
    assert errors[2] > errors[0]
    site.with_name("small.toml").write_text(SCENARIO)
    arguments = ("compare", site.with_name("small.toml"), "--laws", "timer,mine:Careful")
    assert "missing 1 required" in dwell(*arguments).sentences[0]
    found = dwell(*arguments, "--set", "python.k=0.5", "--set", "run.horizon=1", "--out", "cmp")
    assert found.code == 0
    assert dwell("check", "cmp/mine-Careful.nc").code == 0
    twice = dwell("compare", site, "--laws", "python,mine:Careful").sentences[0]
    assert "the same law with the same parameters" in twice


def test_another_source_is_noted_by_check_and_refused_by_resume(site):
    assert dwell("run", site, "--out", "run.nc").code == 0
    edit(site, '"""Slower with every look."""', '"""Slower and slower."""')
    report = dwell("check", "run.nc", "--json").json
    found = {f["name"]: f for f in report["checks"]}["source"]
    assert report["ok"]
    changed = "module mine has changed since the run was stored"
    assert (found["status"], found["where"]) == ("changed", changed)
    assert found["says"] == "checked with the code as it is now, not as it ran"
    verdict = dwell("check", "run.nc").out.splitlines()[-1]
    assert f"is a solution of its scenario; {changed}" in verdict
    says = dwell("run", "--resume", "run.nc", "--horizon", 3).sentences[0]
    assert "made with another source of module mine" in says
    edit(site, "** seen.looks", "** (seen.looks + 1)")
    report = dwell("check", "run.nc", "--json")
    assert report.code == 1
    assert {f["name"]: f for f in report.json["checks"]}["jump"]["status"] == "violated"


@pytest.mark.exhaustive
@pytest.mark.parametrize("record", ["events", "samples", "summary"])
@pytest.mark.parametrize("density", [(), ("--set", RIDGE)], ids=["hill", "own"])
def test_without_the_module_a_run_is_shown_and_plotted(site, density, record):
    ran = dwell(
        "run", site, *density, "--set", f"run.record.kind={record}", "--set", "run.horizon=1",
        "--out", "run.nc", "--json",
    )  # fmt: skip
    site.with_name("mine.py").rename(site.with_name("hidden.py"))
    shown = dwell("show", "run.nc", "--json").json
    note = shown["flags"].pop()
    assert shown == ran.json
    assert note["code"] == "without-code"
    assert str(site.parent) in note["says"]
    assert "put mine.py beside" in note["says"]
    assert repr(library.load_run("run.nc")).startswith("<Run of Careful: 4 agents")
    assert dwell("plot", "run.nc", "--out", "figures").code == 0
    assert Path("figures/cost.png").exists()
    assert Path("figures/configurations.png").exists() == (not density)
    for command in (["check", "run.nc"], ["run", "--resume", "run.nc", "--horizon", 3]):
        assert "No module named 'mine'" in dwell(*command).sentences[0]
    site.with_name("hidden.py").rename("mine.py")  # beside the run, wherever that has gone
    assert dwell("show", "run.nc", "--json").json == ran.json
    if record == "events":
        assert dwell("check", "run.nc").code == 0


def test_flags_without_the_module_survive_another_save(site):
    assert dwell("run", site, "--set", RIDGE, "--out", "run.nc").code == 0
    site.with_name("mine.py").unlink()
    library.load_run("run.nc").save("again.nc")
    again = library.load_run("again.nc")
    assert [flag.code for flag in again.flags] == ["without-code"]
    with h5py.File("again.nc", "r+") as file:
        file.attrs["title"] = "changed"
    changed = library.load_run("again.nc")
    assert [flag.code for flag in changed.flags] == ["altered", "without-code"]
    assert [flag["code"] for flag in changed.summary()["flags"]] == ["altered", "without-code"]


def test_modules_of_one_name_in_two_folders_keep_their_own_helpers(tmp_path):
    found = []
    for gain in (1.0, 2.0, 3.0):
        folder = tmp_path / str(gain)
        folder.mkdir()
        (folder / "helper.py").write_text(f"G = {gain}\n")
        (folder / "laws.py").write_text("from helper import G\n\n\ndef law():\n    return G\n")
        found.append(find_code("density.function", "laws:law", str(folder))())
    assert found == [1.0, 2.0, 3.0]
    assert not {"laws", "helper"} & set(sys.modules)


def test_modules_are_imported_inside_functions_too(tmp_path):
    (tmp_path / "helper.py").write_text("G = 2.0\n")
    package = tmp_path / "parts"
    package.mkdir()
    (package / "__init__.py").write_text("from . import first\n")
    (package / "first.py").write_text("F = 3.0\n")
    (package / "second.py").write_text("import parts.first as one\n\nS = one.F\n")
    text = "def law():\n    import helper\n    import parts.second\n    from parts import first\n"
    (tmp_path / "laws.py").write_text(f"{text}    return helper.G, parts.second.S, first.F\n")
    assert find_code("density.function", "laws:law", str(tmp_path))() == (2.0, 3.0, 3.0)


@pytest.mark.parametrize("loaded", [True, False])
def test_while_a_module_is_imported_other_code_imports_what_it_always_does(
    tmp_path, monkeypatch, loaded
):
    for name in ("elsewhere", "site"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "one_of_two.py").write_text(f"WHERE = {name!r}\n")
    lazy = "def where():\n    import one_of_two\n    return one_of_two.WHERE\n"
    (tmp_path / "elsewhere" / "imports_late.py").write_text(lazy)
    text = "import one_of_two\nfrom imports_late import where\n\nSEEN = where()\n"
    text += "def law():\n    return one_of_two.WHERE, SEEN\n"
    (tmp_path / "site" / "laws.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path / "elsewhere"))
    for name in ("one_of_two", "imports_late"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    if loaded:
        importlib.import_module("one_of_two")
    found = find_code("density.function", "laws:law", str(tmp_path / "site"))
    assert found() == ("site", "elsewhere")
    for name in ("one_of_two", "imports_late"):
        sys.modules.pop(name)


def test_a_law_and_a_density_in_two_folders_cannot_be_saved(tmp_path, monkeypatch):
    for name in ("first_of_two", "second_of_two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.py").write_text(CODE)
        monkeypatch.syspath_prepend(str(tmp_path / name))
    law, weight = (importlib.import_module(name) for name in ("first_of_two", "second_of_two"))
    box, start = library.Box((0, 0), (4, 4)), [(1, 1), (3, 2)]
    weighted = Function(weight.ridge, name="second_of_two:ridge")
    run = library.simulate(box, weighted, start, law.Careful(0.5), until=0.3)
    with pytest.raises(InputError, match="cannot be kept"):
        run.save("run.nc")


def test_positions_without_the_module_are_the_same(site):
    edit(site, "Traits(nu=self.nu)", "SLOWING")
    edit(site, "from dwell.agents import Command, Traits", IMPORTS)
    edit(site, "memory=Seen", "cruise=0.01, memory=Seen")
    assert dwell("run", site, "--out", "run.nc").code == 0
    times = np.linspace(0.0, 2.0, 7)
    before = library.load_run("run.nc").positions(times)
    site.with_name("mine.py").unlink()
    assert library.load_run("run.nc").positions(times).tobytes() == before.tobytes()


IMPORTS = """from dwell.agents import Command, Information, Traits
SLOWING = Traits(nu=0.3, fade=2.0, information=Information(own="always"))"""

REFUSED = {
    "q": ("controller.q=3", "unexpected keyword argument 'q'"),
    "module": ("controller.class=nowhere:Law", "put nowhere.py beside the scenario or run file"),
    "class": ("controller.class=mine:Nothing", "has no attribute 'Nothing'"),
    "no law": ("controller.class=mine:Seen", "has no method begin(observation)"),
    "form": (
        "controller.class=mine",
        'needs the name of Python code, written "package.module:name"',
    ),
    "number": ("controller.class=mine:np", "which is no class"),
    "date": ("controller.k=1979-05-27", "needs finite numbers, text, true or false"),
    "nan": ("controller.k=[1.0, nan]", "needs finite numbers, text, true or false"),
    "folder": ("modules=nowhere", "nowhere or on sys.path"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(site, name):
    override, says = REFUSED[name]
    assert says in dwell("validate", site, "--allow-code", "--set", override).sentences[0]


def test_missing_parameters_and_faulty_modules_are_named(site):
    site.write_text(OWN.replace("k = 0.5\n", ""))
    (says,) = dwell("validate", site, "--allow-code").sentences
    assert '"mine:Careful"' in says
    assert "missing 1 required positional argument: 'k'" in says
    assert "its parameters are k, wait, factors and nu" in says
    site.write_text(OWN.replace('class = "mine:Careful"\n', ""))
    assert "controller.class is missing" in dwell("validate", site, "--allow-code").sentences[0]
    site.write_text(OWN)
    edit(site, "def ridge(points):", "def ridge(points:")
    assert "SyntaxError" in dwell("validate", site, "--allow-code").sentences[0]


def test_a_module_of_the_standard_library_keeps_its_name(site):
    site.with_name("mine.py").rename(site.with_name("random.py"))
    words = ("validate", site, "--allow-code", "--set", "controller.class=random:Careful")
    assert dwell(*words).code == 0
    assert sys.modules["random"] is random


def test_a_changed_module_is_read_again(site):
    scenario = library.load_scenario(site)
    before = library.run_scenario(scenario)
    edit(site, "0.9)", "0.5)")
    after = library.run_scenario(scenario)
    assert before.metrics.costs[-1] < after.metrics.costs[-1]
    assert before.provenance["module mine"] != after.provenance["module mine"]


def test_a_module_that_changes_during_a_run_is_recorded_as_it_ran(site):
    scenario = library.load_scenario(site)
    digest = library.run_scenario(scenario).provenance["module mine"]
    changed = []

    def progress(what, share):
        if not changed:
            changed.append(edit(site, "0.9)", "0.5)"))

    run = library.run_scenario(scenario, out="run.nc", progress=progress)
    assert run.provenance["module mine"] == digest
    assert not library.check(library.load_run("run.nc")).ok


def test_from_python_a_law_in_a_module_can_be_kept(site, monkeypatch):
    monkeypatch.syspath_prepend(str(site.parent))
    import mine

    start, law = [(1, 1), (2, 2), (3, 3.5)], mine.Careful(0.5, factors=(1.0, 0.8))
    run = library.simulate(
        library.Box((0, 0), (4, 4)), mine.ridge, start, law, until=0.5, sample_every="off"
    )
    run.save("run.nc")
    monkeypatch.undo()
    monkeypatch.chdir(site.parent.parent / "elsewhere")
    sys.modules.pop("mine")
    kept = library.load_run("run.nc")
    assert library.check(kept).ok
    assert kept.system.controller.factors == (1.0, 0.8)
    assert same(resume_run("run.nc", horizon=0.8), library.load_run("run.nc"))


def test_the_law_of_a_scenario_file_can_be_used_and_kept_from_python(site):
    law = library.run_scenario(site).system.controller
    start = [(1, 1), (2, 2), (3, 3.5)]
    run = library.simulate(library.Box((0, 0), (4, 4)), None, start, law, until=0.5)
    assert (run.scenario.controller.law, run.scenario.modules) == ("mine:Careful", str(site.parent))
    run.save("run.nc")
    assert library.check(library.load_run("run.nc")).ok


@dataclass(frozen=True)
class Law:
    """Stands still."""

    odd: object = 1.0

    def begin(self, view):
        return Command(0.0 * view.hold, view.time + 1.0)

    decide = begin


def test_from_python_code_without_a_module_cannot_be_kept(monkeypatch, tmp_path):
    box, start = library.Box((0, 0), (4, 4)), [(1, 1), (2, 2)]
    run = library.simulate(box, lambda points: points[:, 0], start, Law(), until=0.1)
    with pytest.raises(InputError, match="into a module beside the script or notebook"):
        run.save(tmp_path / "run.nc")
    assert describe_controller(Law()) == {"kind": "python", "class": f"{__name__}:Law"}
    assert describe_controller(Law(np.ones(2))) is None
    assert describe_controller(Law(float("nan"))) is None

    class Local(Law):
        pass

    assert describe_controller(Local()) is None
    monkeypatch.setattr(Law, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "Law", Law, raising=False)
    assert describe_controller(Law()) is None


def test_a_law_of_a_package_is_the_one_that_is_imported():
    name, folder = name_of(Law)
    assert find_code("controller.class", name, folder) is Law
    name, folder = name_of(library.Timer)
    assert find_code("controller.class", name, folder) is library.Timer


def test_a_function_with_a_name_that_leads_nowhere_still_runs():
    weight = Function(lambda points: 1.0 + points[:, 0], name="nowhere:weight")
    box, start = library.Box((0, 0), (4, 4)), [(1, 1), (2, 2)]
    assert library.simulate(box, weight, start, Law(), until=0.1).stop.reason.ok


def test_the_template(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "own_law.py" in dwell("init", "own-law").out
    assert dwell("run", "own-law.toml", "--set", "run.horizon=1", "--out", "run.nc").code == 0
    assert dwell("check", "run.nc").code == 0
    assert "own-law" in dwell("init", "--list").out


def test_modules_may_lie_in_a_folder_and_a_package(site):
    laws = site.parent / "laws" / "kinds"
    laws.mkdir(parents=True)
    (laws / "__init__.py").write_text("from .careful import Careful\n")
    site.with_name("mine.py").rename(laws / "careful.py")
    changes = ("--set", "modules=laws", "--set", "controller.class=kinds.careful:Careful")
    assert dwell("run", site, *changes, "--out", "run.nc").code == 0
    assert dwell("check", "run.nc").code == 0
