"""The executable of the fake clang (fake_clang.py): `fake_clang_program.py SETTINGS ARGUMENTS`.

It is run by the test's interpreter without site packages: it may import only the standard library.
"""

import hashlib
import json
import math
import mmap
import os
import select
import signal
import struct
import sys
import time
from typing import Any, NoReturn

# cc1 options which the commands in `COMMAND` and of the built-in corpus use; everything else is refused.
_KNOWN_WITH_VALUE = set(
    "-triple -mllvm -o -x -target-cpu -tune-cpu -mrelocation-model -pic-level -main-file-name -target-feature"
    " -opt-record-file -opt-record-passes -opt-record-format".split()
)
_KNOWN_PREFIXES = tuple("-O -f -m -disable- -clear- -discard- -debugger-tuning= -vectorize- -pic-is-pie".split())

_FORMATS = {"float": "<%df", "int64_t": "<%dq", "int32_t": "<%di"}

#: A file in the folder that the settings call "killer": while it exists, one compile in the number that it holds stops
#: for mlgo/compiler/testing/killer.py. A file beside it that is named after a compile says that it was killed before.
ONE_IN = "one_in"
#: What a stopped compile writes its name to, in the directory that it works in.
STOPPED_NAME = "stopped"


def _fail(message: str) -> NoReturn:
    print(message, file=sys.stderr)
    raise SystemExit(1)


def _parse(arguments: list[str], settings: dict) -> dict:
    if arguments[:1] == ["--version"]:
        print("fake clang version 22.1.8")
        raise SystemExit(0)
    if arguments[:1] != ["-cc1"]:
        _fail(f"error: fake clang runs as -cc1 only, not {arguments[:1]}")
    parsed: dict[str, Any] = {"input": None, "-o": None, "-x": None}
    flags = ("advisor_flag", "log_flag", "model_flag", "channel_flag", "channel_default_flag")
    known_llvm = {settings[flag] for flag in flags} if settings["ml_support"] else set()
    rest = iter(arguments[1:])
    for argument in rest:
        if argument in _KNOWN_WITH_VALUE:
            value = next(rest, None)
            if value is None:
                _fail(f"error: argument to '{argument}' is missing (expected 1 value)")
            if argument == "-mllvm":
                name, _, setting = value.lstrip("-").partition("=")
                if name not in known_llvm:
                    _fail(f"clang (LLVM option parsing): Unknown command line argument '{value}'.  Try: ...")
                if name in parsed:
                    _fail(f"clang (LLVM option parsing): for the --{name} option: may only occur zero or one times!")
                parsed[name] = setting
            else:
                parsed[argument] = value
        elif argument in ("-emit-obj", "-emit-llvm-bc"):
            if "action" in parsed:
                _fail(f"error: '{argument}' action ignored; '{parsed['action']}' action specified previously")
            parsed["action"] = argument
        elif not argument.startswith("-"):
            parsed["input"] = argument
        elif argument != "-emit-llvm-uselists" and not argument.startswith(_KNOWN_PREFIXES):
            _fail(f"error: unknown argument: '{argument}'")
    if parsed["-x"] != "ir" or parsed["input"] is None or parsed["-o"] is None or "action" not in parsed:
        _fail(f"error: fake clang needs -emit-obj or -emit-llvm-bc, -x ir, -o and an input; it got {arguments}")
    return parsed


def _policy(parsed: dict, settings: dict) -> bytes:
    """A digest of the model, empty for the default heuristic."""
    directory = parsed.get(settings["model_flag"])
    if directory is None:
        return b""
    try:
        with open(os.path.join(directory, "output_spec.json"), encoding="utf-8") as file:
            decision = json.load(file)[0]["logging_name"]
        with open(os.path.join(directory, "model.tflite"), "rb") as file:
            model = file.read()
    except (OSError, ValueError, LookupError) as error:
        _fail(f"error: Could not load the policy model from the provided path ({error})")
    if decision != settings["action_name"]:
        _fail(f"error: The first output spec must describe the decision tensor {settings['action_name']}")
    return hashlib.sha256(model).digest()


class _Numbers:
    """A stream of numbers that depends on a key only."""

    def __init__(self, *key: bytes):
        self._state = hashlib.sha256(b"\0".join(key)).digest()

    def below(self, limit: int) -> int:
        self._state = hashlib.sha256(self._state).digest()
        return int.from_bytes(self._state[:8], "little") % limit


