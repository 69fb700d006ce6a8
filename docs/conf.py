"""Settings of Sphinx, and the hook that makes the page of each game from the code."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # from a checkout that need not be installed

import make_game_pages  # noqa: E402  # found by the line above

import phantom_envs  # noqa: E402  # likewise

project = "phantom_envs"
author = "phantom_envs contributors"
version = release = phantom_envs.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_build", "figures", "rules", "rulings"]  # all but the first are parts of other pages
html_theme = "furo"
html_title = f"phantom_envs {release}"

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_use_ivar = True
default_role = "code"


def setup(app: Sphinx) -> None:
    """Write the games' pages before Sphinx reads its sources."""
    app.connect("builder-inited", lambda _: make_game_pages.write_all(HERE / "games"))
