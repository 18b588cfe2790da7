"""`unmet compare`: which method to use on a table of your own."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from unmet.cli import _options as options
from unmet.cli._terminal import printable

EXAMPLE = "Example: unmet compare sales.csv --y sold --threshold stock -o out/compare"
# Written out, because help must not wait for the methods to be imported.
NAMES = (
    "Kaplan–Meier; Tobit; Portnoy; Peng–Huang; Powell; Wang–Wang; default; inverse weights; Tobit, skewed; "
    "Bayes, Powell; Bayes, augmented; local linear; Gaussian process; forest; booster; kernel; MLP"
)
in_target, in_methods = options.group("Target"), options.group("Comparison")


def compare(
    table: Annotated[
        Path,
        typer.Argument(metavar="TABLE", help="CSV file with a header, or Parquet file; one row per case."),
    ],
    y: Annotated[
        str | None,
        in_target("--y", metavar="COLUMN", help="Observed value; a bound where censored."),
    ] = None,
    threshold: Annotated[
        str | None,
        in_target(
            metavar="COLUMN|NUMBER",
            help="Where each row is, or would have been, cut off; inf: nowhere. With --side both: FLOOR,CAP.",
        ),
    ] = None,
    censored: Annotated[
        str | None, in_target(metavar="COLUMN", help="True, yes or 1 where y is only a bound.")
    ] = None,
    event: Annotated[
        str | None,
        in_target(metavar="COLUMN", help="The opposite of --censored: true, yes or 1 where y was seen."),
    ] = None,
    lower: Annotated[
        str | None, in_target(metavar="COLUMN", help="Instead of --y: lower bound; empty if there is none.")
    ] = None,
    upper: Annotated[
        str | None, in_target(metavar="COLUMN", help="Instead of --y: upper bound; empty if there is none.")
    ] = None,
    side: Annotated[
        Literal["right", "left", "both"],
        in_target(metavar="right|left|both", help="Which values are cut off: large, small, or both."),
    ] = "right",
    features: Annotated[
        str | None,
        in_target(metavar="COLUMN,…", show_default="all others", help="Columns to predict from."),
    ] = None,
    methods: Annotated[
        str | None,
        in_methods(metavar="NAME,…", show_default="all that apply", help=f"Compare only these: {NAMES}."),
    ] = None,
    folds: Annotated[int, in_methods(min=2, max=20, metavar="N", help="Parts of the cross-validation.")] = 5,
    rows: Annotated[
        int, in_methods(min=50, metavar="N", help="Draw this many rows from a larger table.")
    ] = 5_000,
    seed: Annotated[int, in_methods(min=0, metavar="N", help="Seed of every random draw.")] = 0,
    output: options.Folder = Path("out/compare"),
    jobs: options.Jobs = -1,
    replace: options.Replace = False,
    config: options.Config = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare all methods on a table of your own, and recommend one.

    Losses are cross-validated and need no true values. Writes comparison.csv, comparison.json and a figure.
    Run it again after an interruption and it computes only what is missing. All methods take about two
    minutes of CPU time for 1,500 rows and 10 columns, counted after texts became columns of 0 and 1.
    """
    _check_target(y, lower, upper, {"--threshold": threshold, "--censored": censored, "--event": event})
    from unmet import comparison
    from unmet.cli._compare_words import tell, write
    from unmet.runs import is_watched
    from unmet.tables import read_any

    source = read_any(table, texts=[name for name in (censored, event) if name])
    columns = source.columns
    found = comparison.compare(
        source,
        y,
        threshold=_threshold(threshold, columns, side),
        censored=censored,
        event=event,
        lower=lower,
        upper=upper,
        side=side,
        features=comparison.split_names(features, columns) if features else None,
        methods=methods or None,
        folds=folds,
        max_rows=rows,
        random_state=seed,
        n_jobs=jobs,
        output=output,
        replace=replace,
        progress=False if quiet else None if is_watched() else _say,
    )
    lost = [] if replace or quiet else _lost(output, found)
    files = write(found, output, printable(table.name))
    if lost:
        _say(
            f"{output} now compares {_counted(found.lines)}, without {'; '.join(lost)}, which it had before. "
            "Their fits are kept: name them in --methods too, or leave it out, to have them back"
        )
    tell(found, files, as_json=as_json, quiet=quiet)


def _check_target(y: str | None, lower: str | None, upper: str | None, more: dict[str, str | None]) -> None:
    """Refuse options that leave the target open or say it twice."""
    if lower is None and upper is None:
        if y is None:
            raise ValueError("give --y, the column to predict; or --lower and --upper, its bounds")
        return
    given = [option for option, value in {"--y": y, **more}.items() if value is not None]
    if given:
        raise ValueError(
            f"--lower and --upper are given instead of --y: leave out {' and '.join(given)}, or them"
        )
    if lower is None or upper is None:
        one, other = ("--lower", "--upper") if upper is None else ("--upper", "--lower")
        raise ValueError(f"{one} needs {other} too: a column that is empty where there is no such bound")


def _say(words: str) -> None:
    """Print a line beside the results: what is finished, what has changed."""
    print(f"unmet compare: {printable(words)}", file=sys.stderr, flush=True)


def _lost(folder: Path, found: Any) -> list[str]:
    """Return the methods that a comparison in the folder has and this one does not have."""
    try:
        before = [line["method"] for line in json.loads((folder / "comparison.json").read_bytes())["lines"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [str(name) for name in before if name not in {line.method for line in found.lines}]


def _counted(lines: Any) -> str:
    return f"{len(lines)} method{'s' if len(lines) > 1 else ''}"


def _threshold(text: str | None, columns: dict[str, Any], side: str) -> Any:
    """Return the name of a column or a number, or two of them with --side both."""
    if text is None or text in columns:
        return text
    from unmet.comparison import split_names

    parts = split_names(text, columns)
    if side == "both" and len(parts) == 2:
        return tuple(_threshold(part, columns, "") for part in parts)
    try:
        return float(text)
    except ValueError:
        from unmet.comparison import no_column

        rest = no_column(text, columns).replace("is no column", "is neither a number nor a column")
        raise ValueError(f"threshold={text!r} {rest}") from None
