"""Results as data frames, datasets, tables of text and HTML, and the file that xarray reads."""

import hashlib
import sys

import numpy as np
import pytest
import xarray as xr

import dwell
from dwell.verify import Finding, Report

LAW = dwell.Timer(k1=0.4, nu=0.2, t1=0.1, t2=0.3)


def made(dimension=2, law=LAW, density=None, **options):
    start = np.random.default_rng(1).uniform(0.1, 0.9, (3, dimension))
    site = dwell.Box((0,) * dimension, (1,) * dimension)
    options = {"until": 1.0, "sample_every": 0.25, **options}
    return dwell.simulate(site, density, start, law, **options)


@pytest.fixture(scope="module")
def run():
    return made()


@pytest.fixture
def file(run, tmp_path):
    run.save(tmp_path / "run.nc")
    return tmp_path / "run.nc"


@pytest.mark.parametrize(
    ("dimension", "axes"), [(1, "x"), (2, "xy"), (3, "xyz"), (4, ["x1", "x2", "x3", "x4"])]
)
def test_events_as_a_data_frame_have_a_column_for_each_coordinate(dimension, axes):
    run = made(dimension)
    frame = run.events.to_pandas()
    assert len(frame) == len(run.events)
    for k, axis in enumerate(axes):
        assert (frame[axis] == run.events.positions[:, k]).all()
        assert (frame[f"hold_{axis}"] == run.events.holds[:, k]).all()
        assert (frame[f"error_{axis}"] == run.events.errors[:, k]).all()
    plain = ["time", "agent", "next_at", "hold_error", "neighbors", "nearest", "empty"]
    assert set(plain) == set(frame.columns) - {
        f"{prefix}{axis}" for prefix in ("", "hold_", "error_") for axis in axes
    }
    for name in plain:
        assert (frame[name] == getattr(run.events, name)).all()


@pytest.mark.parametrize("law", [None, dwell.Lloyd(mode="ode")])
def test_pandas_takes_events_as_they_are(law):
    pandas = pytest.importorskip("pandas")
    table = made().events if law is None else made(law=law).events
    pandas.testing.assert_frame_equal(pandas.DataFrame(table), table.to_pandas())
    assert len(list(table)) == len(table)


def test_columns_that_only_some_laws_fill_are_in_the_data_frame():
    table = made(law=dwell.Lloyd(mode="ode")).events
    frame = table.to_pandas()
    assert (frame["bend3_y"] == table.bend[:, 1, 1]).all()
    assert (frame["looked"] == table.looked).all()


def test_samples_as_a_data_frame_have_one_row_per_time(run):
    frame, metrics = run.to_pandas(), run.metrics
    assert frame.index.name == "time"
    assert (frame.index == metrics.times).all()
    assert list(frame.columns) == [
        "cost", "separation", "error_0", "error_1", "error_2",
        "hold_error_0", "hold_error_1", "hold_error_2",
    ]  # fmt: skip
    assert (frame["cost"] == metrics.costs).all()
    assert (frame["hold_error_2"] == metrics.hold_errors[:, 2]).all()
    lloyd = made(law=dwell.Lloyd())
    assert [name for name in lloyd.to_pandas() if name.startswith("hold")] == []


def test_without_pandas_a_sentence_says_so(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for call in (run.to_pandas, run.events.to_pandas):
        with pytest.raises(dwell.InputError, match="pip install pandas"):
            call()


def test_a_dataset_has_coordinates_units_and_names(run):
    data = run.to_xarray()
    assert data.axis.values.tolist() == ["x", "y"]
    assert data.agent.values.tolist() == [0, 1, 2]
    assert data.error.sel(agent=1, sample_time=0.5) == run.metrics.errors[2, 1]
    assert (data.event_position.sel(axis="y") == run.events.positions[:, 1]).all()
    assert (data.event_position.event_time == run.events.time).all()
    for name in data.variables:
        assert name == "axis" or (data[name].attrs["units"] and data[name].attrs["long_name"])


def test_the_dataset_is_that_of_the_file(run, file):
    with xr.open_dataset(file) as kept:
        own = run.to_xarray().drop_vars("axis")
        xr.testing.assert_identical(kept.load(), own)


@pytest.mark.parametrize("record", ["samples", "summary"])
def test_a_run_without_events_is_a_dataset_too(record):
    kept = made(record=record, sample_every=0.5).to_xarray()
    assert "event_time" not in kept.variables
    assert kept.sizes["sample_time"] == {"samples": 3, "summary": 1}[record]


def test_a_run_that_no_file_can_keep_is_a_dataset_too():
    data = made(density=lambda points: 1.0 + points[:, 0]).to_xarray()
    assert data.attrs["scenario"] == ""
    assert data.sizes["agent"] == 3


def test_the_file_follows_its_conventions(file):
    """CF: units and names, coordinates named, ascending and without fill values."""
    with xr.open_dataset(file, decode_cf=False, engine="h5netcdf") as raw:
        assert raw.attrs["Conventions"] == "CF-1.11"
        for name, variable in raw.variables.items():
            assert variable.attrs["units"] == "1"
            assert variable.attrs["long_name"]
            if "jump" in variable.dims and name != "event_time":
                assert variable.attrs["coordinates"] == "event_time"
        for name in ("sample_time", "event_time", "agent"):
            assert "_FillValue" not in raw[name].attrs
        assert raw.sample_time.dims == ("sample_time",)
        assert (np.diff(raw.sample_time) > 0.0).all()
        assert (raw.attrs["stop_reason"], raw.attrs["stop_time"]) == ("horizon", 1.0)


def test_time_is_on_the_axis_of_a_plot(file):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    with xr.open_dataset(file) as data:
        data.cost.plot(ax=ax)
    assert "time of the sample" in ax.get_xlabel()
    assert ax.lines[0].get_xdata()[-1] == 1.0


def as_it_was(data):
    """The dataset as versions before coordinates wrote it, with its digest."""
    old = (
        data.reset_coords().reset_index("sample_time", drop=True).rename_dims(sample_time="sample")
    )
    old["sample_time"] = ("sample", data.sample_time.values)
    old = old.drop_vars(["agent", "summary"])
    for name in ("comment", "stop_reason", "stop_time", "digest"):
        del old.attrs[name]
    digest = hashlib.sha256()
    for name in sorted(old.attrs):
        digest.update(f"{name}={old.attrs[name]}".encode())
    for name in sorted(old.variables):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(old[name].values).tobytes())
    old.attrs["digest"] = digest.hexdigest()
    return old


