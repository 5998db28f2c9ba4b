"""Files of executed costs: what they say, and how a program's functions are summed."""

from mlgo.project.compiling import Compiled
from mlgo.project.estimate import Estimate, FunctionCost, read_costs
from mlgo.project.testing.project_case import ProjectCase
from mlgo.run.exit_codes import RunError

HEAD = "mlgo-executed-cost 1\nfunction\tscope\tcalls\tinstructions\tmemory references\tcallee-saved registers\n"
MAIN = "main\tglobal\t\t10\t2\t1\n"


class EstimateTest(ProjectCase):
    def setUp(self):
        super().setUp()
        self.estimate = Estimate(str(self.folder / "absent"))

    def figures(self, *texts, estimate=None):
        """Args: texts: lines of functions, one text for each object."""
        objects = {}
        for number, text in enumerate(texts):
            path = self.folder / f"{number}.costs"
            path.write_text(HEAD + text)
            objects[f"/o/{number}.o"] = Compiled(self.folder / "absent.o", 1.0, costs=path)
        found = (estimate or self.estimate).figures_of(objects)
        self.assertEqual(list(found), ["instructions", "data references", "code"])
        return found["instructions"], found["data references"]

    def test_a_file(self):
        found = read_costs(HEAD + "_ZN1%20Xf\tlocal\t7\t1.5\t0.25\t2\n" + MAIN)
        self.assertEqual(found[0], FunctionCost("_ZN1 Xf", True, 7, 5.5, 4.25))
        self.assertEqual(found[1], FunctionCost("main", False, None, 12, 4))
        self.assertEqual(read_costs(HEAD), [])

    def test_damaged_files(self):
        for text, wrong in (
            ("", "does not begin"),
            (HEAD.replace("cost 1", "cost 2"), "does not begin"),
            (HEAD + MAIN.replace("global", "other"), "is no function: 'main.tother"),
            (HEAD + MAIN[:-3], "is no function"),
            (HEAD + MAIN.replace("10", "nan"), "no number of at least 0"),
            (HEAD + MAIN.replace("10", "-10"), "no number of at least 0"),
            (HEAD + MAIN.replace("\t2\t", "\tinf\t"), "no number of at least 0"),
            (HEAD + MAIN.replace("\t2\t", "\t1e200\t"), "no number of at least 0"),
            *((HEAD + f"f\tlocal\t{calls}\t1\t1\t1\n", "no profile can have") for calls in (-1, 10**400)),
        ):
            with self.assertRaisesRegex(ValueError, wrong, msg=text):
                read_costs(text)

    def test_each_function_is_called_once(self):
        local = "f\tlocal\t\t100\t20\t0\n"
        self.assertEqual(self.figures(MAIN + local, local), (212, 44))
        self.assertIn("by static frequencies, and not a measurement", self.estimate.caveat())
        self.assertIn("--run='./program input'", self.estimate.caveat())

    def test_the_link_takes_the_first_of_equal_names(self):
        self.assertEqual(self.figures("inline\tglobal\t\t5\t1\t0\n", "inline\tglobal\t\t7\t1\t0\n"), (5, 1))

    def test_calls_of_a_profile(self):
        profiled = "hot\tglobal\t1000\t3\t1\t0\n"
        self.assertEqual(self.figures(MAIN + profiled + "never\tglobal\t0\t9\t9\t0\n"), (3000, 1000))
        self.assertIn("profile, which knows 2 of 3 functions, and not a measurement", self.estimate.caveat())
        # The calls are those of the build, whatever options a row has.
        self.assertEqual(
            self.figures(MAIN + profiled.replace("1000\t3", "1\t2") + "never\tglobal\t0\t1\t9\t0\n")[0], 2000
        )

    def test_other_functions_than_the_build(self):
        self.figures(MAIN)
        with self.assertRaisesRegex(RunError, "has other functions than the build: f"):
            self.figures(MAIN + "f\tglobal\t\t1\t1\t0\n")

    def test_functions_that_the_program_does_not_have(self):
        estimate = Estimate("/proc/self/exe")
        estimate._symbols = {"main"}
        found = self.figures(MAIN + "unused\tglobal\t\t9\t9\t0\n" + "f\tlocal\t\t1\t0\t0\n", estimate=estimate)
        self.assertEqual(found, (13, 4))
        largest = "main has 94 % of what the program is estimated to execute"
        omitted = "1 functions of the objects are not in the program, and do not count"
        self.assertEqual(estimate.notes(), [largest, omitted])

    def test_what_the_figures_rest_on(self):
        self.figures(MAIN)
        self.assertEqual(self.estimate.notes(), ["main has 100 % of what the program is estimated to execute"])
        never = Estimate("")
        self.figures("never\tglobal\t0\t9\t9\t0\n", estimate=never)
        self.assertEqual(never.notes(), [])

    def test_a_compile_without_costs(self):
        for compiled, wrong in (
            (Compiled(None, 1.0, "a.c:1: error: x"), "a.o a.c:1: error: x"),
            (Compiled(None, 1.0), "a.o has no executed cost"),
            (Compiled(None, 1.0, costs=self.folder / "gone"), r"gone \(of a.o\) .*No such file"),
        ):
            with self.assertRaises(RunError) as raised:
                self.estimate.figures_of({"/o/a.o": compiled})
            self.assertRegex(f"{raised.exception.subject} {raised.exception.wrong}", wrong)
        (self.folder / "cut").write_text(HEAD + "main")
        with self.assertRaisesRegex(RunError, r"cut: \(of a.o\) has a line that is no function"):
            self.estimate.figures_of({"/o/a.o": Compiled(None, 1.0, costs=self.folder / "cut")})

    def test_nothing_to_sum(self):
        with self.assertRaisesRegex(RunError, "found no function of the program"):
            self.figures("")
