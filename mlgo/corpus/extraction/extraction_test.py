"""Modules reach the corpus in the order of their names, whatever the number of workers; the rest is reported."""

import threading
import unittest

from mlgo.corpus.corpus import Corpus
from mlgo.corpus.extraction import extraction
from mlgo.corpus.extraction.inputs import BuildObject
from mlgo.corpus.extraction.modules import ModuleContent
from mlgo.corpus.extraction.outcome import Kind, LeftOut, Omission
from mlgo.corpus.extraction.report import Report
from mlgo.corpus.writer import CorpusWriter
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.progress import Silent
from mlgo.run.testing.folder_case import FolderCase

_COMMAND = ("-cc1", "-O2")


class CountingProgress(Silent):
    """Counts what is finished."""

    def __init__(self):
        self.finished = 0

    def advance(self, count: int = 1, note: str = "") -> None:
        self.finished += count


class EngineTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.progress = CountingProgress()

    def extracted(self, names, read, workers=2, omissions=()):
        objects = [(name, BuildObject(name, f"/build/{name}", "/build")) for name in names]
        with CorpusWriter(self.folder / f"out{workers}", durable=False) as writer:
            report = extraction.add_modules(writer, objects, read, omissions, "MIT", workers, self.progress)
            writer.finish()
        return report

    def test_the_corpus_does_not_depend_on_workers_or_on_which_object_is_read_first(self):
        names = [f"m{number:02}" for number in range(20)]
        last_read = threading.Event()

        def read(name, found):
            if name == "m01":
                last_read.set()
            elif name == "m00":
                last_read.wait()  # With two workers or more the second object is read before the first.
            return ModuleContent(f"BC {name}".encode(), _COMMAND)

        digests = set()
        for workers in (1, 3):
            if workers == 1:
                last_read.set()
            report = self.extracted(names, read, workers)
            last_read.clear()
            self.assertEqual(report.modules, tuple(names))
            digests.add(Corpus.load(self.folder / f"out{workers}").digest)
        self.assertEqual(len(digests), 1)
        self.assertEqual(self.progress.finished, 40)

    def test_what_gives_no_module_is_reported_with_what_was_left_out_before(self):
        def read(name, found):
            if name == "asm":
                raise LeftOut(Kind.NO_BITCODE, "has no section .llvmbc")
            return ModuleContent(b"BC", _COMMAND)

        before = Omission("gone", Kind.MISSING_OBJECT, "does not exist")
        report = self.extracted(["asm", "m", "m.bc/x"], read, omissions=[before])
        self.assertEqual(report.modules, ("m",))
        found = {omission.name: omission.kind for omission in report.omissions}
        self.assertEqual(found, {"asm": Kind.NO_BITCODE, "gone": Kind.MISSING_OBJECT, "m.bc/x": Kind.NAME_TAKEN})

    def test_objects_are_read_only_a_little_ahead(self):
        begun, most_ahead = [], []

        def read(name, found):
            begun.append(name)
            most_ahead.append(len(begun) - self.progress.finished)
            return ModuleContent(f"BC {name}".encode(), _COMMAND)

        self.extracted([f"m{number:03}" for number in range(100)], read)
        self.assertEqual(len(begun), 100)
        self.assertLessEqual(max(most_ahead), 2 * 4 + 2)


OMISSIONS = tuple(Omission(f"{name}.o", Kind.MISSING_OBJECT, "does not exist") for name in "abcd")
REPORT = Report(("m.o",), (*OMISSIONS, Omission("s.o", Kind.NO_BITCODE, "has no bitcode section")))


class ReportTest(unittest.TestCase):
    def test_json(self):
        content = REPORT.to_json()
        self.assertEqual((content["objects"], content["modules"], content["failures"]), (6, 1, 4))
        self.assertEqual(content["counts"], {"no_bitcode": 1, "missing_object": 4})
        left_out = content["left_out"]
        assert isinstance(left_out, list)
        self.assertEqual(left_out[-1], {"name": "s.o", "kind": "no_bitcode", "reason": "has no bitcode section"})

    def test_the_summary_has_three_examples_of_a_kind(self):
        self.assertRegex("\n".join(REPORT.lines()), r"4 that do not exist .*: a\.o, b\.o, c\.o, \.\.\.$")

    def test_limits(self):
        REPORT.check(None)
        REPORT.check(4)
        with self.assertRaisesRegex(RunError, r"4 of 6 objects failed \(first: a.o: does not exist\)") as caught:
            REPORT.check(3)
        self.assertEqual(caught.exception.exit_code, ExitCode.TOO_MANY_FAILURES)
        with self.assertRaisesRegex(RunError, "5 objects: none of them gave a module. Build first") as caught:
            Report((), REPORT.omissions).check(None)
        self.assertEqual(caught.exception.exit_code, ExitCode.NOTHING_PRODUCED)
