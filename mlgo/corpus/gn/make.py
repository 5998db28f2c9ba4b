"""Makes a corpus of targets of a gn project: gn gen, ninja, extraction. Run by mlgo_gn_corpus.

    make --tree=PROJECT --work=FOLDER --output=CORPUS --target=//third_party/re2 --gn_arg='is_debug=false' --gn=... \\
         --ninja=... --python=... --toolchain=llvm=/usr/lib/llvm-22 --env=CC=../../mlgo_toolchain/llvm/bin/clang

The project's toolchain must compile with `-Xclang -fembed-bitcode=all` or, with --linked, link by lld with `-flto=thin
-Wl,--save-temps=import -Wl,--thinlto-emit-index-files`; gn arguments usually enable that. FOLDER keeps the objects: the
same command resumes an interrupted build. The build starts anew when arguments or inputs (--fingerprints) have changed.
With --part=N/M, the corpus has every M-th object of the targets; //mlgo:combine_training_corpus joins the parts.
With --program, a program of the targets is kept, and what a link of it reads (mlgo/corpus/gn/linked_program.py); with
--linked besides, the modules are those of the ThinLTO link of this program, and nothing is kept.
"""

import argparse
import os
import pathlib
import sys
from collections.abc import Sequence

from mlgo.corpus.extraction.extraction import LOCAL, Extraction, extract
from mlgo.corpus.gn import build_part, gn_build, gn_files, linked_program
from mlgo.corpus.gn.last_link import link_last
from mlgo.corpus.gn.project import Configured, Project, configure
from mlgo.run import files
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.progress import tell


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="make", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--tree", type=pathlib.Path, required=True, help="the project's root folder; is not written to")
    add("--work", type=pathlib.Path, required=True, help="folder for the build")
    add("--output", type=pathlib.Path, required=True, help="folder of the corpus")
    add("--target", action="append", default=[], help="gn label of what the corpus is made of; may be given again")
    add(
        "--gn_arg",
        action="append",
        default=[],
        help="NAME=VALUE, the value as in args.gn; the last one of a name counts",
    )
    add(
        "--linked",
        action="store_true",
        help="link the targets with ThinLTO, as a library or as --program, and take the modules as they are after"
        " importing",
    )
    add(
        "--library_flag",
        action="append",
        default=[],
        help="option of --linked's link, for a project whose links of shared libraries take whole archives themselves;"
        f" may be given again. Default: {' '.join(gn_files.LIBRARY_FLAGS)}",
    )
    add("--part", default="", help="N/M: the N-th of M parts of the objects; not with --linked. Default: all objects")
    add("--program", default="", help="path, in gn's folder, of a program that the targets link")
    add(
        "--program_output",
        type=pathlib.Path,
        help="folder for --program, which is kept, and for what a link of it reads",
    )
    for tool in ("gn", "ninja", "python"):
        add(f"--{tool}", type=pathlib.Path, required=True, help=f"the program {tool}")
    add(
        "--toolchain",
        action="append",
        default=[],
        help="NAME=PATH: a folder or file that is //mlgo_toolchain/NAME to the build",
    )
    add(
        "--placed",
        action="append",
        default=[],
        help="NAME=PATH: a folder or file that is //NAME to the build, beside the files of the tree",
    )
    add("--copied", action="append", default=[], help="folder of the tree of which the build sees a copy, not a link")
    add(
        "--path",
        action="append",
        default=[],
        help="folder below //mlgo_toolchain with programs that are started by name",
    )
    add("--env", action="append", default=[], help="NAME=VALUE in the environment of the build")
    text = "file that changes when an input changes"
    add("--fingerprints", type=pathlib.Path, action="append", default=[], help=text)
    add("--licence", required=True, help="SPDX expression of modules whose source states none")
    add(
        "--jobs",
        type=int,
        default=len(os.sched_getaffinity(0)),
        help="commands at a time; changes no result. Default: one per core",
    )
    return parser


def _pairs(flag: str, values: Sequence[str]) -> dict[str, str]:
    for value in values:
        if "=" not in value:
            raise RunError(f"--{flag}={value}", "has no `=`", "give NAME=VALUE")
    return dict(value.split("=", 1) for value in values)


