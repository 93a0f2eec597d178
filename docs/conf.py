"""Settings of the documentation site (scripts/docs)."""

import json
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import python_api  # beside this file

ROOT = pathlib.Path(__file__).resolve().parent.parent

project = "Baton"
version = release = ".".join(re.findall(r"#define BATON_VERSION_[A-Z]+ (\d+)",
                                        (ROOT / "include/baton/version.h").read_text()))
extensions = ["myst_nb", "breathe", "sphinx_copybutton"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
# The tests run the notebooks (python/tests/test_notebooks.py); the site shows what their files hold.
nb_execution_mode = "off"
exclude_patterns = ["pictures/README.md"]

html_theme = "furo"
html_title = f"Baton {release}"
html_show_copyright = False
html_show_sphinx = False
html_static_path = ["static"]
html_css_files = ["site.css"]
# Each page gets the contents of the whole site. With a row for each C++ name they took most of the time of a
# build. The reference has a row for each header.
toc_object_entries = False

# Anchors as GitHub makes them, so that the links of the pages work in both places.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

breathe_projects = {"baton": str(ROOT / "build/docs/doxygen/xml")}
breathe_default_project = "baton"
breathe_default_members = ("members", "undoc-members")
breathe_order_parameters_first = False
# Each header declares the namespace anew.
suppress_warnings = ["duplicate_declaration.cpp"]

copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
highlight_language = "text"

# The address under which the repository's other files are shown. Without it, links to them are
# plain names.
repository = os.environ.get("BATON_REPOSITORY", "")
# Pages from outside of docs/.
PROJECT_PAGES = {"../ARCHITECTURE.md": "architecture.md", "../CONTRIBUTING.md": "contributing.md",
                 "../CHANGELOG.md": "changelog.md", "../README.md": "index.md"}


def link(text, target, whole, folder):
    """A link to a file of the repository, as the site can follow it."""
    if re.match(r"\w+:|#", target):
        return whole
    name, _, anchor = target.partition("#")
    path = os.path.relpath((ROOT / folder / name).resolve(), ROOT / "docs")
    if not path.startswith("../"):
        return f"[{text}](/{path}{'#' + anchor if anchor else ''})"
    if path in PROJECT_PAGES:
        return f"[{text}](/{PROJECT_PAGES[path]}{'#' + anchor if anchor else ''})"
    if repository:
        return f"[{text}]({repository}/{path[3:]})"
    return text


TOKEN = re.compile(r"^ *```.*?^ *```$|!?\[(?P<text>(?:`[^`]*`|[^\]\[`])+)\]\((?P<target>[^)\s]+)\)|`[^`\n]+`",
                   re.MULTILINE | re.DOTALL)


def rewrite(text, folder):
    """The links of a page that is in this folder of the repository; code and pictures stay."""
    def replaced(match):
        is_link = match["target"] and not match[0].startswith("!")
        return link(match["text"], match["target"], match[0], folder) if is_link else match[0]

    return TOKEN.sub(replaced, text)


def rewrite_notebook(text, folder):
    """The links of a notebook's prose; its code and outputs stay."""
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = rewrite("".join(cell["source"]), folder)
    return json.dumps(notebook)


def on_source_read(app, docname, source):
    outside = {target: name for name, target in PROJECT_PAGES.items() if target != "index.md"}
    name = outside.get(f"{docname}.md")
    if docname == "api/python":
        source[0] = python_api.markdown()
    elif name:  # the page is a stand-in for a file outside
        source[0] = rewrite((ROOT / "docs" / name).resolve().read_text(encoding="utf-8"), ".")
    else:
        is_notebook = str(app.env.doc2path(docname)).endswith(".ipynb")
        change = rewrite_notebook if is_notebook else rewrite
        source[0] = change(source[0], pathlib.Path("docs") / pathlib.Path(docname).parent)


# A line of a command's output that is a message, not a row of a table, which begins with blanks.
MESSAGE = re.compile(r'<span class="go">(?=[^ <\n])')


def on_page_context(app, pagename, templatename, context, doctree):
    """Long messages go on in the next line; tables scroll."""
    if "body" in context:
        context["body"] = MESSAGE.sub('<span class="go message">', context["body"])


def setup(app):
    app.connect("source-read", on_source_read)
    app.connect("html-page-context", on_page_context)
