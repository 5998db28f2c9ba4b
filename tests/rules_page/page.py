"""docs/rules.md: what other workspaces load, in the words of its .bzl files."""

import pathlib

from tests.rules_page.docstrings import Module, Symbol

PAGE = "docs/rules.md"
#: File -> names that other workspaces may load from it.
PUBLIC = {
    "release/defs.bzl": ("mlgo_clang", "mlgo_opt", "mlgo_llc", "mlgo_lld", "mlgo_policies", "for_targets"),
    "release/packaging/defs.bzl": ("compiler_tarball", "compiler_image"),
    "release/installation/defs.bzl": ("compiler_install",),
    "release/own_llvm/defs.bzl": ("cmake_models",),
    "toolchains/cc/defs.bzl": ("mlgo_cc_toolchain",),
    "mlgo/corpus/defs.bzl": (
        "mlgo_corpus",
        "mlgo_corpus_from_sources",
        "mlgo_corpus_part",
        "mlgo_corpus_sample",
        "mlgo_combined_corpus",
        "mlgo_gn_corpus",
        "mlgo_gn_program",
        "corpus_aspect",
        "CorpusModulesInfo",
    ),
    "mlgo/corpus/chromium/defs.bzl": ("chromium_corpus", "chromium_project"),
    "llvm/llvm_program.bzl": ("llvm_program", "llvm_units"),
    "third_party/debian/extensions.bzl": ("debian",),
}
_HEAD = """# Public rules

What other workspaces can load ([use-as-a-library.md](use-as-a-library.md)); everything else may change without notice.
Written from the .bzl files by `./bazelw run //tests/rules_page:update`; a test compares.
"""
_KINDS = {"function": "macro", "module_extension": "module extension"}
_MEMBERS = {"provider": "field", "module_extension": "tag"}


def page(root: pathlib.Path) -> str:
    """The text of docs/rules.md for the workspace `root`.

    Raises: WrongFile: a public name is missing or has no documentation.
    """
    parts = [_HEAD]
    for file, names in PUBLIC.items():
        module = Module(root, file)
        package, _, name = file.rpartition("/")
        parts.append(f"## @mlgo//{package}:{name}\n\n{module.doc}\n")
        parts.extend(_section(module.symbol(name)) for name in names)
    return "\n".join(parts)


def _section(symbol: Symbol) -> str:
    lines = [
        f"### {symbol.name}",
        "",
        f"_{_KINDS.get(symbol.kind, symbol.kind).capitalize()}._ {symbol.doc.strip()}",
        "",
    ]
    if symbol.arguments:
        lines += [f"| {_MEMBERS.get(symbol.kind, 'argument')} | |", "| --- | --- |"]
        lines += [f"| `{name}` | {_cell(text)} |" for name, text in symbol.arguments.items()]
        lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
