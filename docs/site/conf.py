"""How Sphinx renders the book; `build.py` has run the notebooks already."""

project = "Stateful stream processing, taken apart"
extensions = ["myst_nb"]
nb_execution_mode = "off"
html_theme = "sphinx_book_theme"
html_title = project
html_show_copyright = False
html_theme_options = {
    "use_download_button": False,
    "home_page_in_toc": False,
    "navbar_persistent": [],
}
myst_heading_anchors = 3
suppress_warnings = ["mystnb.unknown_mime_type", "myst.header", "misc.highlighting_failure"]
