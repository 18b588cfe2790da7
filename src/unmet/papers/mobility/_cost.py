"""What a loop that trains one network at a time would need for the same grid."""

import json
from pathlib import Path

# Networks per second of Keras `fit`, one core, as `make bench` measured it (benchmarks/README.md says how):
# 126 training rows, 7 lags, patience 10; LSTM of 32 units.
STORED = {"linear": 0.018, "lstm": 0.236}
_LINES = {"linear": "linear", "lstm": "lstm-32"}


def keras_rates(measured: Path = Path("out/bench/engine.json")) -> tuple[dict[str, float], str]:
    """Networks per second by kind, and where the figures come from: a full `make bench` here, or stored."""
    try:
        held = json.loads(measured.read_text(encoding="utf-8"))
        if held["config"] != "full":
            return STORED, "stored figures of an earlier `make bench`"
        rows = [row for line in held["lines"] for row in line["rows"] if row["rival"] == "keras"]
        by_line = {row["line"]: float(row["rival_figure"].split()[0]) for row in rows}
        return {kind: by_line[line] for kind, line in _LINES.items()}, "`make bench` on this machine"
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return STORED, "stored figures of an earlier `make bench`"


def keras_hours(linear: int, lstm: int, units: int | None) -> str:
    """A sentence: how long one-at-a-time Keras would need for so many networks on one core."""
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
