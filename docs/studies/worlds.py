"""The studies of docs/worlds-studies.md: measured tables and pictures, into out/studies.

    python docs/studies/worlds.py hill|team|boats [--horizon TIME] [--starts NUMBER]

`scripts/study NAME` does the same; `python docs/studies/pictures.py` then takes the picture over.
"""

from __future__ import annotations

import argparse
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

import dwell
from dwell.cells.rings import cell_rings
from dwell.plotting import maps
from dwell.plotting import worlds as drawn
from dwell.plotting.style import COLOURS, LABELS, PLAIN
from dwell.scenario import parse_scenario, text_to_mapping
from dwell.theory.derivatives import derivatives
from dwell.theory.rates import rates, settled

HERE = Path(__file__).parent
Rows = list[dict[str, Any]]


def scenario_of(name: str, horizon: float | None, **tables: Any) -> dwell.Scenario:
    """The scenario of a study, with other tables and keys of agents."""
    given = text_to_mapping((HERE / f"{name}.toml").read_text(encoding="utf-8"))
    given["agents"] |= tables.pop("agents", {})
    given |= tables
    if horizon is not None:
        given["run"]["horizon"] = horizon
    return parse_scenario(given)


# Following a hill.

SPEED, GAIN, LIMIT = 0.1, 1.0, 0.5  # of the hill; of all laws: gain, and largest speed
ALPHA, RHO, DT = 2.0, 100.0, 0.1
STEADY = 30.0  # the last part of a run, in which the lag is measured


def laws() -> dict[str, dict[str, Any]]:
    """Every law that is compared, by its row of the table."""
    found: dict[str, dict[str, Any]] = {}
    for t1, t2 in ((0.2, 0.6), (0.05, 0.15)):
        timer = {"kind": "timer", "k1": LIMIT, "nu": LIMIT / GAIN, "t1": t1, "t2": t2}
        for words in ("none", "own", "ahead", "neighbours"):
            found[f"timer, {words}, [{t1:g}, {t2:g}]"] = {**timer, "feedforward": words}
        full = {**timer, "feedforward": "neighbours", "trust": 1.0}
        found[f"timer, neighbours 1, [{t1:g}, {t2:g}]"] = full
    found["lloyd"] = {"kind": "lloyd", "k2": GAIN, "dt": DT, "speed": LIMIT}
    for order in (0, 1, "C"):
        own = {"kind": "tvd", "kappa": GAIN, "order": order, "dt": DT, "speed": LIMIT}
        found[f"tvd {order}"] = own
    own = {"kind": "minimum-energy", "alpha": ALPHA, "rho": RHO, "dt": DT, "speed": LIMIT}
    found["minimum-energy"] = own
    return found


def predicted_lag(law: dict[str, Any], jacobian: Any, agents: int) -> Any:
    """The steady error of each agent by docs/laws/following.md, from the derivatives A."""
    v = np.tile([SPEED, 0.0], agents)
    words = law.get("feedforward", "none")
    if law["kind"] == "minimum-energy":
        blocks = [jacobian[2 * p : 2 * p + 2, 2 * p : 2 * p + 2] for p in range(agents)]
        across = [np.linalg.solve((np.eye(2) - one).T, [1.0, 0.0]) for one in blocks]
        return np.cbrt(2.0 * SPEED * np.linalg.norm(across, axis=1) / (ALPHA * RHO))
    if law["kind"] == "tvd":
        order = law["order"]
        terms = 0 if order == "C" else order + 1
        powers = [np.linalg.matrix_power(jacobian, k) for k in range(terms)]
        error = np.linalg.solve(sum(powers), powers[-1] @ jacobian @ v) if powers else 0.0 * v
    else:
        trust = {"own": 0.0, "ahead": 0.0}.get(words, law.get("trust", 0.95))
        error = v if words == "none" else (1.0 - trust) * jacobian @ v
    return np.linalg.norm(error.reshape(agents, 2) / GAIN, axis=1)


