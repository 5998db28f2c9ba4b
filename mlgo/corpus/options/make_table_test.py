"""The checked-in table is that of the pinned packages; tables and compilers that are none are refused."""

import pathlib
import sys
import unittest

from mlgo.corpus.options import table
from mlgo.corpus.options.make_table import make_table, read_clang_table, read_driver_table, read_llvm_table
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

CLANG, *HEADERS = (pathlib.Path(path).absolute() for path in sys.argv[1:])
del sys.argv[1:]

# Entries as LLVM 22 writes them.
_TABLE = """
static constexpr llvm::StringTable::Offset OptionPrefixesTable[] = {
  0 /* prefixes */,
  1 /* prefixes */, 1 /* '-' */,
  2 /* prefixes */, 1 /* '-' */, 3 /* '--' */,
};
OPTION(3, 7 /* -a= */, a_EQ, Joined, G, INVALID, nullptr, 0, CC1Option, 0,
  "help, (with) \\"marks\\"", {{1, 2}}, "<x>", "on,off", 0)
OPTION(1, 8 /* -b */, b, Flag, G, a_EQ, "on\\0", 0, DefaultVis | CC1Option, 0, nullptr, x, nullptr, nullptr, 0)
OPTION(1, 8 /* -W, */, W_COMMA, CommaJoined, G, INVALID, nullptr, 0, DefaultVis, 0, nullptr, x, nullptr, nullptr, 0)
OPTION(1, 8 /* -m */, m, MultiArg, G, INVALID, nullptr, 0, ClangOption | XOption, 3, nullptr, x, nullptr, nullptr, 0)
OPTION(1, 9 /* -driver */, d, Flag, G, INVALID, nullptr, 0, DefaultVis, 0, nullptr, x, nullptr, nullptr, 0)
OPTION(1, 9 /* -n */, n, Separate, G, INVALID, nullptr, 0, CC1Option, 0, nullptr, x, nullptr, nullptr, 0)
CODEGEN_OPTION_WITH_MARSHALLING(3, 7 /* -a= */, a_EQ, Joined, G, INVALID, nullptr, 0, CC1Option, 0, nullptr, x, nullptr,
 "on,off", 0, true, 0, CodeGenOpts.A, 1, false, 1, normalizeSimpleEnum, denorm, merge, extract, 0)
LANG_OPTION_WITH_MARSHALLING(1, 8 /* -n */, n, Separate, G, INVALID, nullptr, 0, CC1Option, 0, nullptr, x, nullptr,
 nullptr, 0, true, 0, LangOpts->N, 1, false, 1, normalizeStringIntegral<unsigned>, denorm, merge, extract, -1)
"""


_LISTING = """OPTIONS:
  --a=<number>      - A number
  --b               - A truth value
  --c=<value>       - One of
    =x              -   first
    =<empty>        -   none
  Group:
      --d           - a member
  --e=<string>      - A text
"""


class ClangTableTest(unittest.TestCase):
    def test_entries(self):
        described = {"kind": "Joined", "type": ["on", "off"], "sets": "CodeGenOpts.A"}
        flag = {"kind": "Flag", "type": "flag", "alias": ["-a=", "on"]}
        number = {"kind": "Separate", "type": "int", "sets": "LangOpts->N"}
        expected = {"-a=": described, "--a=": described, "-b": flag, "-n": number}
        self.assertEqual(read_clang_table(_TABLE, "x"), expected)

    def test_entries_of_the_driver(self):
        expected = {
            "-b": {"kind": "Flag", "alias": ["-a=", "on"]},
            "-W,": {"kind": "CommaJoined"},
            "-m": {"kind": "MultiArg", "count": 3},
            "-driver": {"kind": "Flag"},
        }
        self.assertEqual(read_driver_table(_TABLE), expected)

    def test_no_table(self):
        with self.assertRaisesRegex(RunError, "Options.inc: has no option of cc1. give clang's Options.inc"):
            read_clang_table("int main() {}", "Options.inc")


class LlvmTableTest(FolderCase):
    def compiler(self, complaint: str) -> pathlib.Path:
        listed, said = (f"cat <<'E'\n{text}\nE\n" for text in (_LISTING, complaint))
        return self.script("clang", f'case "$*" in *-help-list-hidden*) {listed};; *) exec >&2; {said};; esac')

    def test_parsers_tell_the_types(self):
        said = (
            "clang: for the --a option: '?' value invalid for uint argument!\n"
            "clang: for the --b option: '?' is invalid value for boolean argument! Try 0 or 1\n"
            "clang: for the --c option: Cannot find option named '?'!\n"
            "clang: Unknown command line argument '-mlgo-no-such-option=?'."
        )
        expected = {"a": "uint", "b": "bool", "c": ["x", ""], "d": "flag", "e": "string"}
        self.assertEqual(read_llvm_table(self.compiler(said)), expected)

    def test_a_compiler_that_stops_early(self):
        with self.assertRaisesRegex(RunError, "stopped while it read its options: clang: fatal. add the option"):
            read_llvm_table(self.compiler("clang: fatal"))

    def test_no_clang(self):
        with self.assertRaisesRegex(RunError, "lists no options of LLVM. give clang's executable"):
            read_llvm_table(pathlib.Path("/bin/true"))


class PinnedTableTest(unittest.TestCase):
    def test_checked_in_table(self):
        checked_in = pathlib.Path(table.__file__).with_name("chosen.json").read_text("utf-8").splitlines()
        made = make_table(CLANG, HEADERS).splitlines()
        self.maxDiff, remedy = None, "run ./bazelw run //mlgo/corpus/options:table.update, and judge each new option"
        found = (sorted(set(made) - set(checked_in)), sorted(set(checked_in) - set(made)), len(made))
        self.assertEqual(found, ([], [], len(checked_in)), f"{remedy} (README.md)")

    def test_no_headers(self):
        with self.assertRaisesRegex(RunError, "have no Options.inc"):
            make_table(CLANG, [pathlib.Path("/nowhere")])
