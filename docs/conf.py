"""How the documentation is built: ``python3 dev.py docs``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_extensions"))
mpl.use("Agg")  # the gallery draws without a screen

import bayesieve  # noqa: E402

project = "bayesieve"
author = "The bayesieve developers"
copyright = author
version = release = bayesieve.__version__

extensions = [
    "myst_parser",  # pages in Markdown
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",  # docstrings as scikit-learn writes them
    "plain_docstrings",  # their names that end in an underscore
    "sphinx_gallery.gen_gallery",  # examples/ as pages, with what they print and draw
    "offline_math",  # formulas without a server
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
default_role = "py:obj"  # names in single backticks of docstrings become links
exclude_patterns = ["gallery/*.ipynb", "sg_execution_times.rst"]
nitpicky = False  # types in numpydoc are prose: "array-like of shape (n_samples,)"

# ----------------------------------------------------------------------------- pages

myst_enable_extensions = ["amsmath", "deflist", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "offline"
suppress_warnings = ["config.cache"]  # the sort keys of the gallery are no plain data

# ------------------------------------------------------------------------- reference

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings tell the types
templates_path = ["_templates"]
numpydoc_show_class_members = False  # the template lists them, with their texts
numpydoc_xref_param_type = False

# --------------------------------------------------------------------------- gallery

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "capture_repr": (),  # what a script prints, and no more
    "download_all_examples": False,
    "remove_config_comments": True,
    "reset_modules": ("matplotlib", "gallery_pictures.reset"),
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 10_000,
    "copyfile_regex": r"GALLERY_HEADER\.rst",
}
# Names of the package are imported when first used; a picture of one script must not
# depend on what another has imported.
os.environ.setdefault("PYTHONHASHSEED", "0")

# -------------------------------------------------------------------------- looks

html_theme = "furo"
html_title = f"bayesieve {release}"
html_static_path = ["_static"]
html_css_files = ["bayesieve.css"]
html_copy_source = False
html_show_sourcelink = False
pygments_style = "friendly"
pygments_dark_style = "monokai"
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#1d5b79",
        "color-brand-content": "#1d5b79",
    },
    "dark_css_variables": {
        "color-brand-primary": "#8ecae6",
        "color-brand-content": "#8ecae6",
    },
}


def skip_foreign(
    app: Any, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out what other libraries' base classes document already."""
    if name.startswith("set_") and name.endswith("_request"):
        return True
    home = getattr(getattr(member, "fget", None) or member, "__module__", None)
    if isinstance(home, str) and not home.startswith("bayesieve"):
        return True
    return None


def setup(app: Any) -> None:
    """Connect what is above."""
    app.connect("autodoc-skip-member", skip_foreign)
