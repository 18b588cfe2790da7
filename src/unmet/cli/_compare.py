"""`unmet compare`: which method to use on a table of your own."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from unmet.cli import _options as options

EXAMPLE = "Example: unmet compare sales.csv --y sold --threshold stock -o out/compare"
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
        in_methods(metavar="NAME,…", show_default="all that apply", help="Compare only these methods."),
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
    Run it again after an interruption and it computes only what is missing.
    """
    from unmet import comparison
    from unmet.cli._compare_words import tell, write
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
        progress=False if quiet else None,
    )
    files = write(found, output)
    tell(found, files, as_json=as_json, quiet=quiet)


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
        raise ValueError(
            f"threshold={text!r} is neither a number nor a column; there are {', '.join(columns)}"
        ) from None
