"""Names of C++ functions on a page, demangled in one go. Commands and files for programs keep mangled names."""

import dataclasses
from collections.abc import Callable
from typing import Any

from mlgo.compiler.symbols import Demangler, mangled_names
from mlgo.pages.page import COMMANDS, Cell, Details, Group, Page, Paragraph, Point, Section, Table

#: Parts of a page that hold sentences and cells.
_PARTS = (Page, Section, Group, Details, Table)


def with_readable_names(page: Page, demangler: Demangler) -> Page:
    """`page` with demangled names in sentences and tables; long ones are cut, with the full name as tooltip."""
    names: list[str] = []

    def found(part: Any) -> Any:
        names.extend(mangled_names(part.text))
        return part

    _changed(page, found)
    if not names:
        return page
    demangler.names(names)

    def readable(part: Any) -> Any:
        short = demangler.texts([part.text])[0]
        if not isinstance(part, Cell):
            return dataclasses.replace(part, text=short)
        full = demangler.texts([part.text], longest=None)[0]
        if full == part.text:
            return part
        folded = short if short != full else ""
        return dataclasses.replace(part, text=full, folded=folded, title=f"{full}\n{part.text}")

    changed: Page = _changed(page, readable)
    return changed


def _changed(part: Any, change: Callable[[Any], Any]) -> Any:
    """`part` with `change` applied to each sentence and cell in it that can hold names of functions."""
    if isinstance(part, (tuple, list)):
        return [_changed(each, change) for each in part]
    if isinstance(part, Cell):
        return part if part.folded == COMMANDS else change(part)
    if isinstance(part, (Paragraph, Point)):
        return change(part)
    if not isinstance(part, _PARTS):
        return part
    fields = {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
    return dataclasses.replace(part, **{name: _changed(value, change) for name, value in fields.items()})
