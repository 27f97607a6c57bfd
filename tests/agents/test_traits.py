"""What laws state of themselves, and what follows from it everywhere else."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dwell
from dwell import Command, Information, Traits
from dwell.agents.interfaces import WORDS
from dwell.agents.traits import KINDS, OPTIONAL_METHODS, traits_of
from dwell.controllers import LAWS
from dwell.errors import ControllerError, InputError
from dwell.fleet.virtual import VirtualFleet
from dwell.live.settings import LiveSettings, live_law
from dwell.measure.metrics import hold_program
from dwell.results.store import AbsentLaw
from dwell.scenario import parse_scenario
from dwell.scenario.build import build
from dwell.studies.laws import scenarios_of_laws, with_law
from dwell.theory.decay import predict
from dwell.theory.rates import rates_near
from dwell.theory.scope import scope_of
from tests.agents.own_laws import (
    Counting,
    Odd,
    OwnEquation,
    OwnTimer,
    Talking,
    Undeclared,
    Unstorable,
)
from tests.fleet.fleets import recorded, run_from, scenario

BOX = dwell.Box((0, 0), (4, 3))
START = [(0.5, 0.5), (1.5, 0.6), (0.6, 1.9), (3.0, 2.0)]
OWN = "tests.agents.own_laws"
HALVED = dwell.Timer(k1=0.8, nu=0.8, t1=0.1, t2=0.4)


def run(law: Any, until: float = 2.0, **options: Any) -> dwell.Run:
    return dwell.simulate(BOX, None, START, law, until=until, seed=1, **options)


def tables(law: str, **more: Any) -> Any:
    return parse_scenario(
        {
            "workspace": {"kind": "box", "lower": [0.0, 0.0], "upper": [4.0, 3.0]},
            "density": {"kind": "uniform"},
            "agents": {"start": [list(place) for place in START]},
            "controller": {"kind": "python", "class": f"{OWN}:{law}"},
            "run": {"horizon": 2.0, "seed": 1},
            **more,
        }
    )


def test_a_law_without_traits_has_the_defaults() -> None:
    traits = traits_of(Odd())
    assert traits == replace(Traits(), name="Odd")
    assert not traits.methods


@pytest.mark.parametrize("law", LAWS)
def test_built_in_laws_state_traits(law: Any) -> None:
    made = law(k1=1.0, nu=0.5, t1=0.1, t2=0.2) if law is dwell.Timer else law()
    traits = traits_of(made)
    assert traits.name == law.__name__
    assert traits.methods == {name for name in OPTIONAL_METHODS if hasattr(law, name)}


def test_parameters_of_a_law_mean_nothing_by_their_names() -> None:
    found = run(Odd())
    assert found.system.nu is None
    assert found.summary()["hold_error"]["max"] is None
    assert dwell.check(found).ok
    assert found.system.information == Information()
    system = replace(build(tables("Odd"))[0])
    law = live_law(system, LiveSettings(silence=2.0))
    assert law.system.controller == Odd()
    assert np.isinf(law.longest).all()


def test_parameters_mean_nothing_to_comparisons_either() -> None:
    timer = {"kind": "timer", "k1": 0.75, "nu": 0.25, "t1": 0.1, "t2": 0.2}
    of_timer = tables("Odd", controller=timer)
    found = scenarios_of_laws(of_timer, [f"{OWN}:Odd"])[f"{OWN}:Odd"]
    assert found.controller.model_extra == {}
    assert with_law(tables("Odd"), timer | {"nu": 0.1}).run.nu is None
    notes = dwell.compare(tables("Odd"), ["python", "lloyd"], workers=1).notes
    assert any("sets no largest speed" in note for note in notes)


def test_a_law_without_a_model_is_said_to_have_none() -> None:
    rates = rates_near(BOX, dwell.Uniform(), np.array(START))
    assert predict(rates, Odd()).says == "nothing is known of Odd"


@pytest.mark.parametrize("record", ["events", "summary"])
def test_centroids_and_messages_with_data_go_together(tmp_path: Path, record: str) -> None:
    whole = run(Talking(), until=4.0, record=record)
    first = run(Talking(), until=2.0, record=record)
    assert (whole.counters.sent > 5).all()
    assert (whole.counters.samples > 5).all()
    first.save(tmp_path / "run.nc")
    again = dwell.resume_run(tmp_path / "run.nc", horizon=4.0)
    assert again.positions(4.0).tobytes() == whole.positions(4.0).tobytes()
    assert again.counters.received.tolist() == whole.counters.received.tolist()
    if record == "events":
        report = dwell.check(dwell.load_run(tmp_path / "run.nc"))
        assert report.ok
        assert {f.name: f.status for f in report.findings}["promise"] == "holds"


def test_data_matter_to_those_who_receive_them() -> None:
    @dataclass(frozen=True)
    class Silent(Talking):
        def decide(self, view: Any) -> Command:
            return replace(super().decide(replace(view, heard={})))

    assert not np.array_equal(run(Talking()).positions(2.0), run(Silent()).positions(2.0))


def test_messages_over_a_network_that_loses_them() -> None:
    found = run(Hearing(), network=dwell.Network(loss=0.3, delay=0.05))
    assert dwell.check(found).ok


@dataclass(frozen=True)
class Hearing(Talking):
    """Stands without a sample."""

    def miss(self, view: Any) -> Command:
        still = np.zeros(len(view.position))
        return Command(still, view.time + self.wait)


def test_a_law_that_broadcasts_says_so() -> None:
    with pytest.raises(ControllerError, match=r"Undeclared broadcasts, but its information") as bad:
        run(Undeclared())
    assert bad.value.code == "controller.information"


def test_data_need_a_broadcast_and_a_file(tmp_path: Path) -> None:
    class Mute(Talking):
        def decide(self, view: Any) -> Command:
            return replace(super().decide(view), promise=None)

    with pytest.raises(ControllerError, match="without a broadcast"):
        run(Mute())
    with pytest.raises(ControllerError, match="remembers or sends a set") as bad:
        dwell.run_scenario(tables("Unstorable"), out=tmp_path / "run.nc")
    assert bad.value.code == "controller.memory"
    assert Unstorable().speed == 0.4


def test_messages_of_a_fleet_have_no_room_for_data() -> None:
    system = build(tables("Talking"))[0]
    with pytest.raises(InputError, match="receives messages of laws") as bad:
        live_law(system, LiveSettings(silence=2.0))
    assert (bad.value.code, bad.value.key) == ("fleet", "controller.kind")


def test_a_law_of_the_paper_s_kind_is_held_against_the_theorem() -> None:
    assumed = {"certificate": {"eta_max": 0.3, "lipschitz": 1.5}}
    own = dwell.run_scenario(tables("OwnTimer", **assumed), progress=False)
    timer = {"kind": "timer", "k1": 0.8, "nu": 0.8, "t1": 0.1, "t2": 0.2}
    wanted = dwell.run_scenario(tables("", controller=timer, **assumed), progress=False)
    assert [f.status for f in own.certificate] == [f.status for f in wanted.certificate]
    assert len(own.certificate) > 5
    assert own.positions(2.0).tobytes() == wanted.positions(2.0).tobytes()
    assert own.summary()["hold_error"] == wanted.summary()["hold_error"]
    assert own.summary()["coverage"]["nu"] == 0.8
    assert dwell.check(own).ok
    found, other = (
        dwell.design(one.scenario, samples=0, run=False, progress=False) for one in (own, wanted)
    )
    assert found.verdict == other.verdict
    rates = rates_near(BOX, dwell.Uniform(), np.array(START))
    law = wanted.system.controller
    assert predict(rates, OwnTimer()).rate == predict(rates, law).rate
    kept = with_law(wanted.scenario, {"kind": "python", "class": f"{OWN}:OwnTimer"})
    assert kept.certificate == wanted.scenario.certificate


def test_a_certificate_needs_the_numbers_of_the_timer_law() -> None:
    with pytest.raises(InputError, match="whose traits name no timer") as bad:
        build(tables("Talking", certificate={"eta_max": 0.3, "lipschitz": 1.5}))
    assert (bad.value.code, bad.value.key) == ("certificate.law", "certificate")
    with pytest.raises(InputError) as bad:
        dwell.design(tables("Talking"), progress=False)
    assert bad.value.code == "design.law"


def test_a_law_may_be_a_differential_equation() -> None:
    found = run(OwnEquation(), until=6.0)
    report = dwell.check(found)
    assert report.ok
    assert {f.name: f.status for f in report.findings}["equation"] == "holds"
    assert found.metrics.costs[-1] < found.metrics.costs[0]


def test_cells_of_a_law_are_counted_on_a_fleet() -> None:
    law = {"kind": "python", "class": f"{OWN}:Counting"}
    case, made = scenario(controller=law, horizon=3.0), []
    system, start, _ = build(case)
    settings = LiveSettings(silence=2.0)
    VirtualFleet(live_law(system, settings), start, watch=made.append).run(3.0)
    live = run_from(case, recorded(made, settings))
    counters = live.counters
    assert (counters.voronoi == counters.samples * 4).all()
    assert dwell.check(live).ok
    forged = live.details.live.samples.copy()
    forged["voronoi"][5] += 1
    assert Counting().wait == 0.3


def test_a_law_whose_code_is_not_there_has_the_traits_that_its_file_states() -> None:
    fault = InputError("gone", code="scenario.code")
    law = AbsentLaw(fault, Traits(name="Mine", nu=0.2, absent=True))
    assert traits_of(law).name == "Mine"
    assert traits_of(law).absent
    with pytest.raises(InputError, match="gone"):
        law.decide(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("stated", "match"),
    [
        ({"information": "centroid"}, "an Information"),
        ({"fade": 0.0}, "a positive rate"),
        ({"fade": 2.0}, 'information says own = "at events"'),
        ({"nu": -1.0}, "a positive length"),
        ({"accuracy": "high"}, "a positive number"),
        ({"rounding": -1.0}, "a number from 0 on"),
        ({"shortest_interval": "never"}, "a time from 0 on"),
        ({"longest_interval": (1.0, math.nan)}, "a positive time"),
        ({"travel": 1.0}, "a function of a message"),
        ({"timer": 0.2}, r"a dwell\.Timer"),
        ({"steps": 0.2}, r"a dwell\.DiscreteLloyd"),
        ({"scans": 0.2}, r"a dwell\.SelfTriggered"),
        ({"top_speed": "fast"}, "a number above 0"),
        ({"gain": 0.0}, "a number above 0"),
        ({"shortest_interval": 0.8, "longest_interval": 0.2}, "no more than longest_interval"),
        ({"shortest_interval": 0.3, "longest_interval": (0.5, 0.2)}, "no more than longest_int"),
        ({"shortest_interval": ((0.1,),)}, "a time from 0 on"),
        ({"longest_interval": 0.0}, "a positive time"),
        ({"longest_interval": (0.1, 0.0)}, "a positive time"),
        ({"period": 0.0}, "a positive time"),
        ({"follows": None}, 'a word: "none"'),
        ({"follows": ""}, 'a word: "none"'),
        ({"stays_inside": "no"}, "True or False"),
        ({"cost_decreases": 1}, "True or False"),
        ({"guaranteed": None}, "True or False"),
        ({"solves": "yes"}, "True or False"),
        ({"absent": 0}, "True or False"),
        ({"name": 5}, "text"),
        ({"nonlinear": None}, "text"),
        ({"information": Information(others="everybody?")}, "one of 'centroid', 'samples'"),
        ({"information": Information(own="never")}, "one of 'at events', 'always'"),
        ({"information": Information(world=None)}, "one of 'now'"),  # type: ignore[arg-type]
        ({"information": Information(messages="no")}, "True or Fal"),  # type: ignore[arg-type]
    ],
    ids=str,
)
def test_traits_that_are_none_are_refused(stated: dict[str, Any], match: str) -> None:
    class Stating(Odd):
        traits = Traits(**stated)

    with pytest.raises(ControllerError, match=f"Stating has .*{match}"):
        run(Stating())


def test_every_trait_has_a_kind() -> None:
    assert set(KINDS) == {f.name for f in fields(Traits) if f.init}
    assert set(WORDS) | {"messages"} == {f.name for f in fields(Information)}


@pytest.mark.parametrize("fault", ["AttributeError", "TypeError", "ZeroDivisionError"])
def test_a_fault_in_traits_is_named(fault: str) -> None:
    class Faulty(Odd):
        @property
        def traits(self) -> Traits:
            if fault == "AttributeError":
                return Traits(top_speed=self.topsped, nu=0.2)  # type: ignore[attr-defined]
            more: Any = {"tpo_speed": 1.0} if fault == "TypeError" else {"nu": 1 / 0}
            return Traits(**more)

    with pytest.raises(
        ControllerError, match=f"Faulty failed in its traits: {fault}: .*line"
    ) as bad:
        run(Faulty())
    assert bad.value.code == "controller.failed"


def test_a_fault_where_a_method_is_read_is_named() -> None:
    class Faulty(Odd):
        @property
        def miss(self) -> Any:
            return self.missing  # type: ignore[attr-defined]

    with pytest.raises(ControllerError, match="Faulty failed in its miss: AttributeError"):
        run(Faulty())


def test_a_law_that_passes_the_attributes_of_another_one_on_has_its_traits() -> None:
    class Around:
        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def begin(self, view: Any) -> Command:
            return self.inner.begin(view)

        def decide(self, view: Any) -> Command:
            return self.inner.decide(view)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inner, name)

    assert traits_of(Around(Talking())).information.messages
    assert traits_of(Around(Odd())) == replace(Traits(), name="Around")


@dataclass(frozen=True)
class Halving:
    """Half the velocities of a timer law, whose traits it states."""

    timer: dwell.Timer = HALVED

    @property
    def traits(self) -> Traits:
        return self.timer.traits

    def begin(self, view: Any) -> Command:
        whole = self.timer.begin(view)
        return replace(whole, hold=0.5 * whole.hold)

    def decide(self, view: Any) -> Command:
        whole = self.timer.decide(view)
        return replace(whole, hold=0.5 * whole.hold)


def test_a_fleet_runs_the_law_of_its_scenario() -> None:
    system = replace(build(tables("Odd"))[0], controller=Halving())
    assert live_law(system, LiveSettings()).system.controller == Halving()
    timer = replace(system, controller=Halving().timer)
    assert live_law(timer, LiveSettings(margin=0.1)).system.controller.t2 == pytest.approx(0.3)


def test_a_law_with_a_shorter_interval_is_of_the_same_class() -> None:
    class Other(Halving):
        def earlier(self, margin: float) -> Any:
            return self.timer.earlier(margin)

    class Faulty(Halving):
        def earlier(self, margin: float) -> Any:
            raise KeyError(margin)

    system = build(tables("Odd"))[0]
    with pytest.raises(ControllerError, match=r"earlier\(margin\) of Other gives Timer\(.*a Other"):
        live_law(replace(system, controller=Other()), LiveSettings())
    with pytest.raises(ControllerError, match=r"Faulty failed in earlier\(margin\): KeyError"):
        live_law(replace(system, controller=Faulty()), LiveSettings())


@pytest.mark.parametrize("stated", ["none", "own"])
def test_a_law_with_the_numbers_of_a_timer_has_its_feed_forward(stated: str) -> None:
    timer = dwell.Timer(k1=0.8, nu=0.8, t1=0.1, t2=0.2, feedforward="own")

    class Stating(Odd):
        traits = Traits(timer=timer, follows=stated)

    system = build(tables("Odd"))[0]
    own, plain = (replace(system, controller=law) for law in (Stating(), timer))
    assert scope_of(own) == scope_of(plain)
    assert all("the law has feed-forward" in clauses for clauses in scope_of(own).values())
    assert hold_program(own) is hold_program(plain) is None


@pytest.mark.parametrize(
    ("right", "match"),
    [
        (lambda errors: {}["gain"], r"failed in velocities\(errors\): KeyError: 'gain' \(test_tr"),
        (
            lambda errors: errors[:1],
            r"of the shape \(1, 2\); finite numbers .*\(4, 2\), are needed",
        ),
        (lambda errors: np.nan * errors, "finite numbers of the shape"),
        (lambda errors: None, "gives None; finite numbers"),
    ],
    ids=["KeyError", "shape", "nan", "None"],
)
def test_a_fault_in_the_right_hand_side_is_named(right: Any, match: str) -> None:
    class Faulty(OwnEquation):
        def velocities(self, errors: Any) -> Any:
            return right(errors)

    with pytest.raises(ControllerError, match=match):
        run(Faulty())


def test_faults_in_the_form_for_the_compiled_loop_are_named() -> None:
    class Faulty(Odd):
        def program(self, agents: int) -> Any:
            raise KeyError(agents)

    with pytest.raises(ControllerError, match=r"Faulty failed in program\(agents\): KeyError: 4"):
        run(Faulty())


def test_the_solution_of_lloyd_is_verified_by_its_gain_and_speed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    law = dwell.Lloyd(mode="ode", k2=2.0, speed=0.5, tolerance=1e-6)
    right = dwell.Lloyd.velocities
    monkeypatch.setattr(dwell.Lloyd, "velocities", lambda law, errors: 1.5 * right(law, errors))
    found = run(law, until=0.5)
    report = dwell.check(found, thorough=True)
    assert {f.name: f.status for f in report.findings}["equation"] == "violated"
    assert not report.ok


def test_a_finding_says_where_a_law_is_asked_for_its_velocities() -> None:
    for law, own in ((OwnEquation(), True), (dwell.Lloyd(mode="ode"), False)):
        findings = dwell.check(run(law, until=0.5)).findings
        says = next(f.says for f in findings if f.name == "equation")
        assert ("by the law's own velocities" in says) is own


def test_a_proportional_law_has_a_gain() -> None:
    class Stating(Odd):
        traits = Traits(proportional=True)

    with pytest.raises(ControllerError, match="gain = None; a number above 0"):
        run(Stating())


@dataclass(frozen=True)
class Listing(Talking):
    """Keeps a list, writes into it, and sends it; receivers sort what they receive."""

    copies: bool = False

    def decide(self, view: Any) -> Command:
        kept = [] if view.memory is None else view.memory
        if self.copies:
            kept = list(kept)
        kept.append(float(np.hypot(*view.measurement.error)))
        told = [list(m.data) if self.copies else m.data for m in view.heard.values()]
        for one in told:
            one.sort(reverse=True)
        share = 1.0 / (1.0 + sum(float(np.dot(one, range(len(one)))) for one in told))
        hold = 0.3 * share * view.measurement.error
        data = list(kept) if self.copies else kept
        wait = self.wait * (0.5 + view.draw)
        return Command(hold, view.time + wait, promise=0.4, memory=kept, data=data)


def test_messages_hold_what_was_sent() -> None:
    shared, copied = (
        run(Listing(copies=copies), network=dwell.Network(delay=0.5)) for copies in (False, True)
    )
    assert shared.positions(2.0).tobytes() == copied.positions(2.0).tobytes()
    assert dwell.check(shared).ok


def test_data_that_cannot_be_copied_are_refused() -> None:
    class Sending(Talking):
        def decide(self, view: Any) -> Command:
            return replace(super().decide(replace(view, heard={})), data=(k for k in range(3)))

    with pytest.raises(ControllerError, match="Sending failed in data to be sent: TypeError"):
        run(Sending())


def test_an_equation_needs_its_right_hand_side() -> None:
    class Stating(Odd):
        traits = Traits(accuracy=1e-6)

    with pytest.raises(ControllerError, match=r"a method velocities\(errors\) is needed"):
        run(Stating())


def test_traits_of_another_kind_are_refused() -> None:
    class Stating(Odd):
        traits = {"top_speed": 1.0}  # noqa: RUF012

    with pytest.raises(ControllerError, match=r"a dwell\.Traits\(\.\.\.\) is needed") as bad:
        run(Stating())
    assert bad.value.code == "controller.traits"


def test_intervals_of_another_number_of_agents_are_refused() -> None:
    class Stating(Odd):
        traits = Traits(shortest_interval=(0.1, 0.2), longest_interval=1.0)

    system = replace(build(tables("Odd"))[0], controller=Stating())
    with pytest.raises(ControllerError, match="one for each of 4 agents"):
        live_law(system, LiveSettings())
