"""A simulated city cut up: each cut alone and all together, against the whole city."""

import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

import unmet
from unmet.pipeline import make_demo_city

sys.path.insert(0, str(Path(__file__).parents[1] / "mobility" / "panel"))
from cut_city import CUTS, ZONE, cut_city

pytestmark = pytest.mark.slow


def run(made: Path, folder: Path) -> unmet.Run:
    return unmet.run(
        trips=folder / "trips.csv.gz",
        status=folder / "station_status_events.csv.gz",
        stations=made / "station_information.json",
        weather=made / "weather.csv",
        zone=ZONE,
        network="linear",
        output=folder / "out",
        progress=False,
    )


def test_lost_rides_of_what_is_known_stay_the_same(tmp_path: Path):
    made = tmp_path / "city"
    make_demo_city("town", days=120, seed=31).write(made, snapshots=None)
    clean = run(made, made).columns("lost")
    first = datetime.fromisoformat(f"{clean['ds'].min()}"[:19]).replace(tzinfo=UTC)
    for cuts in (*((cut,) for cut in CUTS), CUTS):
        found = run(made, cut_city(made, tmp_path / "-".join(cuts), first, cuts=cuts))
        assert len(found.summary().notes) == len(cuts)
        lost = found.columns("lost")
        at = {key: row for row, key in enumerate(zip(clean["unique_id"], clean["ds"]))}
        same = np.array([at[key] for key in zip(lost["unique_id"], lost["ds"])])
        both = np.isfinite(lost["exposure"]) & np.isfinite(clean["exposure"][same])
        ratio = lost["lost_mean"][both].sum() / clean["lost_mean"][same][both].sum()
        print(f"{'+'.join(cuts)}: {both.mean():.0%} known, lost {ratio:.3f} of the whole city's")
        assert ratio == pytest.approx(1, abs=0.05), cuts
