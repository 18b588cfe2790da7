"""Reference pages of the files of a run, from the schema that reads and writes them."""

from __future__ import annotations

from unmet.results import FILES, File, Part

KINDS = {
    "text": "text",
    "time": "a moment, naive UTC",
    "flag": "true or false",
    "count": "whole number, 0 or more",
    "amount": "number, 0 or more",
    "bound": "number, 0 or more; infinite where the data set no upper bound",
    "share": "number from 0 to 1",
    "number": "number",
    "interval": "an object with `mean`, `q05` and `q95`",
    "object": "an object",
    "list": "a list",
    "numbers": "a list of numbers",
}


# What the schema has no room for.
NOTES = {
    "lost.parquet": "Over all places, demand is `y` plus `lost_mean`. At one place, those who walked are "
    "moved to where they wanted to start. The whole part of a quantile is the quantile of the count.",
    "forecast.parquet": "`q05` … `q95` are quantiles of demand + U, with U uniform on 0 to 1, so that a "
    "level is met exactly although counts are whole. Take the whole part for the count; the `unmet` "
    "columns hold it.",
    "fleet.csv": "Returns are held fixed, so sizes far from the usual fleet are arithmetic only.",
    "hubs.geojson": "One point for every place with coordinates; `id` is the place. Properties: "
    "`name`, `observed` (pickups seen), and `demand`, `lost`, `next_door`, each an object with `mean`, "
    "`q05` and `q95` over the whole period.",
    "panel.parquet": "Covariates that were asked for follow as further columns.",
}


def slug(file: File) -> str:
    """Return the name of the page of a file."""
    return file.name.replace(".", "-").replace("_", "-")


def file_pages() -> dict[str, str]:
    """Return a Markdown page for every file of a run folder, and one that lists them."""
    rows = [
        f"| [`{one.name}`]({slug(one)}.md) | `unmet {one.step}` | {one.meaning} |" for one in FILES.values()
    ]
    rows = [row.replace("`unmet truth`", "`unmet demo`") for row in rows]
    pages = {
        "index": "# Files of a run\n\n"
        '`unmet run … -o out` and `unmet.run(…, output="out")` write these files into the folder `out`. '
        '`unmet.open_run("out")` gives them as frames.\n\n'
        "| file | written by | what it holds |\n|---|---|---|\n" + "\n".join(rows) + "\n\n"
        "Beside them stand `run.json` (inputs, settings, versions, checksums and measures), "
        "`journal.jsonl` (steps that are done) and `log.jsonl` (timings, the one file that differs from run "
        "to run).\n\n"
        "Rows of Parquet files are ordered by `unique_id` and `ds`, the start of a period as naive UTC; "
        "the metadata of the file hold the `zone` of the local clock and the length of a period, `by`. "
        "In CSV files, names that begin with `=`, `+`, `-` or `@` have an apostrophe before them, "
        "so that a spreadsheet takes them for text.\n\n"
        "```{toctree}\n:hidden:\n\n" + "\n".join(slug(one) for one in FILES.values()) + "\n```\n"
    }
    for one in FILES.values():
        pages[slug(one)] = _page(one)
    return pages


def _page(file: File) -> str:
    step = "demo" if file.step == "truth" else file.step
    parts = [f"# {file.name}", f"{file.meaning[:1].upper()}{file.meaning[1:]}. Written by `unmet {step}`."]
    if file.required:
        parts.append("A report needs this file.")
    if file.columns:
        rows = [
            f"| `{one.name}` | {KINDS[one.kind]} | {_escaped(one.meaning)}{_absent(one.optional)} |"
            for one in file.columns
        ]
        parts.append("## Columns\n\n| column | kind | meaning |\n|---|---|---|\n" + "\n".join(rows))
    if file.parts:
        title = "Every entry of the list" if file.listed else "Entries"
        parts.append(
            f"## {title}\n\n| entry | kind | meaning |\n|---|---|---|\n" + "\n".join(_rows(file.parts))
        )
    parts += [NOTES[file.name]] if file.name in NOTES else []
    return "\n\n".join(parts) + "\n"


def _rows(parts: tuple[Part, ...], prefix: str = "") -> list[str]:
    rows = []
    for one in parts:
        if not one.name:
            continue
        meaning = _escaped(one.meaning) + _absent(one.optional)
        rows.append(f"| `{prefix}{one.name}` | {KINDS[one.kind]} | {meaning} |")
        rows += _rows(one.each, f"{prefix}{one.name}[…].")
    return rows


def _absent(optional: bool) -> str:
    return " (may be absent)" if optional else ""


def _escaped(text: str) -> str:
    return "".join(f"\\{sign}" if sign in "|*_<>[]" else sign for sign in text)
