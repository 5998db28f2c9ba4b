"""Makes one corpus of the corpora in the folders directly below a directory; nothing is copied.

    ./bazelw run //mlgo:combine_training_corpus -- --root_dir=corpora       # has corpora/zstd, corpora/sqlite

Output: corpora/corpus_description.json, in which the module NAME of corpora/zstd is zstd/NAME. The corpora must agree
  in
`has_thinlto` and `global_command_override`. Licences and the files that commands read are included. Relative paths are
relative to the directory in which you run the command.

Exit codes: 0 done, 2 a flag or an input is not usable, 10 no corpus found.
"""

import sys

from mlgo.corpus import combination
from mlgo.flags.arguments import add_verbosity, command_parser, is_quiet
from mlgo.run import locate
from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import ExitCode
from mlgo.run.progress import tell


def run(arguments: list[str]) -> int:
    parser = command_parser("combine_training_corpus", __doc__)
    parser.add_argument("--root_dir", required=True, metavar="DIR", help="directory with a corpus in each folder")
    add_verbosity(parser)
    flags = parser.parse_args(arguments)
    root = locate.user_path(flags.root_dir)
    parts = combination.combine(root)
    if not is_quiet(flags.verbosity):
        for name, count in parts.items():
            tell(f"{count:>8,} modules of {name}")
        tell(f"done {sum(parts.values()):,} modules of {len(parts)} corpora -> {root}")
    return ExitCode.DONE


if __name__ == "__main__":
    raise SystemExit(exit_code_of(lambda: run(sys.argv[1:])))
