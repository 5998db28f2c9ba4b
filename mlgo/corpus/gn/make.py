"""Makes a corpus of targets of a gn project: gn gen, ninja, extraction. Run by mlgo_gn_corpus.

    make --project=PROJECT.json --work=FOLDER --output=CORPUS --target=//third_party/re2 --licence=BSD-3-Clause

The project's toolchain must compile with `-Xclang -fembed-bitcode=all` or, with --linked, link by lld with `-flto=thin
-Wl,--save-temps=import -Wl,--thinlto-emit-index-files`; gn arguments usually enable that. FOLDER keeps the objects: the
same command resumes an interrupted build. The build starts anew when arguments or fingerprints have changed.
With --part=N/M, the corpus has every M-th object of the targets; //mlgo:combine_training_corpus joins the parts.
With --program, a program of the targets is kept, and what a link of it reads (mlgo/corpus/gn/linked_program.py); with
--linked besides, the modules are those of the ThinLTO link of this program, and nothing is kept.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import sys
from collections.abc import Iterable, Sequence

from mlgo.corpus.extraction.extraction import LOCAL, Extraction, extract
from mlgo.corpus.extraction.inputs import IMPORTED_SUFFIX, INDEX_SUFFIX
from mlgo.corpus.gn import gn_build, linked_program, source_root
from mlgo.corpus.gn.gn_build import Configured, configure, project_of
from mlgo.run import files
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.progress import tell

#: A Ninja file of ours beside build.ninja, and its target.
_NINJA_FILE, _NINJA_TARGET = "mlgo_part.ninja", "mlgo_part"

_OBJECT_SUFFIX = ".o"
_SPECIAL = re.compile(r"[$ :]")


@dataclasses.dataclass(frozen=True)
class BuildPart:
    """Part `number` of `count`, from 1. A part depends on the names of the objects alone."""

    number: int
    count: int

    def of(self, inputs: Iterable[str]) -> list[str]:
        """The objects of this part, sorted: every `count`-th object, so that parts have equal sizes and mixed folders.
        Args: inputs: all files that a build reads or makes; other files than objects are left out."""
        return sorted({path for path in inputs if path.endswith(_OBJECT_SUFFIX)})[self.number - 1 :: self.count]


def parse_part(text: str) -> BuildPart | None:
    """The part that --part=`text` names; None for "", which is the whole. Raises: RunError: it names none."""
    if not text:
        return None
    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if not match:
        raise RunError(f"--part={text}", "is not N/M", "Give two numbers, as in --part=1/4")
    part = BuildPart(int(match[1]), int(match[2]))
    if not 1 <= part.number <= part.count:
        raise RunError(f"--part={text}", "is no part", "Give N/M with N from 1 to M, as in --part=1/4")
    return part


def ninja_text(paths: Iterable[str]) -> str:
    """A Ninja file with the rules of build.ninja, and a further target that stands for the files `paths`."""
    shown = "".join(" $\n    " + _SPECIAL.sub(r"$\g<0>", path) for path in paths)
    return f"include build.ninja\nbuild {_NINJA_TARGET}: phony{shown}\n"


def _compile_all(configured: Configured, paths: Sequence[str], jobs: int) -> None:
    """Builds the files `paths` and what they depend on. Raises: RunError: a command fails."""
    text = ninja_text(paths)
    files.write_atomically(configured.layout.build / _NINJA_FILE, text.encode("utf-8"))
    gn_build.compile_target(configured, _NINJA_TARGET, jobs, _NINJA_FILE)


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="make", description=__doc__, formatter_class=raw)
    add = parser.add_argument
    text = "JSON: what the project is, and what it is configured with (mlgo/corpus/gn/gn_build.py, project_of)"
    add("--project", type=pathlib.Path, required=True, help=text)
    add("--work", type=pathlib.Path, required=True, help="folder for the build")
    add("--output", type=pathlib.Path, required=True, help="folder of the corpus")
    add("--target", action="append", default=[], help="gn label of what the corpus is made of; may be given again")
    text = "link the targets with ThinLTO, as a library or as --program, and take modules as they are after importing"
    add("--linked", action="store_true", help=text)
    text = "option of --linked's link, for a project whose links of shared libraries take whole archives themselves"
    default = f"may be given again. Default: {' '.join(source_root.LIBRARY_FLAGS)}"
    add("--library_flag", action="append", default=[], help=f"{text}; {default}")
    add("--part", default="", help="N/M: the N-th of M parts of the objects; not with --linked. Default: all objects")
    add("--program", default="", help="path, in gn's folder, of a program that the targets link")
    text = "folder for --program, which is kept, and for what a link of it reads"
    add("--program_output", type=pathlib.Path, help=text)
    add("--licence", required=True, help="SPDX expression of modules whose source states none")
    text = "commands at a time; changes no result. Default: one per core"
    add("--jobs", type=int, default=len(os.sched_getaffinity(0)), help=text)
    return parser


def make(flags: argparse.Namespace) -> None:
    """Does what the flags say. Raises: RunError: it cannot be done."""
    part = parse_part(flags.part)
    if part and flags.linked:
        wrong = "is not supported for a ThinLTO link, which needs all objects"
        raise RunError(f"--part={flags.part}", wrong, "Leave it out")
    if flags.program and part:
        wrong = "is not supported with --part, which links no program"
        raise RunError(f"--program={flags.program}", wrong, "Leave one of them out")
    if (flags.program_output is not None) != bool(flags.program and not flags.linked):
        wrong = "is not supported: a program is kept in a folder, and the one of a ThinLTO link is not kept"
        remedy = "Give both without --linked, or --program alone with it"
        raise RunError(f"--program={flags.program} --program_output={flags.program_output}", wrong, remedy)
    content = files.read_json(flags.project, "gn project", "Build it again")
    project = project_of(content, lambda path: pathlib.Path(path).absolute())
    as_library = flags.linked and not flags.program
    library_flags = (flags.library_flag or source_root.LIBRARY_FLAGS) if as_library else None
    configured = configure(project, flags.work, flags.target, library_flags)
    # The build's folder has links to what lies in the tree, and to files that the target names, such as a profile.
    named = tuple(path for path in project.toolchain.values() if path.is_file())
    settings = {
        "obj_base_dir": configured.layout.build,
        "output_dir": flags.output.absolute(),
        "licence": flags.licence,
        "max_failures": 0,
        "allow_file_root": (project.tree, configured.layout.source, *named),
    }
    if part:
        objects = part.of(gn_build.inputs(configured, source_root.GROUP))
        if not objects:
            raise RunError(f"--part={flags.part}", "has no object", "Give fewer parts")
        _compile_all(configured, objects, flags.jobs)
        listed = configured.layout.work / "part.params"
        files.write_atomically(listed, "".join(f"{path}\n" for path in objects).encode("utf-8"))
        extract(Extraction(input=listed, input_type="params", **settings))
        return
    if flags.linked:
        linked = flags.program or source_root.LIBRARY_FILE
        link_last(configured, linked, flags.jobs)
        # The extraction starts the link's driver and ninja by the names that the build uses.
        os.environ["PATH"] = configured.environment["PATH"]
        extract(Extraction(thinlto_build=LOCAL, ninja_dir=configured.layout.build, target=linked, **settings))
        return
    gn_build.compile_target(configured, source_root.GROUP, flags.jobs)
    extract(Extraction(input=configured.layout.build, input_type="directory", **settings))
    if flags.program_output:
        linked_program.keep(configured, flags.program, flags.output, flags.program_output)


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code."""
    try:
        make(_parser().parse_args(arguments))
    except RunError as error:
        tell(f"gn corpus: {error}")
        return error.exit_code
    return ExitCode.DONE


def link_last(configured: Configured, linked: str, jobs: int) -> None:
    """Builds `linked`, and links it again if it is there, so that the build folder holds the modules of no other link.

    A build links programs on the way, such as generators of code. Their links save modules too and, of objects that two
    of them share, those of the later link: which one that is differs from build to build.

    `linked`: a program or shared library, by path from the build folder. Raises: RunError: a command fails.
    """
    build = configured.layout.build
    (before,) = gn_build.inputs_in(gn_build.query(configured, [linked])).values()
    _compile_all(configured, before, jobs)
    (build / linked).unlink(missing_ok=True)
    for folder, _, names in os.walk(build):
        for name in names:
            if name.endswith((IMPORTED_SUFFIX, INDEX_SUFFIX)):
                os.unlink(os.path.join(folder, name))
    gn_build.compile_target(configured, linked, jobs)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
