"""Translates ld.lld's options for ThinLTO's back end into cc1 options.

Read from lld/ELF/LTO.cpp (createConfig), lld/ELF/Driver.cpp, llvm/lib/LTO/LTOBackend.cpp,
llvm/lib/CodeGen/CommandFlags.cpp and, for cc1, clang/lib/CodeGen/BackendUtil.cpp (runThinLTOBackend), all of LLVM 22.
Options that only the thin link or the linking itself uses (whole-program visibility, caches, jobs, libraries, sysroot)
are ignored: the bitcode was saved after those steps.
"""

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence

from mlgo.corpus.options.llvm_rules import DECIDING
from mlgo.run.exit_codes import RunError

#: lld's defaults: --lto-O2; its own code generation level is then 2 as well.
_DEFAULT_LEVEL = 2

# Names of vector libraries: llvm/lib/Analysis/TargetLibraryInfo.cpp, and cc1's for the same.
_VECTOR_LIBRARIES = {
    **{name: name for name in "Accelerate AMDLIBM ArmPL Darwin_libsystem_m MASSV SVML none".split()},
    "LIBMVEC": "libmvec",
    "LIBMVEC-X86": "libmvec",
    "sleefgnuabi": "SLEEF",
}

# LLVM options of llvm/lib/CodeGen/CommandFlags.cpp and llvm/lib/MC/MCTargetOptionsCommandFlags.cpp. lld registers them,
# clang does not: what they set has options of its own in cc1. First: true or false gives the cc1 option, or none.
_CODEGEN_SWITCHES = {
    "basic-block-address-map": ("-fbasic-block-address-map", None),
    "call-graph-section": ("-fexperimental-call-graph-section", None),
    "crel": ("--crel", None),
    "emulated-tls": ("-femulated-tls", None),
    "enable-jmc-instrument": ("-fjmc", None),
    "enable-tlsdesc": ("-enable-tlsdesc", None),
    "force-dwarf-frame-section": ("-fforce-dwarf-frame", None),
    "implicit-mapsyms": ("-mmapsyms=implicit", None),
    "no-integrated-as": ("-fno-integrated-as", None),
    "nozero-initialized-in-bss": ("-fno-zero-initialized-in-bss", None),
    "partition-static-data-sections": ("-fpartition-static-data-sections", None),
    "split-machine-functions": ("-fsplit-machine-functions", None),
    "stack-size-section": ("-fstack-size-section", None),
    "strict-dwarf": ("-gstrict-dwarf", None),
    "unique-basic-block-section-names": ("-funique-basic-block-section-names", None),
    "unique-section-names": (None, "-fno-unique-section-names"),
    "use-ctors": ("-fno-use-init-array", None),
    "x86-relax-relocations": (None, "-mrelax-relocations=no"),
    "xray-function-index": (None, "-fno-xray-function-index"),
    # lld sets both whatever is asked.
    "data-sections": (None, None),
    "function-sections": (None, None),
    # And always emits address-significance tables.
    "addrsig": (None, None),
}
_CODEGEN_VALUES: dict[str, Callable[[str], list[str]]] = {
    "align-loops": lambda value: [f"-falign-loops={value}"],
    "code-model": lambda value: [f"-mcmodel={value}"],
    "debugger-tune": lambda value: [f"-debugger-tuning={value}"],
    "fp-contract": lambda value: [f"-ffp-contract={value}"],
    "large-data-threshold": lambda value: [f"-mlarge-data-threshold={value}"],
    "mattr": lambda value: [word for feature in value.split(",") for word in ("-target-feature", feature)],
    "tls-size": lambda value: [f"-mtls-size={value}"],
}
_CODEGEN_WITHOUT_COUNTERPART = frozenset(
    """
    basic-block-sections debug-entry-values denormal-fp-math denormal-fp-math-f32 disable-tail-calls dwarf-version
    dwarf64 emit-call-site-info emit-dwarf-unwind enable-no-infs-fp-math enable-no-nans-fp-math
    enable-no-signed-zeros-fp-math enable-no-trapping-fp-math enable-sign-dependent-rounding-fp-math exception-model
    fdpic float-abi frame-pointer gsframe ignore-xcoff-visibility mc-relax-all meabi mxcoff-roptr
    separate-named-sections stack-symbol-ordering stackrealign swift-async-fp tailcallopt target-abi thread-model
    trap-func vec-extabi x86-sse2avx xcoff-traceback-table
    """.split()
)
# Options whose value is the next word.
_WITH_VALUE = frozenset("mllvm m o plugin-opt plugin load-pass-plugin dynamic-linker L T soname".split())
# LLVM options which change what is said about a compile, not what comes out of it.
_REPORTING = re.compile(r"(pass-remarks.*|time-passes.*|stats.*|crash-diagnostics-dir|threads|print-.*|debug-.*)")


