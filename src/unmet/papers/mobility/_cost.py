"""What a grid cost, and what it would cost to train one network at a time."""

from dataclasses import dataclass

# Networks per second of Keras `fit` on one core, as `make bench` measured it (benchmarks/README.md says how):
# 126 training rows, 7 lags, patience 10; LSTM of 32 units.
_LINEAR, _LSTM = 0.018, 0.236


def keras_hours(linear: int, lstm: int, units: int | None) -> str:
    """Say how long one-at-a-time Keras would need for so many networks on one core."""
    minutes = (linear / _LINEAR + lstm / _LSTM) / 60
    time = f"{minutes / 60:,.0f} hours" if minutes >= 120 else f"{minutes:,.0f} minutes"
    text = (
        f"One-at-a-time Keras would need {time} of one core for these {linear + lstm:,} networks "
        f"({linear:,} linear at {_LINEAR:g}/s, {lstm:,} LSTM at {_LSTM:g}/s; stored figures of an earlier "
        "`make bench`)"
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
