"""Expected rides of all places over the horizon."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from unmet.report.figures._svg import Frame, whole_ticks
from unmet.results import Words
from unmet.results.numbers import moment, number


def forecast_figure(
    clock: Sequence[int], total: Sequence[float], words: Words, width: float, kind: str
) -> Markup:
    """One line; a tick at each local midnight, as many as there is room for."""
    height = 220 if width > 500 else 190
    count = len(total)
    upper = max(max(total) * 1.08, 1.0)
    frame = Frame(width, height, (0, max(1, count - 1)), (0, upper), top=30)
    xs = list(range(count))
    frame.y_axis(4, title=f"expected {words.noun} {words.each_period}")
    frame.area(xs, [0.0] * count, list(total), "soft-area")
    frame.line(xs, list(total), "line demand-line")
    day = np.asarray(clock) // 86400
    starts = np.flatnonzero(np.diff(day, prepend=day[0] - 1)).tolist()
    chosen = [starts[n] for n in whole_ticks(len(starts), 4 if width < 500 else 8)]
    frame.x_labels((n, moment(int(clock[n]), hours=False)) for n in chosen)
    label = f"Line chart of expected {words.noun} over {count} {words.period}s, {number(sum(total))} in all."
    return frame.svg(label, kind)