def hill(horizon: float | None = None, starts: int = 1) -> tuple[Rows, Any]:
    """Lag, cost and communication of every law behind a Gaussian that moves."""
    rows: Rows = []
    runs: dict[str, dwell.Run] = {}
    for name, law in laws().items():
        run = dwell.run_scenario(scenario_of("hill", horizon, controller=law), progress=False)
        end, agents = run.horizon, run.agents
        world = run.world(end)
        at_end = derivatives(world.workspace, run.positions(end), world.density)
        lag = run.errors(np.linspace(max(0.0, end - STEADY), end, 301))
        wanted = predicted_lag(law, at_end.jacobian.toarray(), agents)
        numbers = run.summary()
        place = settled(world.workspace, world.density, run.positions(end))
        rows.append(
            {
                "law": name,
                "mean lag": f"{lag.mean():.5f}",
                "predicted": f"{wanted.mean():.5f}",
                "largest lag": f"{lag.max():.5f}",
                "predicted largest": f"{wanted.max():.5f}",
                "mean cost": f"{run.cost(np.linspace(0.0, end, 321)).mean():.3f}",
                "samples": f"{numbers['events']['per_agent']['mean']:.0f}",
                "messages": f"{numbers['messages'] / agents:.0f}",
                "ends near a": rates(world.workspace, world.density, place).kind,
                "flags": ", ".join(flag["code"] for flag in numbers["flags"]),
            }
        )
        runs[name] = run
    return rows, (runs, rows)


def draw_hill(found: Any) -> Any:
    """Paths and hills above, errors over time and lags of all laws below."""
    from matplotlib.figure import Figure

    runs, rows = found
    figure = Figure(figsize=(7.2, 5.6), layout="constrained")
    grid = figure.add_gridspec(2, 2, height_ratios=(1.0, 1.5), width_ratios=(1.15, 1.0))
    top, left, right = (figure.add_subplot(place) for place in (grid[0, :], grid[1, 0], grid[1, 1]))
    run = runs["timer, none, [0.2, 0.6]"]
    maps.draw_workspace(top, run.workspace)
    lower, upper = run.workspace.bounds
    x, y = (np.linspace(lower[k], upper[k], 300) for k in (0, 1))
    points = np.stack(np.meshgrid(x, y), axis=-1)
    for t in (0.0, run.horizon):
        level = run.world(t).density.at(points.reshape(-1, 2)).reshape(points.shape[:2])
        lines: Any = {"levels": (0.1, 0.5, 0.9), "colors": PLAIN.cell, "linewidths": 0.7}
        top.contour(x, y, level, **lines)
    for p, path in enumerate(maps.paths_of(run)):
        top.plot(*path.T, color=COLOURS[p], lw=0.9)
        top.plot(*path[-1], "o", color=COLOURS[p], ms=4.0, mec="white", mew=0.3)
    PLAIN.entitle(top, "timer, none: paths, and the hill at the beginning and at the end")
    chosen = (
        "timer, none, [0.2, 0.6]", "timer, own, [0.2, 0.6]", "tvd 1",
        "timer, neighbours, [0.2, 0.6]", "minimum-energy",
    )  # fmt: skip
    times = np.linspace(0.0, min(40.0, run.horizon), 401)
    for k, name in enumerate(chosen):
        label, errors = name.removesuffix(", [0.2, 0.6]"), runs[name].errors(times)
        left.semilogy(times, errors.mean(axis=1), color=COLOURS[k], lw=1.0, label=label)
    left.set_ylim(1e-3, 1.0)
    left.legend(fontsize=PLAIN.text_size, frameon=False, ncols=2, loc="upper right")
    PLAIN.dress(left, LABELS["time"], r"mean error $\Vert e_p \Vert$")
    for k, row in enumerate(reversed(rows)):
        wanted, lag = float(row["predicted"]), float(row["mean lag"])
        words = (None, None) if k else ("predicted", "measured")
        right.plot(wanted, k, "|", color=PLAIN.flash, ms=11.0, mew=1.6, label=words[0])
        right.plot(lag, k, "o", color=PLAIN.limit, ms=4.0, label=words[1])
    right.set_yticks(range(len(rows)), [row["law"] for row in reversed(rows)])
    right.set_xlim(-0.006, None)
    PLAIN.dress(right, "mean lag", "")
    right.grid(axis="y", lw=0.3, zorder=0)
    PLAIN.explain(right, 2)
    return figure


# A team with two sensors.

