"""Without any configuration there is nothing to measure, in whatever workspace."""

import numpy as np
import pytest

import dwell
from dwell.cells.backend import measure_cells
from dwell.cells.weighted_region import weighted_region

SITES = {
    "interval": dwell.Interval(0, 1),
    "polygon": dwell.Polygon([(0, 0), (1, 0), (0, 1)]),
    "disc": dwell.Ball((0, 0), 1.0),
    "ellipse": dwell.Ellipsoid((0, 0), (1.0, 2.0)),
    "box": dwell.Box((0, 0, 0), (1, 1, 1)),
    "ball": dwell.Ball((0, 0, 0), 1.0),
    "box-4": dwell.Box([0] * 4, [1] * 4),
    "ball-4": dwell.Ball([0] * 4, 1.0),
}


@pytest.mark.parametrize("name", SITES)
def test_no_configuration_gives_no_measurement(name: str) -> None:
    site = SITES[name]
    none = np.empty(0, dtype=np.int64)
    places = np.empty((0, 3, site.dimension))
    found = measure_cells(weighted_region(site, dwell.Uniform()), places, none, none)
    assert found.error.shape == (0, site.dimension)
    assert found.mass.shape == (0,)


@pytest.mark.parametrize("name", SITES)
def test_a_run_without_samples(name: str) -> None:
    site = SITES[name]
    start = np.array([[0.2], [0.4]]) * np.ones(site.dimension)
    law = dwell.DiscreteLloyd(step=0.5)
    run = dwell.simulate(site, None, start, law, until=1.0, sample_every="off")
    assert run.stop.reason.ok
