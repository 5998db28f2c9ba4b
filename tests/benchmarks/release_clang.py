"""A changed policy becomes a new release clang, or linker: CPU seconds of all that Bazel runs, and of the link alone.

Calls this workspace's Bazel again (its server is free while a command started by `bazel run` runs) and reads from
/proc what the processes it started have used; analysing, which a warm server does anyway, is not counted.
"""

import pathlib
import shutil
import time

from mlgo.learning.network import initial_network
from mlgo.policy.directory import load_policy
from mlgo.policy.saved_model import save_policy
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from tests.benchmarks import row
from tests.benchmarks.workspace import bazel, root

#: Issue 2, "Speed".
MOST_CPU_SECONDS = 20.0
MOST_LINK_CPU_SECONDS = 3.0
#: Issue 21, "Numbers".
MOST_LINKER_CPU_SECONDS = 8.0

_TICKS_PER_SECOND = 100.0  # USER_HZ of every Linux on x86-64.
_CLANG, _LINKER = "//release:clang", "//release:lld"
_FOLDER = "out/benchmarks/release_clang"
_BUILD_FILE = 'filegroup(name = "policy", srcs = glob(["policy/*"]), visibility = ["//visibility:public"])\n'


def children_cpu_seconds(stat: str) -> float:
    """CPU seconds of a process's ended children, from its /proc/<pid>/stat (proc(5): cutime and cstime, fields 16 and
    17).
    """
    fields = stat.rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / _TICKS_PER_SECOND


def measure() -> list[row.Row]:
    workspace = root()
    folder = workspace / _FOLDER
    server = pathlib.Path("/proc", bazel(workspace, "info", "server_pid").strip(), "stat")

    def cpu_seconds(target: str, *flags: str) -> float:
        before = children_cpu_seconds(server.read_text())
        bazel(workspace, "build", target, *flags)
        return children_cpu_seconds(server.read_text()) - before

    try:
        shipped = workspace / "models/regalloc_eviction/policy"
        changed_policy(shipped, folder / "policy")
        (folder / "BUILD.bazel").write_text(_BUILD_FILE)
        # The way to the policy must be warm, the policy itself new.
        for target in (_CLANG, _LINKER):
            cpu_seconds(target)
        flag = f"--//release:eviction_policy=//{_FOLDER}:policy"
        # No cache can know weights drawn just now. A link option that changes nothing else links once more.
        whole = cpu_seconds(_CLANG, flag)
        link = cpu_seconds(_CLANG, flag, f"--linkopt=-Wl,--defsym=mlgo_benchmark={time.time_ns() % 10**9}")
        # Weights of its own: clang's are compiled already.
        shutil.rmtree(folder / "policy")
        changed_policy(shipped, folder / "policy")
        linker = cpu_seconds(_LINKER, flag)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return [
        row.at_most("release_clang: new policy to new clang", whole, "CPU s", MOST_CPU_SECONDS),
        row.at_most("release_clang: link", link, "CPU s", MOST_LINK_CPU_SECONDS),
        row.at_most("release_clang: new policy to new lld", linker, "CPU s", MOST_LINKER_CPU_SECONDS),
    ]


def changed_policy(shipped: pathlib.Path, folder: pathlib.Path) -> None:
    """A policy of the shipped one's size and normaliser with weights that no build has seen."""
    network, _ = load_policy(shipped, PROBLEM)
    save_policy(initial_network(network.normalizer, time.time_ns() % 2**31), PROBLEM, folder)
