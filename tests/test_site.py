"""The documentation site: everything public has its place, links lead somewhere, no page is a wall of text.

`make docs` builds the site; these checks need no Sphinx.
"""

import ast
import re
import sys
from pathlib import Path

import pytest

from unmet.cli._app import COMMANDS
from unmet.mobility import PANEL_COLUMNS
from unmet.results import FILES

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_ext"))
GENERATED = ("names", "files", "commands", "tutorials", "pictures")
PAGES = sorted(page for page in DOCS.rglob("*.md") if not {*GENERATED} & {*page.parts})
TUTORIALS = sorted((ROOT / "examples" / "tutorials").glob("plot_*.py"))
# Five minutes at two hundred words a minute. Tables of results are looked up, not read.
MOST_WORDS = 1000
LONG = ("results/koenker.md", "results/paper-synthetic/", "results/paper-mobility/")


def name_of(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


def prose(text: str) -> str:
    """The text without code blocks and tables."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return "\n".join(line for line in text.splitlines() if not line.startswith("|"))


def test_every_option_of_every_command_has_its_place(capsys):
    from command_pages import command_pages
    from unmet.cli import main

    pages = command_pages()
    for command in COMMANDS:
        with pytest.raises(SystemExit):
            main([command, "--help"])
        options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", capsys.readouterr().out.split("Example")[0]))
        assert len(options) >= 1
        missing = {option for option in options if not re.search(rf"{option}\b", pages[command])}
        assert not missing, (command, missing)
        assert f"[`unmet {command}`]({command}.md)" in pages["index"]


def test_every_file_and_column_of_a_run_has_its_place():
    from file_pages import file_pages, slug

    pages = file_pages()
    for file in FILES.values():
        assert f"`{file.name}`" in pages["index"]
        for column in file.columns:
            assert f"| `{column.name}` |" in pages[slug(file)], (file.name, column.name)
        for part in file.parts:
            assert not part.name or f"| `{part.name}` |" in pages[slug(file)], (file.name, part.name)
    assert all(f"| `{column.name}` |" in pages["panel-parquet"] for column in PANEL_COLUMNS)


def test_every_public_name_has_its_place():
    from name_pages import name_pages, public_packages

    packages, pages = public_packages(), name_pages()
    folders = {path.parent.name for path in (ROOT / "src" / "unmet").glob("*/__init__.py")}
    assert {f"unmet.{name}" for name in folders} <= set(packages)
    for package, module in packages.items():
        assert f"   {package}\n" in pages["index"]
        for name in module.__all__:
            assert f"\n{name}\n{'-' * len(name)}\n" in pages[package], (package, name)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_of_a_page_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(#[^)\s]*)?\)", text):
        if target.startswith(("https://", "http://")):
            continue
        goal = (page.parent / target).resolve() if target else page
        inside = goal.relative_to(DOCS) if goal.is_relative_to(DOCS) else None
        if inside is not None and {*GENERATED} & {*inside.parts}:
            source = ROOT / "examples" / "tutorials" / f"{goal.name}.py"
            assert goal.name != "index" or inside.parts[0] in (*GENERATED, "reference")
            assert inside.parts[0] != "tutorials" or goal.name == "index" or source.exists(), target
            continue
        assert goal.exists(), target
        if anchor:
            heads = re.findall(r"(?m)^#+ (.*)$", goal.read_text(encoding="utf-8"))
            slugs = {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}
            assert anchor[1:] in slugs, (target, anchor)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_takes_five_minutes_at_most(page):
    if not name_of(page).startswith(LONG):
        assert len(prose(page.read_text(encoding="utf-8")).split()) <= MOST_WORDS


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.name)
def test_a_tutorial_is_short_and_its_links_lead_somewhere(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    text = "\n".join(
        line[2:] for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("# ")
    )
    text += ast.get_docstring(tree) or ""
    assert len(text.split()) <= MOST_WORDS
    for target in re.findall(r":doc:`/?([^`]+)`", text):
        generated = any(part in target for part in GENERATED)
        known = (DOCS / f"{target}.md").exists() or (path.parent / f"{target}.py").exists()
        assert generated or known, target


def test_the_tutorials_are_those_that_were_promised():
    assert len(TUTORIALS) >= 6
    assert [int(path.name.split("_")[1]) for path in TUTORIALS] == list(range(1, len(TUTORIALS) + 1))


def test_every_page_is_in_the_tree():
    listed = {"index"}
    for page in PAGES:
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.S):
            for entry in tree.split("\n"):
                if entry and not entry.startswith(":"):
                    listed.add((page.parent / entry).resolve().relative_to(DOCS).as_posix())
    missing = {name_of(page).removesuffix(".md") for page in PAGES} - listed
    assert not missing


def test_a_block_that_does_not_run_says_why():
    from code_blocks import blocks_of, pages

    found = [(page, block) for page in pages() for block in blocks_of(page)]
    assert sum(block.reason is None for _, block in found) > 20
    for page, block in found:
        if block.language == "python" and block.reason is None:
            ast.parse(block.code, str(page))
        assert block.reason is None or len(block.reason.split()) >= 2


def test_the_workflows_call_targets_of_the_makefile():
    targets = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8")))
    called = set()
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        called |= set(re.findall(r"run: make ([\w-]+)", path.read_text(encoding="utf-8")))
    assert {"test", "docs"} <= called <= targets
