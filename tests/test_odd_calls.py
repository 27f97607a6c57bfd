"""Arguments of a wrong type: accepted where the meaning is plain, else refused in one sentence."""

import numpy as np
import pytest

import dwell
from dwell.agents import Network
from dwell.plotting import draw_errors, save_figures
from dwell.scenario import parse_scenario

SQUARE = dwell.Box((0, 0), (1, 1))
PLACES = [(0.25, 0.5), (0.75, 0.5), (0.5, 0.9)]
DISC, CUBE, LINE = dwell.Ball((0, 0), 1), dwell.Box((0, 0, 0), (1, 1, 1)), dwell.Interval(0, 1)


def timer(**changes):
    return dwell.Timer(**{"k1": 0.4, "nu": 0.2, "t1": 0.1, "t2": 0.3, **changes})


@pytest.fixture(scope="module")
def run():
    return dwell.simulate(SQUARE, None, PLACES[:2], timer(), until=1.0, sample_every=0.25)


@pytest.fixture(scope="module")
def cells():
    return dwell.tessellate(SQUARE, PLACES)


def simulate(law=None, **options):
    return dwell.simulate(SQUARE, None, PLACES, law or timer(), **{"until": 0.1, **options})


# What is called, and words that the refusal must have. `r` is a run, `t` a tessellation.
REFUSED = {
    "check of a number": (lambda r, t: dwell.check(3), "a Run, or the path of its .nc file"),
    "check of no file": (lambda r, t: dwell.check("nowhere.nc"), "nowhere.nc is not a file"),
    "a film of a number": (lambda r, t: dwell.animate(3, "x.gif"), "a Run, or the path"),
    "a film to nothing": (lambda r, t: dwell.animate(r, None), "the name of a file"),
    "figures of a word": (lambda r, t: save_figures("nowhere.nc", "out"), "nowhere.nc is not"),
    "figures to nothing": (lambda r, t: save_figures(r, None), "the name of a file"),
    "figures of numbers": (lambda r, t: save_figures(r, "out", names=3), "no plot 3"),
    "errors of a list": (lambda r, t: draw_errors(None, [r]), "a Run, or the path"),
    "a scenario of numbers": (lambda r, t: dwell.run_scenario(3), "a Scenario, a mapping"),
    "no scenario file": (lambda r, t: dwell.run_scenario("no.toml"), "no.toml does not exist"),
    "a scenario in bytes": (lambda r, t: dwell.load_scenario(b"x"), "the name of a file"),
    "a scenario in a list": (lambda r, t: dwell.load_scenario([1]), "the name of a file"),
    "a mapping for a file": (lambda r, t: dwell.load_scenario({}), "the name of a file"),
    "a run at no path": (lambda r, t: dwell.load_run(None), "the name of a file"),
    "a resumed number": (lambda r, t: dwell.resume_run(3), "the name of a file"),
    "saved nowhere": (lambda r, t: r.save(None), "the name of a file"),
    "a sweep of nothing": (lambda r, t: dwell.load_sweep(None), "the name of a file"),
    "a sweep to nothing": (lambda r, t: dwell.run_sweep("no.toml", None), "the name of a file"),
    "a design of a word": (lambda r, t: dwell.design("no.toml"), "no.toml does not exist"),
    "a design by words": (lambda r, t: dwell.design(SCENARIO, samples="a"), "samples"),
    "a comparison of one": (lambda r, t: dwell.compare(3, {"a": timer()}), "a Scenario, a mapping"),
    "laws in a list": (lambda r, t: dwell.compare(SCENARIO, [timer()]), "names and laws"),
    "a class among laws": (
        lambda r, t: dwell.compare(SCENARIO, {"a": dwell.Timer}),
        "the class Timer",
    ),
    "many of a number": (lambda r, t: dwell.simulate_many(3), "a Scenario, a mapping"),
    "many of numbers": (lambda r, t: dwell.simulate_many([3]), "a Scenario, a mapping"),
    "seeds in a number": (lambda r, t: dwell.simulate_many(SCENARIO, seeds=3), "seeds is 3"),
    "many by words": (lambda r, t: dwell.simulate_many(SCENARIO, threads="a"), "threads is 'a'"),
    "optimized scenario and agents": (lambda r, t: dwell.optimize(SCENARIO, None, 3), "its own"),
    "optimized without agents": (lambda r, t: dwell.optimize(SQUARE), "how many"),
    "workers in words": (lambda r, t: dwell.optimize(SQUARE, None, 2, workers="a"), "workers"),
    "a class for a law": (lambda r, t: simulate(dwell.Timer), "the class Timer"),
    "a class for a density": (
        lambda r, t: dwell.tessellate(SQUARE, PLACES, dwell.Gaussian),
        "gaussian.Gaussian'>",
    ),
    "a class for a workspace": (
        lambda r, t: dwell.tessellate(dwell.Box, PLACES),
        "made by Interval, Box",
    ),
    "words for half-spaces": (
        lambda r, t: dwell.Polytope.from_halfspaces([[1, 0], [-1, 0]], ["a", "b"]),
        "cannot be read as numbers",
    ),
    "a network of one number": (lambda r, t: simulate(network=3), "dwell.Network"),
    "records in an array": (
        lambda r, t: simulate(record=np.array(["events", "samples"])),
        '"events", "samples" and "summary"',
    ),
    "samples in an array": (
        lambda r, t: simulate(sample_every=np.array([1.0, 2.0])),
        'a positive time or "off"',
    ),
    "a table of t1": (lambda r, t: timer(t1=np.ones((2, 2))), "a number, or one per agent"),
    "a cube of intervals": (
        lambda r, t: timer(reset="sequence", intervals=np.ones((2, 2, 2))),
        "a list of numbers, or one such list per agent",
    ),
    "ragged intervals": (
        lambda r, t: timer(reset="sequence", intervals=[[0.1, 0.2], [0.1]]),
        "all of equal lengths",
    ),
    "a cube of velocities": (
        lambda r, t: timer(initial_hold=np.ones((2, 2, 2))),
        "one velocity per agent",
    ),
    "resets in an array": (
        lambda r, t: timer(reset=np.array(["uniform", "latest"])),
        "one of uniform",
    ),
    "modes in an array": (
        lambda r, t: dwell.Lloyd(mode=np.array(["ode", "sampled"])),
        "one of",
    ),
    "parts in no list": (lambda r, t: dwell.Mixture(np.array(3.0)), "a density or a function"),
    "terms in no list": (lambda r, t: dwell.Polynomial(np.array(3.0)), "a list of one power"),
    "an origin in no list": (
        lambda r, t: dwell.Polynomial([(1, 0, 1.0)], origin=np.array(3.0)),
        "two finite numbers",
    ),
    "levels in no list": (
        lambda r, t: dwell.EventTriggered(levels=np.array(0.1)),
        "ascending numbers from 0 to 1",
    ),
    "a word in a cell": (lambda r, t: t.cell(0).contains("a"), "finite numbers"),
    "truth in a cell": (lambda r, t: t.cell(0).contains([[True, False]]), "finite numbers"),
    "a word in a box": (lambda r, t: SQUARE.contains("a"), "finite numbers"),
    "a word in a disc": (lambda r, t: DISC.contains("a"), "finite numbers"),
    "a word in a cube": (lambda r, t: CUBE.nearest([["a", "b", "c"]]), "finite numbers"),
    "a word on a line": (lambda r, t: LINE.contains("a"), "finite numbers"),
    "a word under a hill": (
        lambda r, t: dwell.Gaussian((0, 0), rate=1.0).at("a"),
        "finite numbers",
    ),
    "the edge of agent 99": (lambda r, t: t.shared_edge(99, 0), "no agent 99"),
    "the edge of agent -1": (lambda r, t: t.shared_edge(-1, 0), "no agent -1"),
    "the edge with agent -1": (lambda r, t: t.shared_edge(0, -1), "no agent -1"),
    "the edge with a word": (lambda r, t: t.shared_edge(0, "a"), "no agent 'a'"),
    "the cell of a truth": (lambda r, t: t.cell(True), "no agent True"),
    "a cell's edge with a word": (lambda r, t: t.cell(0).edge_with("a"), "no agent 'a'"),
    "events of agent -1": (lambda r, t: r.events.of_agent(-1), "no agent -1"),
    "events of a word": (lambda r, t: r.events.of_agent("a"), "no agent 'a'"),
    "a time in words": (lambda r, t: r.positions("1"), "a number or an array"),
    "a time in words, listed": (lambda r, t: r.cost(["1"]), "a number or an array"),
    "a truth for a time": (lambda r, t: r.errors(True), "a number or an array"),
    "truths for times": (lambda r, t: r.timers([True]), "a number or an array"),
    "nothing for a time": (lambda r, t: r.holds(None), "a number or an array"),
    "an imaginary time": (lambda r, t: r.hold_errors(1j), "a number or an array"),
    "a table of times": (lambda r, t: r.positions([[0.1, 0.2]]), "one row is needed"),
    "the arc at a set": (lambda r, t: r.arc.at({1}), "t = {1}"),
    "the arc at a word": (lambda r, t: r.arc.at("0.5"), "t = '0.5'"),
    "the arc at a truth": (lambda r, t: r.arc.at(True), "t = True"),
    "the arc's count in words": (lambda r, t: r.arc.at(0.5, "a"), "j = 'a'"),
    "half a count": (lambda r, t: r.arc.before(1.5), "j = 1.5"),
    "an interval of a word": (lambda r, t: r.arc.interval("a"), "j = 'a'"),
    "jumps until a word": (lambda r, t: r.arc.jumps_until("x"), "t = 'x'"),
    "a size in an array": (lambda r, t: dwell.animate(r, "x.gif", size=np.ones(2)), "two whole"),
    "a delay in a table": (lambda r, t: Network(delay=np.ones((2, 2))), "a time from 0 on"),
    "ids in no list": (lambda r, t: simulate(ids=np.array(3.0)), "3 different whole numbers"),
    "starts beyond doubles": (
        lambda r, t: dwell.simulate_many(SCENARIO, starts=10**400),
        "(runs, agents, coordinates)",
    ),
    "seed in words": (lambda r, t: dwell.run_scenario(SCENARIO, seed="a"), "seed is 'a'"),
}  # fmt: skip

