"""Packs packages of the site as wheels again, for pip. What the lock pins is unpacked there."""

import pathlib
import zipfile

#: What a distribution consists of, besides its .dist-info, where its name does not say it.
_CONTENTS = {
    "gin-config": ["gin"],
    "markdown-it-py": ["markdown_it"],
    "numpy": ["numpy", "numpy.libs"],
    "typing-extensions": ["typing_extensions.py"],
}


def pack(site: pathlib.Path, names: list[str], target: pathlib.Path) -> None:
    """Writes a wheel of each distribution into `target`.

    Raises: StopIteration: the site has no distribution of a name.
    """
    for name in names:
        plain = name.replace("-", "_")
        information = next(site.glob(f"{plain}-*.dist-info"))
        tag = _tag(information)
        with zipfile.ZipFile(target / f"{information.name.removesuffix('.dist-info')}-{tag}.whl", "w") as archive:
            for part in [information.name, *_CONTENTS.get(name, [plain])]:
                for path in _files(site / part):
                    archive.write(path, path.relative_to(site))
            # pip reads only that it is there.
            archive.writestr(f"{information.name}/RECORD", "")


def _files(path: pathlib.Path) -> list[pathlib.Path]:
    if path.is_file():
        return [path]
    return sorted(file for file in path.rglob("*") if file.is_file() and file.suffix != ".pyc")


def _tag(information: pathlib.Path) -> str:
    text = (information / "WHEEL").read_text(encoding="utf-8")
    return next(line.partition(": ")[2] for line in text.splitlines() if line.startswith("Tag: "))
