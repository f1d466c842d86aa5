"""How the documentation is built: Markdown in, furo pages out; every warning is an error in CI."""

from __future__ import annotations

from importlib import metadata

project = "foretrain"
copyright = "the foretrain authors, Apache-2.0"
try:
    release = metadata.version("foretrain")
except metadata.PackageNotFoundError:
    release = "0+source"
version = release

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"foretrain {release}"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072B2", "color-brand-content": "#0072B2"},
    "dark_css_variables": {"color-brand-primary": "#56B4E9", "color-brand-content": "#56B4E9"},
}
