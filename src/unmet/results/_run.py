"""A run folder: its tables as frames, its model, its figures and its page."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmet.results import _schema as schema
from unmet.results._agree import check_all, check_fit
from unmet.results._frames import choose_backend, make_frame
from unmet.results._html import run_html
from unmet.results._panel import checked_panel
from unmet.results._places import make_places
from unmet.results._planned import plan_figures, planned_day_of
from unmet.results._read import need, read_object, read_table
from unmet.results._summary import Summary, make_summary
from unmet.results._values import PlaceTotals, PlanFigures
from unmet.results._words import Words
from unmet.results.numbers import about
from unmet.runs import RunError, read_record
from unmet.tables import Columns

if TYPE_CHECKING:
    from unmet.forecasting import DemandModel


class Run:
    """What `unmet.run` made, in one folder; open one with `unmet.open_run`.

    Files are read when they are asked for, checked against the schema, and read again when they changed.

    Attributes
    ----------
    folder : Path
    backend : {"pandas", "polars", "arrow"} or None
        Library of the frames.
    kept : tuple of str
        Steps that the call which returned this run found already done.
    told : tuple of str
        What that call has to tell about its reading: notes, and how much was kept from before.

    Examples
    --------
    >>> run = unmet.open_run("out")  # doctest: +SKIP
    >>> run.lost.groupby("unique_id")["lost_mean"].sum()  # doctest: +SKIP
    >>> print(run.summary())  # doctest: +SKIP
    """

    TABLES = ("panel", "lost", "forecast", "plan", "moves", "fleet", "backtest", "stations")

    def __init__(
        self, folder: str | os.PathLike[str], *, backend: str | None = None, kept: Sequence[str] = ()
    ) -> None:
        self.folder = Path(folder)
        self.backend = choose_backend(backend)
        self.kept = tuple(kept)
        self.told: tuple[str, ...] = ()
        self._read: dict[str, tuple[Any, Any]] = {}

    # Frames

    @property
    def panel(self) -> Any:
        """Pickups, availability, stock and covariates of every place and period."""
        return self.frame("panel")

    @property
    def lost(self) -> Any:
        """Demand and lost rides of every row of the panel."""
        return self.frame("lost")

    @property
    def forecast(self) -> Any:
        """Demand of every place in the periods ahead."""
        return self.frame("forecast")

    @property
    def plan(self) -> Any:
        """Stock of every place at the start of the planned day."""
        return self.frame("plan")

    @property
    def moves(self) -> Any:
        """Moves from the usual stock towards the targets, the most useful first."""
        return self.frame("moves")

    @property
    def fleet(self) -> Any:
        """Lost rides of the planned day by size of the fleet."""
        return self.frame("fleet")

    @property
    def backtest(self) -> Any:
        """Forecasts of the last weeks beside what happened."""
        return self.frame("backtest")

    @property
    def stations(self) -> Any:
        """Name, coordinates and docks of every place."""
        return self.frame("stations")

    def frame(self, table: str) -> Any:
        """Return a table as a new frame of the run's backend; times are naive UTC."""
        return make_frame(self.columns(table), self.backend)

    # Figures

    def summary(self, *, fit_only: bool = False) -> Summary:
        """Return every headline figure; `print` shows them as sentences.

        With `fit_only` the plan and the truth are left out: after a new fit they may rest on the one before.
        """
        return make_summary(self, fit_only=fit_only)

    @property
    def places(self) -> tuple[PlaceTotals, ...]:
        """Totals of each place over the whole period, in the order of the tables."""
        check_fit(self)
        return make_places(
            self.columns("lost"), self.totals, self.columns("stations") if self.given("stations") else None
        )

    @property
    def planned(self) -> PlanFigures | None:
        """The day that the plan is for and what the plan saves; None without a plan."""
        if not self.given("plan") or not len(self.columns("plan")["unique_id"]):
            return None
        return plan_figures(self.columns("plan"), planned_day_of(self.folder, self.curves))

    @property
    def model(self) -> DemandModel:
        """The demand model, ready to forecast."""
        from unmet.forecasting import load_demand

        return load_demand(*need(self.folder, schema.MODEL))

    @property
    def page(self) -> Path | None:
        """Path of the report; None if it was not written."""
        path = self.folder / schema.PAGE.name
        return path if path.is_file() else None

    # What the folder says of itself

    @property
    def zone(self) -> str:
        """Time zone of the local clock."""
        return self._note("zone", "UTC")

    @property
    def by(self) -> str:
        """Length of a period: hour, day, week, or another step such as 15 minutes."""
        return self._note("by", "hour")

    @property
    def noun(self) -> str:
        """What is counted, in the plural: rides, or what a panel of your own was said to hold."""
        return self._note("noun", "rides")

    @property
    def words(self) -> Words:
        """What the run calls what it counts."""
        return Words(self.noun, ((self.account or {}).get("panel") or {}).get("kind") == "series", self.by)

    @property
    def record(self) -> dict[str, Any]:
        """What run.json says; refuses a folder without one."""
        return read_record(self.folder)

    @property
    def steps(self) -> tuple[str, ...]:
        """Names of the finished steps."""
        order = ("city", "panel", "fit", "forecast", "plan", "truth", "report")
        found = self._record_or_nothing().get("steps", {})
        return tuple(sorted(found, key=lambda name: (order.index(name) if name in order else 9, name)))

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        """Settings of each finished step."""
        return {name: step["settings"] for name, step in self._record_or_nothing().get("steps", {}).items()}

    @property
    def versions(self) -> dict[str, str]:
        """Versions of Python and of the packages that decide the numbers."""
        return dict(self._record_or_nothing().get("notes", {}).get("versions", {}))

    # Files, for code that builds on a run

    def has(self, name: str) -> bool:
        """Return whether a table or file of the schema is in the folder."""
        return (self.folder / _file(name).name).exists()

    def given(self, name: str) -> bool:
        """Return whether the run has a file. One that a finished step wrote and that is gone is refused.

        Without it, the run would be told as one that never had it: a failed check, for example.
        """
        if self.has(name):
            return True
        steps = self._record_or_nothing().get("steps", {})
        if any(_file(name).name in step["outputs"] for step in steps.values()):
            self.need(name)
        return False

    def need(self, *names: str) -> list[Path]:
        """Return paths of files; a missing one is named with the command that makes it."""
        return need(self.folder, *map(_file, names))

    def columns(self, table: str, only: Sequence[str] | None = None) -> Columns:
        """Return a table as NumPy columns, read-only; nulls are NaN in numbers and None in texts.

        With `only`, these columns of a Parquet file are read for this call alone: large tables need room.
        """
        file = _file(table)
        if only is None or file.name in self._read:
            found = self._table(table)[0]
            return {name: values for name, values in found.items() if only is None or name in only}
        return dict(_frozen(read_table(self.folder, file, only))[0])

    def about(self, table: str) -> dict[str, str]:
        """Return the notes in the metadata of a Parquet file, such as zone and by."""
        return dict(self._table(table)[1])

    def rows(self, table: str) -> tuple[dict[str, Any], ...]:
        """Return the rows of a small table as dicts; an empty number is None. No rows without the file."""
        if not self.given(table):
            return ()
        columns = {name: values.tolist() for name, values in self.columns(table).items()}
        return tuple(
            {name: None if value != value else value for name, value in zip(columns, row)}  # NaN alone
            for row in zip(*columns.values())
        )

    @property
    def totals(self) -> dict[str, Any]:
        """lost_total.json: demand and lost rides of all places, of each place and of each day."""
        return self._object(schema.TOTALS)

    @property
    def calibration(self) -> dict[str, Any] | None:
        """calibration.json: how well the intervals hold."""
        return self._object(schema.CALIBRATION)

    @property
    def self_check(self) -> dict[str, Any] | None:
        """self_check.json: rides hidden by virtual stock-outs and their estimate."""
        return self._object(schema.SELF_CHECK)

    @property
    def measures(self) -> list[dict[str, Any]]:
        """measures.json: models compared on the same past forecasts."""
        return self._object(schema.MEASURES) or []

    @property
    def account(self) -> dict[str, Any] | None:
        """panel.json: what was read, every line accounted for."""
        return self._object(schema.ACCOUNT)

    @property
    def curves(self) -> dict[str, Any] | None:
        """curves.json: the planned day and lost rides by starting stock."""
        return self._object(schema.CURVES)

    @property
    def truth(self) -> dict[str, Any] | None:
        """truth.json: what a simulated city knows; None for any other run."""
        return self._object(schema.TRUTH)

    def read_panel(self, *, also: Sequence[str] = (), only: Sequence[str] | None = None) -> Any:
        """Return the checked panel as `mobility.read_panel` does; it must have the columns `also`."""
        self.need("panel")
        return checked_panel(self.folder / schema.PANEL.name, also=also, only=only)

    def check(self) -> None:
        """Refuse the folder if its files do not belong to one run."""
        check_all(self)

    def _table(self, name: str) -> tuple[Columns, dict[str, str]]:
        file = _file(name)
        if not file.columns:
            raise ValueError(f"table must be one of {', '.join(self.TABLES)}, got {name!r}")
        return self._fresh(file, lambda: _frozen(read_table(self.folder, file)))

    def _object(self, file: schema.File) -> Any:
        self.given(file.name)
        return self._fresh(file, lambda: read_object(self.folder, file))

    def _fresh(self, file: schema.File, read: Callable[[], Any]) -> Any:
        """What was read before, unless the file has changed since."""
        try:
            now = os.stat(self.folder / file.name)
        except OSError:
            self._read.pop(file.name, None)
            return read()
        stamp = (now.st_mtime_ns, now.st_size, now.st_ino)
        if self._read.get(file.name, (None, None))[0] != stamp:
            self._read[file.name] = stamp, read()
        return self._read[file.name][1]

    def _note(self, name: str, otherwise: str) -> str:
        for table in ("lost", "forecast", "panel"):
            if self.has(table):
                return self.about(table).get(name, otherwise)
        self.need("lost")
        return otherwise

    def _record_or_nothing(self) -> dict[str, Any]:
        return read_record(self.folder) if (self.folder / "run.json").is_file() else {}

    def __repr__(self) -> str:
        try:
            summary = self.summary(fit_only=True)
            shown = f"about {about(summary.lost)} {summary.words.noun} lost"
            found = f", {shown if summary.trust.show_total else summary.trust.meaning}"
        except (ValueError, OSError):
            found = ""
        try:
            steps = ", ".join(self.steps) or "no steps"
        except (RunError, OSError):
            steps = "damaged record"
        return f"<Run {str(self.folder)!r}: {steps}{found}>"

    def _repr_html_(self) -> str:
        return run_html(self)


