"""What a grid cost, and what it would cost to train one network at a time."""

import json
from dataclasses import dataclass
from pathlib import Path

# Networks per second of Keras `fit`, one core, as `make bench` measured it (benchmarks/README.md says how):
# 126 training rows, 7 lags, patience 10; LSTM of 32 units.
STORED = {"linear": 0.018, "lstm": 0.236}
_LINES = {"linear": "linear", "lstm": "lstm-32"}


def keras_rates(measured: Path = Path("out/bench/engine.json")) -> tuple[dict[str, float], str]:
    """Return networks per second by kind and their origin: a full `make bench` here, or stored figures."""
    stored = STORED, "stored figures of an earlier `make bench`"
    try:
        held = json.loads(measured.read_text(encoding="utf-8"))
        if held["config"] != "full":
            return stored
        rows = [row for line in held["lines"] for row in line["rows"] if row["rival"] == "keras"]
        by_line = {row["line"]: float(row["rival_figure"].split()[0]) for row in rows}
        return {kind: by_line[line] for kind, line in _LINES.items()}, "`make bench` on this machine"
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return stored


def keras_hours(linear: int, lstm: int, units: int | None) -> str:
    """Say how long one-at-a-time Keras would need for so many networks on one core."""
    rates, source = keras_rates()
    minutes = (linear / rates["linear"] + lstm / rates["lstm"]) / 60
    time = f"{minutes / 60:,.0f} hours" if minutes >= 120 else f"{minutes:,.0f} minutes"
    text = (
        f"One-at-a-time Keras would need {time} of one core for these {linear + lstm:,} networks "
        f"({linear:,} linear at {rates['linear']:g}/s, {lstm:,} LSTM at {rates['lstm']:g}/s; {source})"
    )
    if lstm and units not in (None, 32):
        text += f"; its rate was measured with 32 LSTM units, and these have {units}"
    return text + "."


@dataclass(frozen=True)
class Cost:
    """What computing the shards took; no part of the results."""

    networks: int
    lstm: int
    trained: int
    seconds: float
    peak_mb: float
    processes: int
    finished_before: int

    @property
    def rate(self) -> float:
        """Networks per second."""
        return self.trained / max(self.seconds, 1e-9)

    def one_at_a_time(self, units: int | None) -> str:
        return keras_hours(self.networks - self.lstm, self.lstm, units)

    def to_markdown(self, units: int | None) -> str:
        lines = [
            f"{self.trained:,} networks trained in {self.seconds:,.0f} s on {self.processes} process(es): "
            f"{self.rate:,.1f} networks/s; peak memory of all processes together {self.peak_mb:,.0f} MB."
        ]
        if self.finished_before:
            lines.append(f"{self.finished_before:,} shards had been finished before and were not run again.")
        return "\n".join([*lines, self.one_at_a_time(units)]) + "\n"
