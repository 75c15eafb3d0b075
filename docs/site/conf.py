"""Settings of Sphinx; `python -m docs.site` uses them on the folder that docs.site.stage fills."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # so that docs.site.mathml can be imported

project = "herded"
author = "The herded developers"
copyright = author
extensions = [
    "docs.site.docstrings",
    "docs.site.mathml",
    "docs.site.numbers",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
]
default_role = "code"
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath", "colon_fence", "attrs_block"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 3
suppress_warnings = [
    "misc.highlighting_failure",  # a console block may show anything
    "ref.ref",  # docstrings that scikit-learn writes name pages and terms of its own
    "ref.term",
]

autodoc_typehints = "none"  # numpydoc's Parameters say it
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

copybutton_prompt_text = "$ "
highlight_language = "text"  # of blocks that name none
pygments_style = "a11y-light"  # comes with furo; every colour has a contrast of 4.5
pygments_dark_style = "a11y-dark"

html_theme = "furo"
html_title = "herded"
html_static_path = ["theme"]
html_css_files = ["herded.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#c4382f",
        "color-brand-content": "#2563a8",
        "font-stack": "system-ui, sans-serif",
    },
    "dark_css_variables": {
        "color-brand-primary": "#ff8a80",
        "color-brand-content": "#8ab8f0",
    },
}
