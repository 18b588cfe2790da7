"""Draw figures without a display and write them as PNG and SVG; equal inputs give equal bytes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from unmet.runs import naming_extras


def new_figure(width: float, height: float) -> Any:
    # pyplot would keep every figure and look for a display.
    with naming_extras():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def save_figures(folder: Path, makers: Mapping[str, Callable[[], Any]]) -> list[Path]:
    """Make each figure and write it under its name."""
    with naming_extras():
        import matplotlib

    look: Any = {"svg.hashsalt": "unmet", "font.size": 9, "figure.constrained_layout.use": True}
    paths = []
    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(look):
        for name, make in makers.items():
            figure = make()
            for kind, extra in (("png", {"Software": None}), ("svg", {"Date": None, "Creator": None})):
                path = folder / f"{name}.{kind}"
                _save(figure, path, kind, extra)
                figure.set_layout_engine("none")  # found by the first drawing; finding it again is slow
                paths.append(path)
    return paths


def legend_below(figure: Any, ax: Any, *, columns: int) -> None:
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


def _save(figure: Any, path: Path, kind: str, metadata: dict[str, None]) -> None:
    from unmet.runs import atomic_write

    with atomic_write(path) as file:
        figure.savefig(file, format=kind, dpi=150, metadata=metadata)
