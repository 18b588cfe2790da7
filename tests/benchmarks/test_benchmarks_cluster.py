"""The model of a cluster on paper, by hand; and the options of the containers, which nobody starts here."""

from pathlib import Path

import pytest
from benchmarks.cluster.model import expected, table

EXAMPLE = Path(__file__).parents[2] / "examples" / "cluster" / "compose.yaml"
KINDS = {
    "files": {"tasks": 4, "seconds": 40.0, "longest": 12.0},
    "rows": {"tasks": 10, "seconds": 5.0, "longest": 0.5},
}


@pytest.mark.parametrize(
    ("workers", "seconds"),
    [
        (1, 10 + 40 + 5 + 14 * 0.5),
        (2, 10 + 20 + 2.5 + 14 * 0.5),
        (10, 10 + 12 + 0.5 + 14 * 0.5),  # no task is split
    ],
)
def test_expected_seconds(workers: int, seconds: float) -> None:
    assert expected(10.0, KINDS, 0.5, workers) == pytest.approx(seconds)


def test_the_table_names_10_and_100_workers() -> None:
    assert "10: 30 s, 100: 30 s" in table(10.0, KINDS, 0.5)


def test_dask_has_the_options_of_the_containers() -> None:
    yaml = pytest.importorskip("yaml")
    scheduler = pytest.importorskip("distributed.cli.dask_scheduler")
    worker = pytest.importorskip("distributed.cli.dask_worker")
    services = yaml.safe_load(EXAMPLE.read_text())["services"]
    assert services["worker"]["deploy"]["replicas"] == 2
    for name, command in (("scheduler", scheduler.main), ("worker", worker.main)):
        assert services[name]["restart"] == "always"
        assert services[name]["volumes"] == ["./data:/data"]
        words = services[name]["command"].split()
        assert words[:2] == ["dask", name]
        known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
        assert {word for word in words if word.startswith("--")} <= known