def _observation(settings: dict, features: list[dict], numbers: _Numbers, policy_numbers: _Numbers) -> bytes:
    mask: list[int] = []
    if settings["mask_feature"]:
        mask = [numbers.below(2) for _ in range(settings["action_count"])]
        mask[-1] = 1
    record = b""
    for feature in features[:-1]:
        size = math.prod(feature["shape"])
        if feature["name"] == settings["mask_feature"]:
            values: list[float] = [*mask]
        elif feature["name"] == settings["default_decision"]:
            values = [numbers.below(2)]
        elif feature["type"] == "float":
            values = [numbers.below(1000) / 1000 for _ in range(size)]
        else:
            values = [numbers.below(4) for _ in range(size)]
        record += struct.pack(_FORMATS[feature["type"]] % size, *values)
    if mask:
        legal = [position for position, allowed in enumerate(mask) if allowed]
        record += struct.pack("<q", legal[policy_numbers.below(len(legal))])
    else:
        record += struct.pack(_FORMATS[features[-1]["type"]] % 1, policy_numbers.below(2))
    return record


def _context(name: str) -> bytes:
    return json.dumps({"context": name}, separators=(",", ":")).encode() + b"\n"


def _log(module: dict, policy: bytes, settings: dict) -> bytes:
    header = json.loads(settings["header"])
    features, has_score = header["features"], "score" in header
    parts = [settings["header"].encode()]
    for name, decisions in module["functions"].items():
        parts.append(_context(name))
        numbers = _Numbers(b"features", name.encode())
        policy_numbers = _Numbers(b"policy", name.encode(), policy)
        for index in range(decisions):
            record = _observation(settings, features, numbers, policy_numbers)
            last = index == decisions - 1
            score = 100.0 + policy_numbers.below(1000) / 10 if last else 0.0
            parts.append(b'{"observation":%d}\n' % index + record + b"\n")
            if has_score:
                parts.append(b'{"outcome":%d}\n' % index + struct.pack("<f", score) + b"\n")
    return b"".join(parts)