BOTH, SMOKE, HEAT = ["smoke", "heat"], ["smoke"], ["heat"]
TEAMS = {
    "all both": [BOTH] * 8,
    "half each": [SMOKE] * 4 + [HEAT] * 4,
    "two both": [SMOKE] * 3 + [BOTH] * 2 + [HEAT] * 3,
    "one both": [SMOKE] * 4 + [BOTH] + [HEAT] * 3,
}


def closest(positions: Any, sensors: Any, *, common: bool) -> float:
    """The smallest distance of two agents with or without a common sensor; nan without any."""
    gaps = [
        np.linalg.norm(positions[p] - positions[q])
        for p, q in combinations(range(len(sensors)), 2)
        if bool({*sensors[p]} & {*sensors[q]}) == common
    ]
    return float(min(gaps, default=np.nan))


def least(site: Any, density: Any, agents: int) -> float:
    """The cost of the best deployment found."""
    return float(dwell.optimize(site, density, agents, starts=20, seed=1, progress=False).cost)


def team(horizon: float | None = None, starts: int = 10) -> tuple[Rows, Any]:
    """Cost of each sensor, cells and samples of four teams from the same starts."""
    rows: Rows = []
    runs: dict[str, dwell.Run] = {}
    for name, sensors in TEAMS.items():
        costs, gaps, numbers = [], [], []
        for seed in range(1, starts + 1):
            agents = {"sensors": sensors, "start": {"count": 8, "seed": seed}}
            given = scenario_of("team", horizon, agents=agents)
            run = dwell.run_scenario(given, seed=seed, progress=False)
            places, site = run.positions(run.horizon), run.workspace
            each = [
                dwell.tessellate(site, places[list(one.owners)], one.density).cost
                for one in run.system.sensors
            ]
            assert np.isclose(sum(each), run.cost(run.horizon), rtol=1e-12, atol=0.0)
            if not costs or sum(each) < min(map(sum, costs)):
                runs[name] = run
            costs.append(each)
            gaps.append([closest(places, sensors, common=common) for common in (False, True)])
            numbers.append(run.summary())
        one, other = runs[name].system.sensors
        if name == "all both":
            bound = least(site, dwell.Mixture((one.density, other.density)), 8)
        else:
            bound = sum(least(site, s.density, len(s.owners)) for s in (one, other))
        total = np.sum(costs, axis=1)
        best = costs[int(np.argmin(total))]
        rows.append(
            {
                "team": name,
                "sensors": sum(map(len, sensors)),
                "smoke": f"{best[0]:.2f}",
                "heat": f"{best[1]:.2f}",
                "least total": f"{total.min():.2f}",
                "predicted": f"{bound:.2f}",
                "median": f"{np.median(total):.2f}",
                "largest": f"{total.max():.2f}",
                "different": len({round(float(value), 3) for value in total}),
                "samples": f"{np.mean([n['measurements'] for n in numbers]) / 8:.0f}",
                "cells": f"{np.mean([n['cells']['voronoi'] for n in numbers]) / 8:.0f}",
                "messages": f"{np.mean([n['messages'] for n in numbers]) / 8:.0f}",
                "error": f"{max(n['error']['final_max'] for n in numbers):.0e}",
                "closest without": f"{np.min(gaps, axis=0)[0]:.3f}",
                "closest with a common sensor": f"{np.min(gaps, axis=0)[1]:.3f}",
            }
        )
    return rows, runs