def make(flags: argparse.Namespace) -> None:
    """Does what the flags say. Raises: RunError: it cannot be done."""
    part = build_part.parse(flags.part)
    if part and flags.linked:
        raise RunError(
            f"--part={flags.part}", "is not supported for a ThinLTO link, which needs all objects", "Leave it out"
        )
    if flags.program and part:
        raise RunError(
            f"--program={flags.program}",
            "is not supported with --part, which links no program",
            "Leave one of them out",
        )
    if (flags.program_output is not None) != bool(flags.program and not flags.linked):
        raise RunError(
            f"--program={flags.program} --program_output={flags.program_output}",
            "is not supported: a program is kept in a folder, and the one of a ThinLTO link is not kept",
            "Give both without --linked, or --program alone with it",
        )
    project = Project(
        tree=flags.tree,
        tools=gn_build.Tools(flags.gn.absolute(), flags.ninja.absolute()),
        python=flags.python,
        arguments=_pairs("gn_arg", flags.gn_arg),
        environment=_pairs("env", flags.env),
        toolchain={name: pathlib.Path(path) for name, path in _pairs("toolchain", flags.toolchain).items()},
        path=flags.path,
        fingerprints=flags.fingerprints,
        placed={name: pathlib.Path(path) for name, path in _pairs("placed", flags.placed).items()},
        copied=flags.copied,
    )
    as_library = flags.linked and not flags.program
    library_flags = (flags.library_flag or gn_files.LIBRARY_FLAGS) if as_library else None
    configured = configure(project, flags.work, flags.target, library_flags)
    # The build's folder has links to what lies in the tree, and to files that the target names, such as a profile.
    named = tuple(path for path in project.toolchain.values() if path.is_file())
    settings = {
        "obj_base_dir": configured.layout.build,
        "output_dir": flags.output.absolute(),
        "licence": flags.licence,
        "max_failures": 0,
        "allow_file_root": (flags.tree, configured.layout.source, *named),
    }
    if part:
        objects = _compile_part(configured, part, flags.jobs)
        extract(Extraction(input=objects, input_type="params", **settings))
        return
    if flags.linked:
        linked = flags.program or gn_files.LIBRARY_FILE
        link_last(configured, linked, flags.jobs)
        # The extraction starts the link's driver and ninja by the names that the build uses.
        os.environ["PATH"] = configured.environment["PATH"]
        extract(Extraction(thinlto_build=LOCAL, ninja_dir=configured.layout.build, target=linked, **settings))
        return
    gn_build.compile_target(configured.tools, configured.layout, gn_files.GROUP, configured.environment, flags.jobs)
    extract(Extraction(input=configured.layout.build, input_type="directory", **settings))
    if flags.program_output:
        linked_program.keep(configured, flags.program, flags.output, flags.program_output)


def _compile_part(configured: Configured, part: build_part.BuildPart, jobs: int) -> pathlib.Path:
    """Builds the objects of a part and what they depend on; returns a file that lists them, one a line.

    Raises: RunError: a command fails, or the part has no object.
    """
    layout, tools = configured.layout, configured.tools
    inputs = gn_build.inputs(tools, layout, gn_files.GROUP, configured.environment)
    objects = part.of(inputs)
    if not objects:
        raise RunError(f"--part={part.number}/{part.count}", "has no object", "Give fewer parts")
    text = build_part.ninja_text({build_part.NINJA_TARGET: objects})
    files.write_atomically(layout.build / build_part.NINJA_FILE, text.encode("utf-8"))
    gn_build.compile_target(tools, layout, build_part.NINJA_TARGET, configured.environment, jobs, build_part.NINJA_FILE)
    listed = layout.work / "part.params"
    files.write_atomically(listed, "".join(f"{path}\n" for path in objects).encode("utf-8"))
    return listed


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code."""
    try:
        make(_parser().parse_args(arguments))
    except RunError as error:
        tell(f"gn corpus: {error}")
        return error.exit_code
    return ExitCode.DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
