"""The reference of the Python package, as Markdown for Sphinx. It is read from the sources and the stubs
(python/baton), so that the package need not be built."""

import ast
import pathlib
import re
import textwrap

PACKAGE = pathlib.Path(__file__).resolve().parent.parent / "python" / "baton"


def definitions():
    """name -> node of each class and function; the stubs of the extension last."""
    found = {}
    for path in [*sorted(PACKAGE.glob("*.py")), PACKAGE / "_core.pyi"]:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                found.setdefault(node.name, node)
    return found


def public_names():
    for node in ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            return [name for name in ast.literal_eval(node.value) if not name.startswith("_")]
    raise ValueError("python/baton/__init__.py has no __all__")


def fields_of(node):
    """field -> its text in the docstring of a class of values, which has a line `name: text` for each."""
    names = {n.target.id for n in node.body if isinstance(n, ast.AnnAssign)} if isinstance(node, ast.ClassDef) else set()
    found = re.findall(r"(?m)^(\w+): (.*(?:\n +.*)*)", ast.get_docstring(node) or "")
    return {name: re.sub(r"\n +", " ", text) for name, text in found if name in names}


def text_of(node):
    """The docstring without its fields. Indented lines behind an empty one are code, others continue the line before."""
    text = ast.get_docstring(node) or ""
    for name in fields_of(node):
        text = re.sub(rf"(?m)^{name}: .*(?:\n +.*)*\n?", "", text)
    paragraphs = text.strip().split("\n\n")
    return "\n\n".join(f"```python\n{textwrap.dedent(part)}\n```" if part.startswith("    ") else
                       re.sub(r"(?m)^ +", "", part) for part in paragraphs)


def signature(function, method):
    arguments = ast.parse(ast.unparse(function)).body[0].args
    first = arguments.posonlyargs or arguments.args
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list)
    if method and first and not static:
        first.pop(0)
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return f"({ast.unparse(arguments)}){returns}"


def directive(kind, head, body, options=(), depth=3):
    fence = ":" * depth
    lines = [f"{fence}{{py:{kind}}} {head}", *(f":{option}" for option in options), "", body.strip(), fence, ""]
    return "\n".join(lines)


def member(node, fields):
    """One method, property or field of a class, or nothing."""
    if isinstance(node, ast.AnnAssign):
        if node.target.id.startswith("_"):
            return ""
        return directive("attribute", node.target.id, fields.get(node.target.id, ""), [f"type: {ast.unparse(node.annotation)}"])
    if not isinstance(node, ast.FunctionDef) or node.name.startswith("_") and node.name not in ("__call__", "__getitem__"):
        return ""
    decorators = {ast.unparse(d) for d in node.decorator_list}
    if "property" in decorators:
        options = [f"type: {ast.unparse(node.returns)}"] if node.returns else []
        return directive("property", node.name, text_of(node), options)
    if any(d.endswith(".setter") for d in decorators):
        return ""
    options = [f"{d}:" for d in ("staticmethod", "classmethod") if d in decorators]
    return directive("method", node.name + signature(node, True), text_of(node), options)


def entry(name, node):
    if isinstance(node, ast.FunctionDef):
        return directive("function", name + signature(node, False), text_of(node), depth=4)
    makers = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name in ("__init__", "__new__")]
    head = name + (re.sub(r" -> .*$", "", signature(makers[0], True)) if makers else "")
    kind = "exception" if any("Error" in ast.unparse(base) or "Warning" in ast.unparse(base) for base in node.bases) \
        else "class"
    bases = ", ".join(f"`{ast.unparse(base)}`" for base in node.bases)
    body = [text_of(node), f"Bases: {bases}" if bases and kind == "exception" else "",
            *(member(n, fields_of(node)) for n in node.body)]
    return directive(kind, head, "\n\n".join(part for part in body if part), depth=4)


def markdown():
    """The page: functions, then classes, then exceptions, each by name."""
    known = definitions()
    sections = {"Functions": [], "Classes": [], "Errors": []}
    for name in sorted(public_names(), key=str.lower):
        if name not in known:
            continue  # a submodule
        node = known[name]
        text = entry(name, node)
        title = "Functions" if isinstance(node, ast.FunctionDef) else "Errors" if "{py:exception}" in text.splitlines()[0] \
            else "Classes"
        sections[title].append(text)
    page = ["# Python interface", "The package `baton`. [python.md](/python.md) is the guide.",
            ":::{py:module} baton\n:::"]
    for title, entries in sections.items():
        page += [f"## {title}", *entries]
    return "\n\n".join(page)
