"""The website, built by `cargo xtask site`."""

import inspect
import os
import shutil
from importlib.metadata import version as installed
from pathlib import Path

import partita as pt
from PIL import Image
from sphinx.application import Sphinx

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

project = "Partita"
author = "The Partita developers"
copyright = "The Partita developers"  # noqa: A001 - Sphinx's name
release = version = installed("partita")

extensions = [
    "myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sphinx_gallery.gen_gallery", "matplotlib.sphinxext.plot_directive",
]  # fmt: skip
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache", "myst.xref_missing"]
exclude_patterns = ["gallery_source", "_templates", "checks"]
templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_title = "Partita"
html_static_path = ["_static"]
html_css_files = ["partita.css"]
html_show_sourcelink = False
html_copy_source = False
# The list of all names would be most of each page of the reference: those pages have no sidebar.
html_sidebars = {page: [] for page in (*(path.stem for path in HERE.glob("*.md")), "reference/generated/*")}
html_theme_options = {"show_prev_next": True, "navigation_with_keys": False, "secondary_sidebar_items": ["page-toc"]}

# Docstrings refer to Markdown or plain words now and then; numpydoc lays out their sections.
numpydoc_show_class_members = False
autosummary_generate = True
autosummary_generate_overwrite = True

sphinx_gallery_conf = {
    "examples_dirs": ["gallery_source"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "download_all_examples": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "show_memory": False,
    "within_subsection_order": "FileNameSortKey",
}

plot_include_source = True
plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = [("png", 120)]


def _pictures() -> None:
    """Pictures that are kept elsewhere in the repository."""
    target = HERE / "_static/pictures"
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "docs/speed.svg", target)
    picture = Image.open(ROOT / "docs/tsunami.png").convert("RGB")
    picture.thumbnail((1000, 1000))
    picture.save(target / "tsunami.jpg", quality=80, optimize=True)


def _reference() -> None:
    """One page per kind of public name, so that new names are listed without a change here."""
    listed = [name for name in dir(pt) if not name.startswith("_")]
    kinds: dict[str, list[str]] = {"classes": [], "errors": [], "ufuncs": [], "functions": []}
    for name in listed:
        value = getattr(pt, name)
        if inspect.isclass(value):
            kinds["errors" if issubclass(value, BaseException) else "classes"].append(name)
        elif isinstance(value, pt.ufunc):
            kinds["ufuncs"].append(name)
        elif callable(value) and inspect.getdoc(value):
            kinds["functions"].append(name)
    titles = {"classes": "Classes", "errors": "Errors", "ufuncs": "Functions of elements", "functions": "Functions"}
    folder = HERE / "reference"
    folder.mkdir(exist_ok=True)

    def page(name: str, title: str, module: str, names: list[str]) -> None:
        lines = [title, "=" * len(title), "", f".. currentmodule:: {module}", "", ".. autosummary::", "   :toctree: generated", ""]
        (folder / f"{name}.rst").write_text("\n".join([*lines, *(f"   {entry}" for entry in names), ""]))

    for kind, names in kinds.items():
        page(kind, titles[kind], "partita", names)
    for module in ("fft", "random", "operators", "linalg", "torch"):
        try:
            space = __import__(f"partita.{module}", fromlist=["_"])
        except ImportError:
            continue
        public = getattr(space, "__all__", None) or [n for n in dir(space) if not n.startswith("_")]
        names = [n for n in public if callable(getattr(space, n)) and inspect.getdoc(getattr(space, n))]
        page(module, f"partita.{module}", f"partita.{module}", names)
    pages = [*kinds, *sorted(path.stem for path in folder.glob("*.rst") if path.stem not in {*kinds, "index"})]
    toc = "\n".join(f"   {name}" for name in pages)
    (folder / "index.rst").write_text(f"Reference\n=========\n\n.. toctree::\n   :maxdepth: 1\n\n{toc}\n")


def _without_maps(app: Sphinx, _: Exception | None) -> None:
    """Maps of the theme's minified scripts are for the theme's authors."""
    for path in Path(app.outdir).rglob("*.map"):
        path.unlink()


def setup(app: Sphinx) -> None:
    """Sphinx's hook."""
    app.connect("build-finished", _without_maps)


os.environ.setdefault("PARTITA_DEVICE", "host")
_pictures()
_reference()