def draw_team(runs: Any) -> Any:
    """The best end of each team: cells of both sensors."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 7.4), layout="constrained")
    for ax, (name, run) in zip(figure.subplots(2, 2).flat, runs.items(), strict=True):
        x = np.linspace(0.0, 10.0, 200)
        points = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
        for sensor, colour in zip(run.system.sensors, (COLOURS[0], COLOURS[1]), strict=True):
            level = sensor.density.at(points).reshape(200, 200)
            ax.contour(x, x, level, levels=(0.3, 0.6, 0.9), colors=colour, linewidths=0.4)
        owners = [set(sensor.owners) for sensor in run.system.sensors]
        places = run.positions(run.horizon)
        for sensor, colour, dashes in zip(
            run.system.sensors, COLOURS[:2], ("-", (0, (4, 2))), strict=True
        ):
            rings = cell_rings(run.workspace, places[list(sensor.owners)]) or []
            for k, edge in enumerate(drawn.shared_edges(rings)):
                label = f"cells of {sensor.name}" if not k else None
                ax.plot(*edge.T, color=colour, lw=1.1, ls=dashes, label=label)
        maps.draw_workspace(ax, run.workspace)
        kinds = (
            ("smoke", "o", COLOURS[0], owners[0] - owners[1]),
            ("heat", "s", COLOURS[1], owners[1] - owners[0]),
            ("both", "D", COLOURS[2], owners[0] & owners[1]),
        )
        for word, marker, colour, agents in kinds:
            own: Any = {"color": colour, "ms": 6.0, "mec": "white", "mew": 0.5, "zorder": 5}
            ax.plot(*places[sorted(agents)].T, marker, label=word if agents else None, **own)
        PLAIN.entitle(ax, f"{name}: cost {run.cost(run.horizon):.2f}")
    PLAIN.explain_all(figure, figure.axes, 5)
    return figure


# Twenty boats.

FLEETS: dict[str, Any] = {
    "unlimited": None,
    "150 m": 150.0,
    "100 m": 100.0,
    "100 m and 200 m": [100.0] * 10 + [200.0] * 10,
}
QUAY = {"lower": [96.0, 216.0], "upper": [264.0, 456.0]}  # of the template, enlarged
STARTS: dict[str, Any] = {"anywhere": "workspace", "the quay": QUAY}
SAME = 1.0  # metres: configurations closer than that are one
STEP = 2.0  # metres between the points at which densities are compared


def distance(one: Any, other: Any) -> float:
    """The largest distance between boats of two fleets, matched among equal radii.

    A fleet is positions and radii of the boats whose cells are not empty.
    """
    from scipy.optimize import linear_sum_assignment

    (places, radii), (others, theirs) = one, other
    if not np.array_equal(np.sort(radii), np.sort(theirs)):
        return np.inf
    gaps = np.linalg.norm(places[:, None] - others[None], axis=2)
    gaps = gaps + 1e9 * (radii[:, None] != theirs[None])
    return float(gaps[linear_sum_assignment(gaps)].max())


def most_in_range(site: Any, density: Any, radius: Any) -> float:
    """The share of mass that the discs would cover if they tiled the densest part of the site."""
    area = dwell.moments(site).mass
    discs = area if radius is None else np.pi * np.sum(np.broadcast_to(radius, 20) ** 2)
    lower, upper = site.bounds
    points = np.stack(np.meshgrid(*map(np.arange, lower, upper, (STEP, STEP))), axis=-1)
    points = points.reshape(-1, 2) + STEP / 2.0
    levels = np.sort(density.at(points[site.contains(points)]))[::-1]
    return float(levels[: round(min(1.0, discs / area) * len(levels))].sum() / levels.sum())


def boats(horizon: float | None = None, starts: int = 10) -> tuple[Rows, Any]:
    """Covered mass, cost, ends and empty cells of four fleets from the same starts."""
    rows: Rows = []
    runs: dict[str, dwell.Run] = {}
    still = dwell.run_scenario(scenario_of("boats", 0.0), progress=False)
    site, density = still.workspace, still.world(0.0).density
    mass = dwell.moments(site, density).mass
    for (where, region), (name, radius) in product(STARTS.items(), FLEETS.items()):
        ends: list[Any] = []
        found: Rows = []
        for seed in range(1, starts + 1):
            agents = {"radius": radius, "start": {"count": 20, "seed": seed, "region": region}}
            run = dwell.run_scenario(
                scenario_of("boats", horizon, agents=agents), seed=seed, progress=False
            )
            places, cost = run.positions(run.horizon), run.cost(run.horizon) / mass
            if where == "anywhere" and cost < min((one["cost"] for one in found), default=np.inf):
                runs[name] = run
            sizes = np.broadcast_to(1e4 if radius is None else radius, 20)
            masses = dwell.tessellate(site, places, density, radius=sizes).masses
            near = {r: dwell.tessellate(site, places, density, radius=r) for r in (150.0, 100.0)}
            found.append(
                {
                    "cost": cost,
                    "full": dwell.tessellate(site, places, density).cost / mass,
                    "share": 100.0 * masses.sum() / mass,
                    "150": 100.0 * near[150.0].masses.sum() / mass,
                    "cut 150": near[150.0].cost / mass,
                    "100": 100.0 * near[100.0].masses.sum() / mass,
                    "cut 100": near[100.0].cost / mass,
                    "empty": int((masses == 0.0).sum()),
                    "error": run.summary()["error"]["final_max"],
                }
            )
            end = places[masses > 0.0], sizes[masses > 0.0]
            if all(distance(end, one) > SAME for one in ends):
                ends.append(end)
        columns = {key: np.array([one[key] for one in found]) for key in found[0]}
        middle = {key: np.median(values) for key, values in columns.items()}
        rows.append(
            {
                "start": where,
                "range": name,
                "in range, %": f"{middle['share']:.2f}",
                "least": f"{columns['share'].min():.2f}",
                "at most": f"{100.0 * most_in_range(site, density, radius):.2f}",
                "within 150 m, %": f"{middle['150']:.2f}",
                "cost at 150 m": f"{middle['cut 150']:.0f}",
                "within 100 m, %": f"{middle['100']:.2f}",
                "cost at 100 m": f"{middle['cut 100']:.0f}",
                "own cost": f"{middle['cost']:.0f}",
                "from": f"{columns['cost'].min():.0f}",
                "to": f"{columns['cost'].max():.0f}",
                "squared distance": f"{middle['full']:.0f}",
                "ends": len(ends),
                "empty cells": f"{columns['empty'].mean():.1f}",
                "most": columns["empty"].max(),
                "error": f"{columns['error'].max():.0e}",
            }
        )
    return rows, runs


def draw_boats(runs: Any) -> Any:
    """The best end of each fleet: density, cells and boats; empty cells are crosses."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 5.4), layout="constrained")
    axes = list(figure.subplots(2, 2).flat)
    image, label = None, ""
    for ax, (name, run) in zip(axes, runs.items(), strict=True):
        world, places = run.world(run.horizon), run.positions(run.horizon)
        sizes = np.broadcast_to(1e4 if run.system.radii is None else run.system.radii, 20)
        image, label = maps.draw_density(ax, world.workspace, world.density)
        for ring in cell_rings(world.workspace, places, run.system.radii) or []:
            ax.plot(*np.vstack([ring, ring[:1]]).T, color="white", lw=0.8)
        maps.draw_workspace(ax, world.workspace)
        masses = dwell.tessellate(world.workspace, places, world.density, radius=sizes).masses
        kinds = ((1e4, "o", None), (150.0, "o", "150 m, or unlimited"),
                 (100.0, "v", "100 m"), (200.0, "s", "200 m"))  # fmt: skip
        for radius, marker, word in kinds:
            own: Any = {"color": PLAIN.start, "ms": 4.5, "mec": "white", "mew": 0.4, "zorder": 5}
            some = (sizes == radius) & (masses > 0.0)
            ax.plot(*places[some].T, marker, label=word if some.any() else None, **own)
        lost: Any = {"color": PLAIN.flash, "ms": 5.5, "mew": 1.6, "zorder": 6}
        word = "empty cell" if (masses == 0.0).any() else None
        ax.plot(*places[masses == 0.0].T, "x", label=word, **lost)
        PLAIN.entitle(ax, f"range {name}")
        ax.set_xlabel("position $x$ (m)", fontsize=PLAIN.label_size)
        ax.set_ylabel("position $y$ (m)", fontsize=PLAIN.label_size)
    PLAIN.colour_bar(image, axes, label)
    PLAIN.explain_all(figure, axes, 4)
    return figure


STUDIES = {"hill": (hill, draw_hill), "team": (team, draw_team), "boats": (boats, draw_boats)}


def table(rows: Rows) -> str:
    """Rows as Markdown."""
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def main() -> None:
    """Measure one study, print its table and draw its picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--horizon", type=float)
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("out/studies"))
    given = parser.parse_args()
    measure, draw = STUDIES[given.study]
    rows, found = measure(given.horizon, given.starts)
    folder = given.out / f"{given.study}-figures"
    folder.mkdir(parents=True, exist_ok=True)
    (given.out / f"{given.study}.md").write_text(table(rows), encoding="utf-8")
    draw(found).savefig(folder / f"{given.study}.png", dpi=150)
    print(table(rows))


if __name__ == "__main__":
    main()
