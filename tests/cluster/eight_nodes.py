"""Trains on eight nodes of different speed while their network loses, delays and is cut, and compares with a local run.

Each node is a raylet with a root folder, a cache, processors and a network namespace of its own (namespaces.py). The
run is a small one, of real modules and the development clang. While it compiles,

1. all links lose and delay frames;
2. then the links of the last nodes carry nothing, and these nodes are started again when Ray ends them;
3. then the network works again until the run ends.

Needs root, iproute2, util-linux, and a kernel with network namespaces, TAP devices and control groups. Takes about ten
minutes and 4 GB of memory. Everything that it makes ends with it, also on Ctrl-C. Exit code 0: the runs have equal
files; 12: they differ; 2: the cluster does not start, or the run ends before the faults.

    ./bazelw run //tests/cluster:eight_nodes
    ./bazelw run //tests/cluster:eight_nodes -- --loss=0.01 --delay_ms=20 --cut_nodes=1
"""

import argparse
import os
import pathlib
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

from mlgo.run.exit_codes import ExitCode, RunError
from tests.cluster import namespaces
from tests.cluster.faults import Fault, phases
from tests.end_to_end import command, real_modules
from tests.isolation.processes import process

#: Cores of each node while the run lasts: one is seven times as fast as another. Together two, as our machine has.
_SPEEDS = (0.5, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07)
_FLAGS = (
    "--validation_modules=4",
    "--gin_bindings=RunSettings.validation_interval=2",
    "--gin_bindings=BcConfig.epochs=2",
    "--gin_bindings=VocabularyConfig.quantiles=100",
)
_POLL_SECONDS = 0.5
#: Of what the run says.
_OF_CLUSTER = re.compile(r"^cluster:|^node \d|^Error|rror:")
_SENT = re.compile(r"the driver sent (\d+) MB of files, nodes sent each other (\d+) MB")
#: How long the run may go on after the faults.
_REST_SECONDS = 1800