def open_run(folder: str | os.PathLike[str], *, backend: str | None = None) -> Run:
    """Open the folder of a run.

    Parameters
    ----------
    folder : the folder that `unmet.run` or ``unmet run -o`` wrote.
    backend : library of the frames: "pandas", "polars" or "arrow". None: the first that is installed.

    Examples
    --------
    >>> unmet.open_run("out", backend="polars").lost  # doctest: +SKIP
    """
    path = Path(folder)
    if not path.is_dir():
        raise ValueError(f"folder {path} does not exist; make a run with `unmet run … -o {path}`")
    known = any((path / name).exists() for name in ("run.json", *schema.FILES))
    if not known:
        raise ValueError(f"{path} is not the folder of a run; make one with `unmet run … -o {path}`")
    return Run(path, backend=backend)


def _file(name: str) -> schema.File:
    """A file by its name, or a table by its short name."""
    for full in (name, f"{name}.parquet", f"{name}.csv", f"{name}.json"):
        if full in schema.FILES:
            return schema.FILES[full]
    raise ValueError(f"a run has no file {name!r}; it has {', '.join(schema.FILES)}")


def _frozen(found: tuple[Columns, dict[str, str]]) -> tuple[Columns, dict[str, str]]:
    """Columns that nobody changes by accident: they are shared by all who ask."""
    for values in found[0].values():
        values.flags.writeable = False
    return found
