"""Give the package a README that a package index can show. Hatchling calls this when it builds."""

import runpy
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


class ReadmeHook(MetadataHookInterface):
    """Fill in `readme`, which pyproject.toml declares as dynamic."""

    def update(self, metadata: dict) -> None:
        root = Path(self.root)
        portable = runpy.run_path(str(root / "scripts" / "portable_readme.py"))["portable"]
        text = (root / "README.md").read_text(encoding="utf-8")
        source = metadata.get("urls", {}).get("Source")
        metadata["readme"] = {"content-type": "text/markdown", "text": portable(text, source)}
