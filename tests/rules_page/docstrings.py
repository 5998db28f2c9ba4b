"""What the public symbols of a .bzl file say about themselves, read from its text.

Starlark shares Python's syntax, so nothing is executed and no dependency of the file is needed: `starlark_doc_extract`
wants a target for each file that is loaded, in other modules too.
"""

import ast
import dataclasses
import pathlib
import re
import textwrap
from collections.abc import Mapping

_LABEL = re.compile(r"//(?P<package>[^:]*):(?P<name>.+)")
#: Arguments of a docstring: "  name: text", continued by deeper lines.
_ARGUMENT = re.compile(r"^  (?P<name>\*{0,2}\w+): (?P<text>.*(?:\n {3,}.*)*)", re.MULTILINE)


class WrongFile(Exception):
    """A file does not have a symbol, or the symbol has no documentation."""


@dataclasses.dataclass(frozen=True)
class Symbol:
    """A public name of a .bzl file.

    Attributes:
      name: what BUILD files load.
      kind: "rule", "aspect", "provider", "module_extension", "function" or "value".
      doc: its text, without its arguments.
      arguments: attributes, fields, tag classes or parameters, each with its text.
    """

    name: str
    kind: str
    doc: str
    arguments: dict[str, str]


class Module:
    """A .bzl file."""

    def __init__(self, root: pathlib.Path, file: str):
        self._root, self._file = root, file
        self._package = file.rpartition("/")[0]
        self._tree = ast.parse((root / file).read_bytes(), file)
        #: Local name -> expression or function.
        self._values: dict[str, ast.AST] = {}
        #: Local name -> (file, name there).
        self._loaded: dict[str, tuple[str, str]] = {}
        for node in self._tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self._values[node.targets[0].id] = node.value
            elif isinstance(node, ast.FunctionDef):
                self._values[node.name] = node
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _called(node.value) == "load":
                self._load(node.value)

    @property
    def doc(self) -> str:
        """The file's docstring. Its indented parts are code, also if nothing follows them."""
        return (ast.get_docstring(self._tree, clean=False) or "").strip()

    def _load(self, call: ast.Call) -> None:
        label = ast.literal_eval(call.args[0])
        if label.startswith(":"):
            label = f"//{self._package}{label}"
        if not (found := _LABEL.fullmatch(label)):
            return  # Of another module.
        file = f"{found['package']}/{found['name']}"
        self._loaded.update({name: (file, name) for name in map(ast.literal_eval, call.args[1:])})
        self._loaded.update({word.arg: (file, ast.literal_eval(word.value)) for word in call.keywords if word.arg})

    def symbol(self, name: str, public: str = "") -> Symbol:
        """The documentation of `name`, which users know as `public`, wherever it was defined.

        Raises: WrongFile: it is not there, or says nothing about itself.
        """
        public = public or name
        if name in self._loaded:
            file, there = self._loaded[name]
            return Module(self._root, file).symbol(there, public)
        value = self._values.get(name)
        if isinstance(value, ast.Name):
            return self.symbol(value.id, public)
        if isinstance(value, ast.FunctionDef):
            return self._function(public, value)
        if isinstance(value, ast.Call) and _called(value) in ("rule", "aspect", "provider", "module_extension"):
            words = {word.arg: word.value for word in value.keywords}
            members = self._table(words.get("attrs") or words.get("fields") or words.get("tag_classes"))
            arguments = {key: self._member(member) for key, member in members.items() if not key.startswith("_")}
            return self._checked(Symbol(public, _called(value), self._text(words.get("doc")), arguments))
        raise WrongFile(
            f"{self._file}: {name} is no documented symbol; correct tests/rules_page/page.py or document it"
        )

    def _function(self, public: str, function: ast.FunctionDef) -> Symbol:
        text, _, rest = (ast.get_docstring(function) or "").partition("\n\nArgs:\n")
        section, returns, returned = rest.partition("\nReturns:\n")
        arguments = {found["name"].lstrip("*"): _on_one_line(found["text"]) for found in _ARGUMENT.finditer(section)}
        if returns:
            text += f"\n\nReturns: {_on_one_line(returned)}"
        return self._checked(Symbol(public, "function", text, arguments))

    def _checked(self, symbol: Symbol) -> Symbol:
        silent = [name for name, text in symbol.arguments.items() if not text]
        if not symbol.doc or silent:
            raise WrongFile(f"{self._file}: {symbol.name} has no doc for {silent or 'itself'}; write one")
        return symbol

    def _table(self, node: ast.AST | None) -> Mapping[str, ast.AST]:
        """A dict of attributes: written out, a name, a union, dict(...)."""
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            return {ast.literal_eval(key): value for key, value in pairs if isinstance(key, ast.Constant)}
        if isinstance(node, ast.Name) and node.id in self._values:
            return self._table(self._values[node.id])
        if isinstance(node, ast.Name) and node.id in self._loaded:
            file, there = self._loaded[node.id]
            module = Module(self._root, file)
            return module._table(module._values[there])  # pylint: disable=protected-access
        if isinstance(node, ast.BinOp):
            return {**self._table(node.left), **self._table(node.right)}
        if isinstance(node, ast.Call) and _called(node) == "dict":
            found: dict[str, ast.AST] = {}
            for argument in node.args:
                found.update(self._table(argument))
            for word in node.keywords:
                found.update({word.arg: word.value} if word.arg else self._table(word.value))
            return found
        return {}

    def _member(self, node: ast.AST) -> str:
        """The text of an attribute, a field or a tag class."""
        if isinstance(node, ast.Name) and node.id in self._values:
            return self._member(self._values[node.id])
        if not isinstance(node, ast.Call):
            return _on_one_line(self._text(node))
        words = {word.arg: word.value for word in node.keywords}
        text = _on_one_line(self._text(words.get("doc")))
        tags = [name for name in self._table(words.get("attrs")) if not name.startswith("_")]
        if tags:
            text += " Attributes: " + ", ".join(f"`{name}`" for name in sorted(tags)) + "."
        mandatory = words.get("mandatory")
        return f"{text} Required." if isinstance(mandatory, ast.Constant) and mandatory.value else text

    def _text(self, node: ast.AST | None) -> str:
        """A string, or a sum of strings."""
        if isinstance(node, ast.BinOp):
            return self._text(node.left) + self._text(node.right)
        return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _on_one_line(text: str) -> str:
    return " ".join(textwrap.dedent(text).split())