SCENARIO = {
    "workspace": {"kind": "box", "lower": [0, 0], "upper": [1, 1]},
    "density": {"kind": "uniform"},
    "agents": {"start": [[0.2, 0.2], [0.7, 0.6]]},
    "controller": {"kind": "timer", "k1": 0.4, "nu": 0.2, "t1": 0.1, "t2": 0.3},
    "run": {"horizon": 1.0, "seed": 5, "record": {"sample_every": 0.25}},
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_wrong_type_is_refused_in_one_sentence(case, run, cells, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, words = REFUSED[case]
    with pytest.raises(dwell.InputError) as caught:
        call(run, cells)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_scenario_may_be_a_path_a_mapping_or_itself(tmp_path):
    from dwell.scenario import dump_toml

    file = tmp_path / "site.toml"
    file.write_text(dump_toml(SCENARIO), encoding="utf-8")
    scenario = parse_scenario(SCENARIO)
    wanted = dwell.run_scenario(scenario)
    for given in (file, str(file), SCENARIO):
        assert (dwell.run_scenario(given).events.time == wanted.events.time).all()
        assert dwell.simulate_many(given).costs == dwell.simulate_many(scenario).costs
        assert dwell.design(given, run=False, samples=0).setting.agents == 2
        assert dwell.optimize(given, starts=1).agents == 2
        found = dwell.compare(given, {"timer": timer()}, workers=1)
        assert (found.runs["timer"].events.time == wanted.events.time).all()
    assert len(dwell.simulate_many([file, scenario])) == 2
    assert dwell.load_scenario(file, "run.horizon=2").run.horizon == 2.0
    with pytest.raises(dwell.InputError, match="key=value"):
        dwell.load_scenario(file, 3)


def test_a_run_may_be_a_path(run, tmp_path):
    file = tmp_path / "run.nc"
    run.save(file)
    for given in (file, str(file), run):
        assert dwell.check(given).ok
        assert len(save_figures(given, tmp_path / "out", names="cost")) == 1
    film = dwell.animate(file, tmp_path / "run.gif", seconds=0.2, fps=10, size=(160, 160))
    assert film.is_file()


def test_a_damaged_file_is_checked_and_not_refused(run, tmp_path):
    import xarray as xr

    file = tmp_path / "run.nc"
    run.save(file)
    with xr.load_dataset(file, engine="h5netcdf", decode_times=False) as data:
        data["event_agent"][0] = 99
        data.to_netcdf(tmp_path / "odd.nc", engine="h5netcdf")
    assert not dwell.check(tmp_path / "odd.nc").ok


def test_a_seed_may_be_left_to_chance():
    one, two = (simulate(seed=None) for _ in range(2))
    assert one.system.seed != two.system.seed
    again = simulate(seed=one.system.seed)
    assert (one.events.next_at == again.events.next_at).all()
    assert simulate().system.seed == 0


def test_run_scenario_takes_a_seed_in_the_place_of_the_scenarios():
    own, other = dwell.run_scenario(SCENARIO), dwell.run_scenario(SCENARIO, seed=7)
    assert (own.system.seed, other.system.seed) == (5, 7)
    assert other.scenario.run.seed == 7
    large = 123456789012345678901234567890
    assert dwell.run_scenario(SCENARIO, seed=large).system.seed == large


def test_numpy_and_fractions_are_numbers(run):
    from decimal import Decimal
    from fractions import Fraction

    for t in (np.float32(0.5), np.int64(0), Fraction(1, 2), np.array(0.5), [Decimal("0.5")]):
        assert np.isfinite(run.positions(t)).all()
        assert np.isfinite(run.timers(t)).all()
    assert run.arc.at(np.float64(0.5)).time == 0.5
    assert Network(loss=np.float32(0.5)).loss == 0.5