def main(arguments: list[str]) -> int:
    """Runs the trial; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules", type=int, default=40, help="modules to learn from (default: 40)")
    parser.add_argument("--iterations", type=int, default=10, help="iterations of the run (default: 10)")
    parser.add_argument("--loss", type=float, default=0.05, help="part of the frames that is lost (default: 0.05)")
    parser.add_argument("--delay_ms", type=float, default=100, help="delay of each frame, milliseconds (default: 100)")
    parser.add_argument("--cut_nodes", type=int, default=2, help="number of nodes that are cut off (default: 2)")
    parser.add_argument("--seconds", type=float, default=60, help="duration of each of the two faults (default: 60)")
    flags = parser.parse_args(arguments)
    if os.geteuid():
        parser.error("nodes have namespaces of their own: start this as root")
    if not 0 <= flags.cut_nodes < len(_SPEEDS):
        parser.error(f"--cut_nodes={flags.cut_nodes}: must be 0 to {len(_SPEEDS) - 1}; the head is never cut off")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        # Ray puts sockets below it, whose names have room for 107 characters.
        with tempfile.TemporaryDirectory(prefix="nodes", dir="/tmp") as scratch:
            return _Trial(flags, pathlib.Path(scratch)).run()
    except RunError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted; nodes, namespaces and control groups are gone", file=sys.stderr)
        return ExitCode.INTERRUPTED


class _Trial:
    """One run of this program."""

    def __init__(self, flags: argparse.Namespace, folder: pathlib.Path):
        self._flags, self._folder = flags, folder
        self._begin = time.monotonic()
        self._shown = 0  # Characters of the run's log.

    def run(self) -> int:
        """Both runs and the report."""
        with namespaces.running(self._folder, len(_SPEEDS), [_checkout(), _bazel_output()]) as cluster:
            run = cluster.folder_of_run
            real_modules.smallest("train", self._flags.modules, run / "train")
            real_modules.smallest("held_out", 4, run / "held_out")
            self._say(f"{len(_SPEEDS)} nodes are up; they use {cluster.memory_bytes() / 1e9:.1f} GB of memory")
            for node, cores in enumerate(_SPEEDS):
                cluster.limit(node, cores)
            self._say(f"cores of the nodes: {', '.join(f'{cores:g}' for cores in _SPEEDS)}")
            self._train_on(cluster)
            self._report(cluster)
        self._say("the same run on this machine alone")
        self._train([], [f"--output_dir={run / 'local'}"], lambda: None)
        return self._compare(run)

    def _train_on(self, cluster: namespaces.Cluster) -> None:
        output = cluster.folder_of_run / "ray"
        flags = [f"--output_dir={output}", "--executor=ray", f"--ray_address={cluster.address}"]

        def disturb() -> None:
            self._wait(lambda: len(list(output.glob("trace/train/**/*.json"))) >= len(_SPEEDS))
            delay = self._flags.delay_ms / 1000
            for phase in phases(len(_SPEEDS), self._flags.loss, delay, self._flags.cut_nodes):
                self._say(f"for {self._flags.seconds:g} s {phase.title}")
                self._set(cluster, phase.faults)
                end = time.monotonic() + self._flags.seconds
                self._wait(lambda end=end: time.monotonic() > end)
            self._set(cluster, (Fault(),) * len(_SPEEDS))
            self._say(f"the network works again; {cluster.memory_bytes() / 1e9:.1f} GB of memory")

        self._train(cluster.on_the_head(), flags, disturb)

    def _train(self, before: Sequence[str], flags: Sequence[str], meanwhile: Callable[[], None]) -> None:
        """Raises: RunError: the run fails, or ends before `meanwhile` does."""
        run = self._folder / "run"
        inputs = [f"--clang={real_modules.development_clang()}"]
        inputs += [f"--train_corpus={run / 'train'}", f"--held_out_corpus={run / 'held_out'}"]
        size = [f"--iterations={self._flags.iterations}", f"--modules_per_iteration={self._flags.modules // 2}"]
        words = [*before, *command.words([*inputs, *size, *_FLAGS, *flags])]
        log = run / "run.log"
        log.write_bytes(b"")
        self._shown = 0
        begin = time.monotonic()
        with process(words, log, env={**command.environment(), "HOME": "/tmp"}) as self._training:
            meanwhile()
            end = time.monotonic() + _REST_SECONDS
            self._wait(lambda: self._training.poll() is not None or time.monotonic() > end, to_its_end=True)
            self._say(f"the run took {time.monotonic() - begin:.0f} s")
        if self._training.returncode:
            raise RunError("training run", f"exit code {self._training.returncode}", log.read_text("utf-8")[-3000:])

    def _wait(self, happened: Callable[[], bool], to_its_end: bool = False) -> None:
        """Shows what the run says of the cluster until something has happened."""
        while not happened():
            if self._training.poll() is not None and not to_its_end:
                said = (self._folder / "run/run.log").read_text("utf-8")[-3000:]
                raise RunError("training run", f"ends before the faults do: {said}", "Give more --iterations")
            time.sleep(_POLL_SECONDS)
            self._show()
        self._show()

    def _show(self) -> None:
        text = (self._folder / "run/run.log").read_text("utf-8", "replace")
        complete = text[: text.rfind("\n") + 1]
        for line in complete[self._shown :].splitlines():
            if _OF_CLUSTER.search(line):
                self._say(f"    {line}")
        self._shown = len(complete)

    def _report(self, cluster: namespaces.Cluster) -> None:
        for node in range(len(_SPEEDS)):
            count, starts = cluster.network.count(node), cluster.starts(node)
            self._say(
                f"node {cluster.network.address(node)}: {_SPEEDS[node]:g} cores, Ray started {starts} times;"
                f" {count.sent} frames sent, {count.lost} lost, {count.cut} stopped by the cut"
            )
        text = (self._folder / "run/run.log").read_text("utf-8", "replace")
        size = real_modules.development_clang().stat().st_size >> 20
        if found := _SENT.search(text):
            by_driver, by_nodes = (int(number) // size for number in found.groups())
            self._say(f"the compiler ({size} MB) left the driver {by_driver} times, and a node {by_nodes} times")

    def _compare(self, run: pathlib.Path) -> ExitCode:
        differing = command.differing(run / "local", run / "ray")
        files = command.outputs(run / "local")
        if differing or not files:
            self._say(f"the files of the two runs differ: {', '.join(differing)}")
            return ExitCode.OUTPUT_DIFFERS
        self._say(f"the files of the two runs are equal, byte for byte: {len(files)} files, weights included")
        return ExitCode.DONE

    def _set(self, cluster: namespaces.Cluster, faults: Sequence[Fault]) -> None:
        for node, fault in enumerate(faults):
            cluster.network.set_fault(node, fault)

    def _say(self, message: str) -> None:
        print(f"{time.monotonic() - self._begin:5.0f} s  {message}", flush=True)


def _checkout() -> pathlib.Path:
    return pathlib.Path(__file__).resolve().parents[2]


def _bazel_output() -> pathlib.Path:
    """The folder to which links of a Bazel program's files lead, beside the checkout.

    Raises: RunError: this was not started by Bazel.
    """
    python = pathlib.Path(sys.executable).resolve()
    for folder in python.parents:
        if folder.name == "external":
            return folder.parent
    remedy = "Start this as ./bazelw run //tests/cluster:eight_nodes"
    raise RunError(f"{python}", "is not an interpreter of Bazel's", remedy)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
