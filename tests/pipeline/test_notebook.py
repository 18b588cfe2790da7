"""The notebook of the examples, executed: ten lines from trips to a frame of lost rides and the page."""

import shutil
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "lost_rides.ipynb"


@pytest.mark.filterwarnings("ignore")  # of Jupyter's own packages
def test_ten_lines_from_trips_to_lost_rides_and_the_page(city: Path, tmp_path: Path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    lines = [line for cell in cells for line in cell.source.splitlines() if line.strip()]
    assert len(lines) <= 10
    folder = shutil.copytree(city, tmp_path / "city")
    where = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(notebook, timeout=600, startup_timeout=600, resources=where).execute()
    shown, frame, page = (cell.outputs[-1]["data"] for cell in cells)
    assert "people wanted a ride" in shown["text/html"]
    assert shown["text/plain"].startswith("<Run 'out'")
    assert "lost_mean" in frame["text/html"]
    assert "P01" in frame["text/html"]
    assert "report.html" in page["text/plain"]
    assert (folder / "out" / "report.html").stat().st_size > 100_000
