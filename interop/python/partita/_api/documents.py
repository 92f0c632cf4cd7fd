"""Docstrings in numpydoc's form. What is the same for many functions is said once, in `documents.txt`: what a parameter of a name
is, which functions take the same ones, what computes and what is local, and an example for each function. Docstrings in the source say
what is left; their own sections and parameters come first."""

from __future__ import annotations

from types import FunctionType
from typing import Any

#: Flags of code objects; their module takes a hundredth of a second to import.
_TAKES_ARGS, _TAKES_WORDS = 4, 8
_ORDER = ("", "Parameters", "Attributes", "Returns", "Yields", "Raises", "Notes", "Examples")
#: Arguments of functions of elements beside their operands.
_SETTINGS = ["out", "where", "casting", "order", "dtype", "subok"]
#: One of these words says who calls a function.
_PLACES = ("Local", "local.", "ollective")


class _Texts:
    """The tables of `documents.txt`."""

    def __init__(self) -> None:
        self.parameters: dict[str, tuple[str, str]] = {}
        #: Parameters of classes.
        self.classes: dict[str, str] = {}
        self.examples: dict[str, list[str]] = {}
        #: Functions whose parameters and results are those of another one.
        self.same: dict[str, str] = {}
        #: Notes of names that do not only record.
        self.notes: dict[str, str] = {}
        with open(f"{__file__.removesuffix('.py')}.txt", encoding="utf-8") as file:
            lines = file.read().splitlines()
        for line in lines:
            kind, _, rest = line.partition(" ")
            if kind == "parameter":
                names, type_, text = rest.split(": ", 2)
                self.parameters |= dict.fromkeys(names.split(), (type_, text))
            elif kind == "class":
                head, type_, text = rest.split(": ", 2)
                name, parameter = head.split()
                self.classes[name] = f"{self.classes.get(name, '')}\n{parameter} : {type_}\n    {text}".lstrip()
            elif kind == "same":
                first, names = rest.split(": ", 1)
                self.same |= dict.fromkeys(names.split(), first)
            elif kind == "note":
                text, names = rest.split(": ", 1)
                self.notes |= dict.fromkeys(names.split(), text)
            elif kind == "example":
                name, code = rest.split(": ", 1)
                code, _, result = code.partition(" => ")
                self.examples[name] = [*(f">>> {step}" for step in ("import partita as pt", *code.split("; "))), *filter(None, [result])]


def describe(space: Any, others: dict[str, Any]) -> None:
    """Completes the docstrings of a package's functions, and of ``others``: classes and modules by what stands before their names."""
    texts, done = _Texts(), set[int]()
    for prefix, home in {"": space, **others}.items():
        for short, member in list(vars(home).items()):
            target = getattr(member, "__func__", member)
            is_ufunc = isinstance(target, space.ufunc)
            if short.startswith("_") or id(target) in done or not (is_ufunc or isinstance(target, (FunctionType, type))):
                continue
            name = prefix.strip() + short if prefix.strip() else target.__name__
            if target.__doc__ and (not isinstance(target, type) or name in texts.examples):
                done.add(id(target))
                like = _sections(_dedented(getattr(space, texts.same[name]).__doc__)) if name in texts.same else {}
                target.__doc__ = _document(texts, name, target, target._function if is_ufunc else target, like)


def _document(texts: _Texts, name: str, target: Any, function: Any, like: dict[str, str]) -> str:
    """The docstring with the sections and parameters that it lacks: those of a function like it, then those of the tables."""
    sections = _sections(_dedented(target.__doc__))
    if not isinstance(function, type):
        result = str(function.__annotations__.get("return", "object"))
        own = _entries(like.get("Parameters", "")) | _entries(sections.get("Parameters", ""))
        parameters = _parameters(texts, function, [] if target is function else _SETTINGS, own)
        if parameters:
            sections["Parameters"] = parameters
        if "Returns" in like:
            sections.setdefault("Returns", like["Returns"])
        if result != "None":
            sections.setdefault("Returns", "Array" if result in ("A", "Any", "Self") else result)
        if not any(word in target.__doc__ for word in _PLACES):
            sections.setdefault("Notes", texts.notes.get(name, "Recorded; computing it is collective."))
    if isinstance(target, type) and name in texts.classes:
        sections.setdefault("Parameters", texts.classes[name])
    if name in texts.examples:
        sections.setdefault("Examples", "\n".join(texts.examples[name]))
    return _joined(sections)


def _sections(doc: str) -> dict[str, str]:
    """The text before the first heading, by '', and below each heading."""
    found, title = dict[str, list[str]](), ""
    for line in doc.splitlines():
        if line and not line.strip("-"):
            title = found[title].pop()
        else:
            found.setdefault(title, []).append(line)
    return {title: "\n".join(lines).strip("\n") for title, lines in found.items()}


def _entries(section: str) -> dict[str, str]:
    """The lines of each parameter; those that are said together have the same."""
    found = dict[str, str]()
    names: list[str] = []
    for line in section.splitlines():
        if not line.startswith(" "):
            names = line.partition(" : ")[0].split(", ")
            found |= dict.fromkeys(names, line)
        else:
            found |= dict.fromkeys(names, f"{found[names[0]]}\n{line}")
    return found


def _joined(sections: dict[str, str]) -> str:
    return "\n\n".join(f"{title}\n{'-' * len(title)}\n{sections[title]}" if title else sections[""] for title in _ORDER if title in sections)


def _parameters(texts: _Texts, function: Any, settings: list[str], own: dict[str, str]) -> str:
    code = function.__code__
    ends = [0, code.co_argcount, code.co_argcount + code.co_kwonlyargcount]
    stars = list(code.co_varnames[ends[2] :])
    first = [f"*{stars.pop(0)}"] if code.co_flags & _TAKES_ARGS else []
    last = [f"**{stars.pop(0)}"] if code.co_flags & _TAKES_WORDS else []
    names = [*code.co_varnames[: ends[1]], *first, *code.co_varnames[ends[1] : ends[2]], *last, *settings]
    entries: list[str] = []
    for name in names:
        if name == "self" or (own and name not in own and name.startswith("*")):
            continue
        type_, text = texts.parameters.get(name, (str(function.__annotations__.get(name.strip("*"), "object")), "See above."))
        entries.append(own.get(name, f"{name} : {type_}\n    {text}"))
    # Once what is said of several, and what is said of keywords.
    return "\n".join(dict.fromkeys([*entries, *own.values()]))


def _dedented(doc: str) -> str:
    """As ``inspect.cleandoc``, which would import a module of a hundredth of a second."""
    first, *lines = doc.expandtabs().splitlines()
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join([first.lstrip(), *(line[margin:] for line in lines)])
