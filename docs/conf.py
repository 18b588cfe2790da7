"""How Sphinx builds the site: `make docs`. Nothing is fetched, neither now nor by a reader's browser."""

import os
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ["COLUMNS"] = "88"

import unmet  # noqa: E402

project = "unmet"
author = "The unmet developers"
project_copyright = "The unmet developers, Apache License 2.0"
release = version = unmet.__version__

extensions = [
    "generated_pages",  # docs/_ext: commands, files of a run and public names, from the code
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["**/sg_execution_times.rst", "sg_execution_times.rst"]
nitpicky = False
suppress_warnings = ["ref.python", "config.cache"]
default_role = "code"
show_warning_types = True

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
myst_url_schemes = {"https": None, "http": None, "mailto": None}

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "inherited-members": False, "show-inheritance": False}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples" / "tutorials")],
    "gallery_dirs": ["tutorials"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "plot_gallery": os.environ.get("UNMET_DOCS_FAST", "") == "",
    "copyfile_regex": r"index\.rst",
    "show_signature": False,
    "backreferences_dir": None,
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
}
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

html_theme = "pydata_sphinx_theme"
html_title = "unmet"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "changelog": []}