@dataclasses.dataclass(frozen=True)
class BackEnd:
    """The back end that a linker's line asks for."""

    #: cc1 options, without triple and action.
    options: tuple[str, ...]
    #: Value of -m, such as elf_x86_64; None when the linker takes it from its inputs.
    emulation: str | None
    #: Why cc1 cannot give lld's bytes, in sentences; empty when it can.
    differences: tuple[str, ...]


def back_end(arguments: Sequence[str], carry: Callable[[str, str], str]) -> BackEnd:
    """The back end which `arguments` of ld.lld, program name not included, ask for.

    Args: carry: called with an option and the path of a file it names; returns how the corpus names that file.
    Raises: RunError: an option lacks its value or has one that lld would refuse.
    """
    state = _State(carry)
    words = iter(arguments)
    for word in words:
        state.take(word, words)
    return state.result()


class _State:
    """What has been read of a line so far; for most options the last one counts."""

    def __init__(self, carry: Callable[[str, str], str]):
        self._carry = carry
        self._level = _DEFAULT_LEVEL
        self._codegen_level: int | None = None
        self._cpu: str | None = None
        self._relocation_model: str | None = None
        self._kind = "executable"
        self._pie = False
        self._emulation: str | None = None
        self._profile: list[str] = []
        self._cs_generate = False
        self._cs_profile: tuple[str, str] | None = None
        self._blocks: list[str] = []
        self._code_generation: list[str] = []
        self._llvm: list[str] = []
        self._differences: list[str] = []

    def take(self, word: str, words: Iterator[str]) -> None:
        if not word.startswith("-"):
            return
        name = word.removeprefix("-").removeprefix("-")
        value: str | None = None
        if name in _WITH_VALUE:
            value = next(words, None)
            if value is None:
                raise RunError(f"the link command's last option {word}", "lacks its value", "give the whole command")
        elif name.startswith(("mllvm=", "plugin-opt=", "load-pass-plugin=")):
            name, _, value = name.partition("=")
        if value is not None:
            if name == "mllvm":
                self._llvm_option(value)
            elif name == "m":
                self._emulation = value
            elif name == "plugin-opt":
                self._plugin_option(value)
            elif name == "load-pass-plugin":
                self._differ(f"--load-pass-plugin={value}: its passes do not run")
        elif name.startswith("lto-"):
            self._lto_option(name.removeprefix("lto-"))
        elif name in ("pie", "pic-executable", "no-pie"):
            self._pie = name != "no-pie"
        elif name in ("shared", "Bshareable", "r", "relocatable"):
            self._kind = "relocatable" if name.startswith("r") else "shared"
        elif name.startswith(("melf", "maarch64", "marm")):
            self._emulation = name[1:]

    def _plugin_option(self, option: str) -> None:
        if option.startswith("-"):
            self._llvm_option(option)
        elif option.startswith("mcpu="):
            self._cpu = option.removeprefix("mcpu=")
        elif re.fullmatch(r"O.+|cs-profile-generate|sample-profile=.*", option, re.DOTALL):
            self._lto_option(option)
        elif option.startswith("cs-profile-path="):
            self._lto_option("cs-profile-file=" + option.removeprefix("cs-profile-path="))
        elif option.startswith("dwo_dir="):
            self._differ(f"-plugin-opt={option}: split DWARF stays in the object")

    def _lto_option(self, option: str) -> None:
        name, _, value = option.partition("=")
        if level := re.fullmatch(r"(O|CGO)(.*)", option):
            if level[2] not in ("0", "1", "2", "3"):
                wrong = "is no level of lld (0 to 3)"
                raise RunError(f"link option --lto-{option}", wrong, "check the link command")
            if level[1] == "O":
                self._level = int(level[2])
            else:
                self._codegen_level = int(level[2])
        elif name == "cs-profile-generate":
            self._cs_generate = True
        elif name == "cs-profile-file":
            self._cs_profile = (f"--lto-{name}=", value)
        elif name == "sample-profile":
            self._profile = [f"-fprofile-sample-use={self._carry(f'--lto-{option}', value)}"]
        elif name == "basic-block-sections" and value == "labels":
            self._blocks.append("-fbasic-block-address-map")
        elif name == "basic-block-sections":
            sections = value if value in ("all", "none") else f"list={self._carry(f'--lto-{option}', value)}"
            self._blocks.append(f"-fbasic-block-sections={sections}")
        elif name in ("basic-block-address-map", "unique-basic-block-section-names"):
            self._blocks.append(f"-f{name}")
        elif name in ("newpm-passes", "aa-pipeline"):
            self._differ(f"--lto-{option}: cc1 runs the default pipeline")

    def _llvm_option(self, option: str) -> None:
        name, has_value, value = option.lstrip("-").partition("=")
        on = not has_value or value.lower() in ("1", "true")
        if name in _CODEGEN_SWITCHES:
            chosen = _CODEGEN_SWITCHES[name][0 if on else 1]
            self._code_generation += [chosen] if chosen else []
        elif name in _CODEGEN_VALUES:
            self._code_generation += _CODEGEN_VALUES[name](value)
        elif name == "relocation-model":
            self._relocation_model = value
        elif name in ("mcpu", "cpu-name"):
            self._cpu = value
        elif name == "vector-library" and value in _VECTOR_LIBRARIES:
            self._code_generation.append(f"-fveclib={_VECTOR_LIBRARIES[value]}")
        elif name in _CODEGEN_WITHOUT_COUNTERPART or name == "vector-library":
            self._differ(f"-mllvm {option}: cc1 has no option for it")
        elif name in DECIDING:
            self._differ(f"-mllvm -{name}: something else than the heuristic decided in the link; the corpus has none")
        elif not _REPORTING.fullmatch(name):
            self._llvm += ["-mllvm", option]

    def _differ(self, why: str) -> None:
        self._differences.append(why)

    def result(self) -> BackEnd:
        codegen = min(max(self._level, 2), 3) if self._codegen_level is None else self._codegen_level
        if codegen != self._level:
            only = f"cc1 has one level for both, and uses {self._level}"
            self._differ(f"--lto-O{self._level} with code generation at level {codegen}: {only}")
        level = [f"-O{self._level}"]
        if self._level > 1:
            level += ["-vectorize-loops", "-vectorize-slp"]
        elif self._level == 1:
            level += ["-funroll-loops"]  # lld's PipelineTuningOptions unroll at every level, cc1 from -O2 on.
        cpu = ["-target-cpu", self._cpu] if self._cpu else []
        relocations = ["-mrelocation-model", self._relocations()]
        # What lld always asks for.
        sections = ["-ffunction-sections", "-fdata-sections", "-faddrsig"]
        options = [*cpu, *level, *relocations, *sections, *self._code_generation, *self._blocks]
        options += [*self._context_sensitive_profile(), *self._profile, *self._llvm]
        return BackEnd(tuple(options), self._emulation, tuple(self._differences))

    def _relocations(self) -> str:
        if self._relocation_model:
            return self._relocation_model
        if self._kind == "relocatable":
            self._differ("-r: lld takes the relocation model of each module, the override has one (pic) for all")
            return "pic"
        return "pic" if self._kind == "shared" or self._pie else "static"

    def _context_sensitive_profile(self) -> list[str]:
        if self._cs_generate:
            output = [f"-fprofile-instrument-path={self._cs_profile[1]}"] if self._cs_profile else []
            return ["-fprofile-instrument=csllvm", *output]
        if self._cs_profile:
            option, path = self._cs_profile
            carried = self._carry(option + path, path)
            return ["-fprofile-instrument-use=csllvm", f"-fprofile-instrument-use-path={carried}"]
        return []
