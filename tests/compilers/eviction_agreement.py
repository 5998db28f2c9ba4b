"""What must hold of the eviction advisors of both compilers for any code on any target."""

import dataclasses
import pathlib
import subprocess

from mlgo.compiler.training_log import read_training_log
from mlgo.problems.problem import load_problem
from mlgo.run.locate import runfile

PROBLEM = load_problem("regalloc_eviction")
_MODEL = "tests/policies/shipped_eviction_tflite/model.tflite"
_TIMEOUT_SECONDS = 300


@dataclasses.dataclass(frozen=True)
class Compilers:
    """Two programs that compile the same, one that logs decisions and one with the shipped policy inside.

    Attributes:
      development, release: their runfiles.
      words: of every command.
      is_driver: whether options of LLVM need -mllvm.
    """

    development: str
    release: str
    words: tuple[str, ...]
    is_driver: bool


CLANG = Compilers("development/clang", "release/clang", ("-O2", "-w", "-ffreestanding", "-c"), is_driver=True)
LLC = Compilers("development/llc", "release/llc", ("-O2", "-filetype=obj"), is_driver=False)


def cap_flags(cap: int) -> list[str]:
    """Flags of clang that limit how often a live range is evicted."""
    return ["-mllvm", f"-mlregalloc-max-eviction-count={cap}"]


def compiled(program: str, source: pathlib.Path, flags: list[str], compilers: Compilers = CLANG) -> bytes:
    """The object that `program`, one of `compilers`, makes of a source. `flags` are a driver's.

    Raises: AssertionError: it fails; its command and messages are shown.
    """
    output = source.with_suffix(".o")
    command = [str(runfile(program)), *flags, *compilers.words, source.name, "-o", output.name]
    if not compilers.is_driver:
        command = [word for word in command if word != "-mllvm"]
    done = subprocess.run(
        command, cwd=source.parent, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False
    )
    if done.returncode:
        raise AssertionError(f"{' '.join(command)} fails ({done.returncode}):\n{done.stderr[-3000:]}")
    content = output.read_bytes()
    output.unlink()
    return content


def decisions_of_the_default(
    source: pathlib.Path, flags: list[str], wanted: bytes, compilers: Compilers = CLANG
) -> int:
    """How many decisions a log of the default holds: each of an allowed position, and none of them changes `wanted`.

    Raises: AssertionError: the compile fails, its object differs, or a decision's position is masked.
    """
    log = source.with_suffix(".log")
    logging = [*flags, *PROBLEM.development_flags(str(log), None)]
    found = compiled(compilers.development, source, logging, compilers)
    if found != wanted:
        raise AssertionError(f"{flags}: the object differs when the default's decisions are logged")
    decisions = read_training_log(str(log), PROBLEM)
    for index, (mask, action) in enumerate(zip(decisions.features["mask"][:, 0], decisions.actions)):
        if not mask[action]:
            raise AssertionError(f"{flags}: decision {index} of the log is the masked position {action} of {mask}")
    return decisions.observation_count


def check_agreement(
    source: pathlib.Path,
    flags: list[str],
    caps: list[int | None],
    compilers: Compilers = CLANG,
    wanted: bytes | None = None,
) -> int:
    """How many decisions a log of the default has over all `caps` (None: LLVM's own), after these checks of each.

    A log of the default has only decisions of allowed positions, and writing it changes no object; both compilers make
    the same object with the shipped policy.

    Args: wanted: the object without a policy, if it is known.
    Raises: AssertionError: one of them does not hold, or a compile fails.
    """
    wanted = wanted or compiled(compilers.development, source, flags, compilers)
    model = str(runfile(_MODEL).parent)
    decided = 0
    for cap in caps:
        capped = flags + ([] if cap is None else cap_flags(cap))
        decided += decisions_of_the_default(source, capped, wanted, compilers)
        embedded = compiled(compilers.release, source, [*capped, *PROBLEM.release_flags()], compilers)
        by_model = [*capped, *PROBLEM.development_flags(None, model)]
        interpreted = compiled(compilers.development, source, by_model, compilers)
        if embedded != interpreted:
            raise AssertionError(f"{capped}: the compilers decide differently with the same policy")
    return decided
