"""A seeded sample of the C and C++ compiles of a build: which, what became of them, and what the whole would cost."""

import dataclasses
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mlgo.corpus.gn.attempt import Memory
from mlgo.corpus.gn.sample_compiles import Compiled
from mlgo.run.exit_codes import ExitCode, RunError

# The rules of gn's tools cc and cxx: `cxx`, or `NAME_cxx` of a toolchain that is not the default.
_COMPILE_RULE = re.compile(r"(?:.*_)?(?:cc|cxx)")
_FAILED = "FAILED: "
_STEP = re.compile(r"\[\d+/\d+\] ")
_REASON = re.compile(r"(?:fatal )?error:|Error:|rror\b")
#: Colours of a terminal, which builds may switch on.
_COLOUR = re.compile(r"\x1b\[[0-9;]*[mK]")
#: Characters of a reason in a report.
_MOST_CHARACTERS = 300


def rules_of(targets: Iterable[str]) -> dict[str, str]:
    """File -> name of the rule that makes it, from the lines of `ninja -t targets all`."""
    pairs = (line.rpartition(": ") for line in targets)
    return {path: rule for path, _, rule in pairs if path}


def compiles(inputs: Iterable[str], rules: Mapping[str, str]) -> list[str]:
    """The objects among the inputs of a target that a C or C++ compiler makes, sorted."""
    return sorted(path for path in set(inputs) if _COMPILE_RULE.fullmatch(rules.get(path, "")))


def chosen(objects: Sequence[str], steps: int, seed: int) -> list[str]:
    """`steps` of the sorted `objects`, sorted; a larger sample of a seed holds the smaller ones.

    Raises: RunError: there are not so many.
    """
    if not 1 <= steps <= len(objects):
        raise RunError(
            f"--steps={steps}", f"is not between 1 and {len(objects)}, the number of compiles", "Give another number"
        )
    shuffled = list(objects)
    random.Random(seed).shuffle(shuffled)
    return sorted(shuffled[:steps])


def failures(log: str) -> dict[str, str]:
    """Outputs of each failed step, as Ninja's output has them -> the first line that names an error, else the last."""
    found: dict[str, str] = {}
    lines = log.splitlines()
    for index, line in enumerate(lines):
        if not line.startswith(_FAILED):
            continue
        said = []
        # The line after the outputs is the command.
        for following in lines[index + 2 :]:
            if following.startswith((_FAILED, "ninja: ")) or _STEP.match(following):
                break
            said.append(following.strip())
        found[line.removeprefix(_FAILED).strip()] = reason_in(said)
    return found


def reason_in(said: Sequence[str]) -> str:
    """The line of a failed command's output that tells why, shortened: the first that names an error, else the last."""
    plain = [_COLOUR.sub("", text).strip() for text in said]
    reason = next((text for text in plain if _REASON.search(text)), plain[-1] if plain else "no output")
    return reason[:_MOST_CHARACTERS]


@dataclasses.dataclass(frozen=True)
class Needed:
    """What Ninja built for the compiles: headers, and sources that are generated.

    Attributes:
      cpu_seconds: of all its steps, user and system.
      wall_seconds: that it took.
      failed: outputs of a failed step, separated by blanks -> reason.
      is_complete: it was not ended by the time limit.
      memory: that Ninja and its largest command took.
    """

    cpu_seconds: float
    wall_seconds: float
    failed: Mapping[str, str]
    is_complete: bool
    memory: Memory


@dataclasses.dataclass(frozen=True)
class Made:
    """Files that the build makes besides the objects of C and C++ compiles.

    Attributes:
      files: how many of them exist.
      whole: how many there are.
      bytes: of those that exist.
    """

    files: int
    whole: int
    bytes: int


def report(
    objects: int, sample: Sequence[str], compiled: Mapping[str, Compiled], needed: Needed, seed: int, made: Made
) -> dict[str, Any]:
    """What is known of the sample, as JSON.

    Args:
      objects: number of C and C++ compiles of the whole build.
      compiled: object -> what became of it, for those of the sample that were begun.
      made: what exists besides objects.

    Raises: RunError: no object of the sample was made.
    """
    failed = {path: reason_in(one.failure.splitlines()) for path, one in compiled.items() if one.failure}
    whole = [one for one in compiled.values() if not one.failure]
    if not whole:
        first = next(iter({**needed.failed, **failed}.items()), ("no step", "the time limit came first"))
        raise RunError(
            f"sample of {len(sample)} compiles",
            f"none was made (first failure: {first[0]}: {first[1]})",
            "Read ninja.log beside the build, or raise --minutes",
            ExitCode.NOTHING_PRODUCED,
        )
    size, cpu_seconds = (sum(getattr(one, name) for one in whole) / len(whole) for name in ("bytes", "cpu_seconds"))
    return {
        "compiles_of_the_whole": objects,
        "seed": seed,
        "sample": list(sample),
        "compiled": {path: dataclasses.asdict(one) for path, one in compiled.items() if not one.failure},
        "failed": failed,
        "not_reached": [path for path in sample if path not in compiled],
        "needed": dataclasses.asdict(needed),
        "made": dataclasses.asdict(made),
        "per_compile": {"cpu_seconds": cpu_seconds, "bytes": size},
        "largest_compile_bytes": max(one.memory_bytes for one in whole),
        "extrapolated": {
            "cpu_hours": cpu_seconds * objects / 3600,
            "gigabytes": size * objects / 1e9,
            "made_gigabytes": made.bytes / max(made.files, 1) * made.whole / 1e9,
        },
    }


def text(content: Mapping[str, Any]) -> str:
    """The report as text."""
    whole, sample = content["compiles_of_the_whole"], content["sample"]
    needed, made, memory = content["needed"], content["made"], content["needed"]["memory"]
    one, extrapolated = content["per_compile"], content["extrapolated"]
    count = len(content["compiled"])
    tried = count + len(content["failed"])
    lines = [
        f"sample        {len(sample)} of {whole:,} C and C++ compiles, seed {content['seed']}",
        f"compiled      {count} of {tried} that were tried, {count / tried:.1%};"
        f" {len(content['not_reached'])} not reached",
        f"needed        {needed['cpu_seconds']:,.0f} CPU s for headers and sources that are generated,"
        f" {len(needed['failed'])} steps failed{'' if needed['is_complete'] else '; ended by --minutes'}",
        f"cost          {one['cpu_seconds']:.1f} CPU s and {one['bytes'] / 1e6:.2f} MB per compile",
        f"memory        {content['largest_compile_bytes'] / 1e9:.1f} GB for the largest compile,"
        f" {memory['command_bytes'] / 1e9:.1f} GB for the largest step before,"
        f" {memory['ninja_bytes'] / 1e9:.1f} GB for Ninja",
        f"other files   {made['files']:,} of {made['whole']:,} that the build makes, {made['bytes'] / 1e9:.1f} GB",
        f"extrapolated  {extrapolated['cpu_hours']:.0f} CPU hours and {extrapolated['gigabytes']:.0f} GB for all"
        f" compiles, {extrapolated['made_gigabytes']:.1f} GB for other files",
    ]
    for kind, failed in (("failed", content["failed"]), ("failed before", needed["failed"])):
        lines += [f"{kind:<13} {path}: {reason}" for path, reason in failed.items()]
    return "\n".join(lines) + "\n"
