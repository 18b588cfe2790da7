"""Run the code blocks of the pages, as a reader would: `python docs/_ext/code_blocks.py [PAGE …]`.

Blocks marked `python` and `sh` of one page run one after the other in a folder with the files of a small
simulated city and the run `out` made from them. A block that cannot run here has a comment before it,
`<!-- not run: reason -->`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
WORK = ROOT / "out" / "docs-blocks"
BLOCK = re.compile(
    r"(?:<!-- not run: (?P<reason>[^\n]+?) -->\n)?^```(?P<language>python|sh)\n(?P<code>.*?)^```$",
    re.M | re.S,
)


@dataclass(frozen=True)
class Block:
    """One block of a page; with a `reason` it does not run."""

    language: str
    code: str
    line: int
    reason: str | None


def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(found["language"], found["code"], text[: found.start("code")].count("\n") + 1, found["reason"])
        for found in BLOCK.finditer(text)
    ]


def pages() -> list[Path]:
    """Return the pages whose blocks run: those written by hand, and the README."""
    written = [path for path in DOCS.rglob("*.md") if "tutorials" not in path.parts]
    return [ROOT / "README.md", *sorted(path for path in written if any(blocks_of(path)))]


def prepare(folder: Path) -> None:
    """Make the city and its run, unless they are there."""
    import unmet
    from unmet.datasets import make_city

    if not (folder / "city.json").exists():
        make_city("village", places=6, days=21, seed=1).write(folder)
    files = {
        "status": folder / "station_status_events.csv.gz",
        "stations": folder / "station_information.json",
    }
    settings = {"zone": "America/New_York", "network": "linear", "progress": False, "replace": True}
    unmet.run(trips=folder / "trips.csv.gz", **files, **settings, output=folder / "out")
    shutil.copy(folder / "out" / "panel.parquet", folder / "panel.parquet")


def run_page(page: Path) -> None:
    """Run the blocks of a page in the present folder."""
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks_of(page):
        if block.reason is not None:
            continue
        where = f"{page.relative_to(ROOT)}:{block.line}"
        if block.language == "sh":
            subprocess.run(["bash", "-euo", "pipefail", "-c", block.code], check=True)
        else:
            source = "\n" * (block.line - 1) + block.code
            exec(compile(source, where, "exec"), names)


def main(chosen: list[str]) -> int:
    """Run all pages, each in a process and a copy of the folder of its own; return 1 if one failed."""
    city = WORK / "city"
    prepare(city)
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "MPLBACKEND": "agg",
    }
    failed = []
    for page in pages():
        name = str(page.relative_to(ROOT))
        if chosen and name not in chosen:
            continue
        folder = WORK / name.replace("/", "-").removesuffix(".md")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(city, folder)
        started = time.monotonic()
        command = [sys.executable, __file__, "--page", name]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        count = sum(block.reason is None for block in blocks_of(page))
        print(f"{name}: {count} blocks, {time.monotonic() - started:.0f} s", flush=True)
        if done.returncode:
            failed.append(name)
            print(done.stdout[-2000:], done.stderr[-4000:], sep="\n", flush=True)
    if failed:
        print("blocks failed in", *failed)
    return int(bool(failed))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--page"]:
        run_page(ROOT / sys.argv[2])
    else:
        raise SystemExit(main(sys.argv[1:]))