def _interactive(module: dict, base: str, include_default: bool, settings: dict) -> bytes:
    """Asks for every decision of the module; returns all answers.

    Opens the FIFOs in clang's order: the one it reads first.
    """
    behaviour = module["behaviour"]
    if behaviour == "silent":
        return b""
    inbound = os.open(base + ".in", os.O_RDONLY)
    outbound = open(base + ".out", "wb", buffering=0)  # pylint: disable=consider-using-with
    described = json.loads(settings["channel_default_header" if include_default else "channel_header"])
    size = struct.calcsize(_FORMATS[described["advice"]["type"]] % 1)
    if behaviour == "endless_header":
        while True:
            outbound.write(b"{" * 65536)
    if behaviour == "other_dtype":  # of its first feature
        described["features"][0]["type"] = "int32_t"
    elif behaviour == "unknown_feature":
        described["features"].append({"name": "moon_phase", "type": "float", "port": 0, "shape": [1]})
    outbound.write(b"hello\n" if behaviour == "garbage_header" else json.dumps(described).encode() + b"\n")
    answers = b""
    for name, decisions in module["functions"].items():
        if behaviour == "header_twice":  # as two advisors of one kind would
            outbound.write(json.dumps(described).encode() + b"\n")
        outbound.write(_context(name))
        numbers = _Numbers(b"features", name.encode())
        for index in range(decisions):
            # The last tensor of what a log would hold is the decision.
            record = _observation(settings, [*described["features"], described["advice"]], numbers, numbers)[:-size]
            said = b'{"observation":%d}\n' % index + record + b"\n"
            while behaviour == "deaf":
                outbound.write(said)
                said = said.replace(b'{"observation":%d}' % index, b'{"observation":%d}' % (index + 1), 1)
                index += 1
            if index == 1 and behaviour.endswith("_inside"):
                outbound.write(said[: len(said) // 2])
                if behaviour == "leaves_inside":
                    return answers
                _misbehave(behaviour.removesuffix("_inside"))
            if index == 0 and behaviour == "byte_by_byte":
                for start in range(0, len(said), 100):
                    outbound.write(said[start : start + 100])
            else:
                outbound.write(said)
            if behaviour == "question_at_end":
                return answers
            if behaviour == "answer_unread":
                # After it is there: the caller ends by reading this object.
                select.select([inbound], [], [])
                return answers
            answer = b""
            while len(answer) < size:
                answer += os.read(inbound, size - len(answer))
            answers += answer
            if behaviour == "crash_between":
                _misbehave("crash")
            if behaviour == "talkative":  # more than a pipe holds
                os.write(2, b"warning: fake\n" * 20000)
    if behaviour == "trailing":
        outbound.write(b"goodbye")
    return answers


def _remarks(module: dict, answers: bytes) -> bytes:
    """Remarks of pass regalloc as YAML: each function has copies, whose cost depends on the answers."""
    return b"".join(
        b"--- !Missed\nPass:            regalloc\nName:            SpillReloadCopies\nFunction:        %s\nArgs:\n"
        b"  - NumVRCopies:     '1'\n  - TotalCopiesCost: '%d.5e+00'\n...\n" % (name.encode(), 1 + sum(answers) % 7)
        for name in module["functions"]
    )


def _grandchild() -> None:
    if os.fork() == 0:
        time.sleep(3600)
        os._exit(0)


def _misbehave(behaviour: str) -> None:
    if behaviour == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif behaviour == "abort":
        print("fatal error: error in backend: fake", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGABRT)
    elif behaviour == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif behaviour == "refuse":
        _fail("error: expected top-level entity")
    elif behaviour in ("hang", "hang_with_grandchild", "hang_before_decision"):
        if behaviour == "hang_with_grandchild":
            _grandchild()
        time.sleep(3600)
    elif behaviour == "spin":
        _spend(10**9)
    elif behaviour == "chatter":
        while True:
            os.write(2, b"warning: fake\n" * 1000)
            _spend(10)
    elif behaviour == "out_of_memory":
        hoard = []
        try:
            while True:
                # Untouched pages cost no time: this limit stops it on any machine.
                hoard.append(mmap.mmap(-1, 64 << 20))
        except OSError:
            hoard.clear()
            print("LLVM ERROR: out of memory", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGABRT)
    elif behaviour == "no_space":
        _fail("LLVM ERROR: IO failure on output stream: No space left on device")


def _stop_for_killer(settings: dict, stage: str, *inputs: bytes) -> None:
    """Stops if this compile, which is named after its stage and inputs, is one that a killer kills."""
    try:
        with open(os.path.join(settings["killer"], ONE_IN), encoding="ascii") as file:
            one_in = int(file.read())
    except FileNotFoundError:
        return
    digest = hashlib.sha256(b"\0".join(inputs)).hexdigest()[:16]
    name = f"{stage}-{digest}"
    if int(digest, 16) % one_in or os.path.exists(os.path.join(settings["killer"], name)):
        return
    with open(STOPPED_NAME, "w", encoding="ascii") as file:
        file.write(name)
    os.kill(os.getpid(), signal.SIGSTOP)


def _spend(milliseconds: int) -> None:
    end = time.process_time() + milliseconds / 1000
    while time.process_time() < end:
        pass


def _main(settings_path: str, arguments: list[str]) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it; a compiler does not
    with open(settings_path, encoding="utf-8") as file:
        settings = json.load(file)
    parsed = _parse(arguments, settings)
    with open(parsed["input"], "rb") as file:
        content = file.read()
    try:
        module = json.loads(content)
    except ValueError:
        # Not one of our modules but real IR, such as that of the compiler check.
        module = {"functions": {"preflight": 0}, "behaviour": "good", "milliseconds": 0}
    policy = _policy(parsed, settings)
    log_path = parsed.get(settings["log_flag"])
    if parsed.get(settings["advisor_flag"]) == "development" and log_path is None and not policy:
        _fail("error: development mode should be requested with at least logging enabled and/or a training model")
    _spend(module["milliseconds"])
    stage = "optimised" if parsed["action"] == "-emit-llvm-bc" else "policy" if policy else "default"
    _stop_for_killer(settings, stage, content, policy)
    behaviour = module["behaviour"]
    _misbehave("crash" if behaviour == "crash_with_model" and policy else behaviour)
    if behaviour == "grandchild":
        _grandchild()
    channel = parsed.get(settings["channel_flag"])
    answers = b""
    if channel is not None:
        if parsed.get(settings["advisor_flag"]) != "release":
            _fail("error: fake clang is interactive in release mode only")
        answers = _interactive(module, channel, settings["channel_default_flag"] in parsed, settings)
    log = _log(module, policy, settings)
    if log_path is not None and behaviour != "no_log":
        broken = {"empty_log": b"", "garbage_log": b"\x7fELF garbage\n" * 10, "truncated_log": log[: len(log) * 2 // 3]}
        with open(log_path, "wb") as file:
            file.write(broken.get(behaviour, log))
            while behaviour == "huge_log":
                file.write(bytes(1 << 20))
    if "-opt-record-file" in parsed:
        with open(parsed["-opt-record-file"], "wb") as file:
            file.write(_remarks(module, answers))
    if behaviour != "no_object":
        with open(parsed["-o"], "wb") as file:
            # Optimising changes nothing: the module goes on to the next compile.
            made = b"\x7fFAKE" + hashlib.sha256(content + policy + answers).digest()
            file.write(content if parsed["action"] == "-emit-llvm-bc" else made)


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2:])
