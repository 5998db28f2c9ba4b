"""What other programs write: lld's map, Cachegrind's counts, clang's time trace, LLVM's textual IR and properties."""

from mlgo.compiler.empty_object import defines_something
from mlgo.evaluation.corpora.linked_code import code_in_map, functions_in_map
from mlgo.evaluation.programs.cost import TraceFailure, parse_time_trace
from mlgo.evaluation.programs.counters import CounterFailure, parse_cachegrind
from mlgo.run.exit_codes import RunError
from mlgo.size_estimator.properties import parse_properties
from tests.fuzzing import search

SEEDS = (
    b"             VMA              LMA     Size Align Out     In      Symbol\n"
    b"            1a40             1a40       2f    16 .text\n"
    b"            1a40             1a40       1f    16         a.o:(.text.f)\n"
    b"            1a40             1a40       1f     1                 f\n"
    b"            1a40             1a40       1f     1                 g\n",
    b"desc: I1 cache: 32768 B\ncmd: x\nevents: Ir Dr Dw\nfl=a.c\nfn=main\n1 2 3 4\nsummary: 2 3 4\n",
    b'{"traceEvents": [{"name": "Total Frontend", "dur": 5, "args": {}}, {"name": "RunPass", "dur": 2, "args":'
    b' {"detail": "Greedy Register Allocator"}}, {"name": "Total Optimizer", "dur": 3.5}]}',
    b"Printing analysis results of CFA for function 'f':\nBasicBlockCount: 2\nTotalInstructionCount: -1\n",
    b"@a = private constant i8 0\n@llvm.used = appending global\ndeclare void @g()\ndefine linkonce_odr i32 @f() {\n",
)
WORDS = (b"events: Ir Dr Dw\n", b"summary: ", b":(.text", b"                 ", b'"dur"', b"\r", b"\x1c", "٣".encode())
_CODE = (".text", ".init.text")


def run(content: bytes) -> None:
    text = content.decode("utf-8", "replace")
    assert all(size >= 0 for _, size in code_in_map(text, _CODE))
    assert all(size > 0 for _, _, size in functions_in_map(text, _CODE))
    try:
        assert parse_cachegrind(text).instructions >= 0
    except CounterFailure:
        pass
    assert isinstance(defines_something(text), bool)
    try:
        parse_properties(text)
    except RunError:
        pass
    try:
        assert set(parse_time_trace(content))
    except TraceFailure:
        pass


if __name__ == "__main__":
    search.main(search.Target(run, (), lambda: SEEDS, WORDS))