def test_files_of_older_versions_can_be_read(run, file, tmp_path):
    with xr.load_dataset(file) as data:
        as_it_was(data).to_netcdf(tmp_path / "old.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "old.nc") as old:
        assert set(old.sizes) == {"sample", "jump", "agent", "axis", "hold_agent", "kind"}
    again = dwell.load_run(tmp_path / "old.nc")
    assert again.provenance["intact"] == "true"
    assert (again.events.time == run.events.time).all()
    assert (again.metrics.costs == run.metrics.costs).all()
    assert dwell.check(again).ok


def test_a_rewritten_file_is_intact_and_an_altered_one_is_not(file, tmp_path):
    with xr.load_dataset(file) as data:
        data.to_netcdf(tmp_path / "same.nc", engine="h5netcdf")
        data["agent"] = data.agent + 1
        data.to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    assert dwell.load_run(tmp_path / "same.nc").provenance["intact"] == "true"
    other = dwell.load_run(tmp_path / "other.nc")
    assert other.provenance["intact"] == "false"
    assert "its file was changed" in repr(other)
    other.save(tmp_path / "again.nc")
    assert dwell.load_run(tmp_path / "again.nc").intact is False
    for wrong, says in (
        (other.horizon + 1.0, rf"not {other.horizon + 1.0!r}$"),
        (np.nan, "not nan$"),
    ):
        with pytest.raises(dwell.InputError, match=says):
            other.cost(wrong)


def test_a_report_prints_as_the_table_of_dwell_check(run):
    report = dwell.check(run)
    text = str(report)
    for finding in report.findings:
        assert finding.name in text
        assert finding.says.split()[0] in text
    assert max(map(len, text.splitlines())) <= 80
    assert "a solution" in repr(report)
    assert "\n" not in repr(report)
    assert f"<td>{report.findings[0].says}</td>" in report._repr_html_()


def test_a_report_says_what_is_violated():
    bad = Finding("flow", "a < b", "violated", 3.0, 1.0, "jump 7")
    void = Finding("dwell", "a condition", "not applicable", 0.0, 0.0, "no certificate")
    report = Report((bad,), (void,))
    assert "is NOT a solution of its scenario; checks: 1 violated>" in repr(report)
    assert "a < b; jump 7" in str(report)
    assert "a &lt; b; jump 7" in report._repr_html_()
    assert "condition" not in str(report)
    assert "certificate: 1 violated" in repr(Report((), (bad,)))


def test_results_have_short_representations(run):
    found = dwell.compare(run.scenario, {"timer": LAW, "lloyd": dwell.Lloyd()}, workers=1)
    cells = dwell.tessellate(run.workspace, run.positions(1.0))
    batch = dwell.simulate_many(run.scenario, seeds=range(3))
    best = dwell.optimize(run.workspace, None, 2, starts=2)
    plan = dwell.design(run.scenario, run=False, samples=0)
    for one in (run, run.arc, run.metrics, run.events, found, cells, batch, best, plan):
        assert repr(one).startswith(f"<{type(one).__name__}")
        assert len(repr(one)) < 160
        assert "\n" not in repr(one)
    assert str(found).splitlines()[0].split() == ["timer", "lloyd"]
    assert "cost at the end" in str(found)
    assert "<th>lloyd</th>" in found._repr_html_()
    assert f"{cells.masses[2]:.6g}" in str(cells)
    assert "cost.final" in run._repr_html_()


def test_many_cells_are_not_all_printed():
    places = np.random.default_rng(3).uniform(size=(50, 2))
    text = str(dwell.tessellate(dwell.Box((0, 0), (1, 1)), places))
    assert "... and 30 more" in text
    assert len(text.splitlines()) == 23
