"""A Bazel with an output base of its own, started by a test, and ended with it."""

import contextlib
import os
import pathlib
import pwd
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

#: What of the environment reaches the nested Bazel: where the launcher keeps things, which Bazel it takes, where
#: downloads come from. Tests name these in `env_inherit` (defs.bzl).
INHERITED = (
    "BAZEL",
    "HOME",
    "MLGO_DEBIAN_MIRRORS",
    "MLGO_LLVM_MAJOR",
    "PATH",
    "PIP_CONFIG_FILE",
    "PIP_FIND_LINKS",
    "PIP_INDEX_URL",
    "SSL_CERT_FILE",
    "USER",
    "XDG_CACHE_HOME",
)
#: Names a folder in which a nested Bazel finds what the outer one has built, and the other way round: .ci/run sets it.
DISK_CACHE = "MLGO_TEST_DISK_CACHE"
#: Startup options for a server that lives for minutes: it optimises only code that it runs very often, such as SHA-256,
#: a tenth of the CPU time less. The defaults of Java's -XX:Tier4... are 5000, 600, 15000, 40000.
SHORT_LIVED = tuple(
    f"--host_jvm_args=-XX:Tier4{name}Threshold={count}"
    for name, count in {"Invocation": 100_000, "MinInvocation": 20_000, "Compile": 300_000, "BackEdge": 800_000}.items()
)
#: A server that was not shut down, for instance because the test was killed, ends itself.
_IDLE_SECONDS = 60


def environment(outer: Mapping[str, str]) -> dict[str, str]:
    """The environment for the nested Bazel: nothing of the test's own, for Bazel takes TEST_TMPDIR as a sign of its own
    tests.
    """
    kept = {name: outer[name] for name in INHERITED if outer.get(name)}
    kept.setdefault("HOME", pwd.getpwuid(os.getuid()).pw_dir)
    kept.setdefault("PATH", os.defpath)
    return kept


def shared_disk_cache() -> list[str]:
    """The option for the disk cache of the outer Bazel, if it has one for this test (defs.bzl)."""
    return [f"--disk_cache={os.environ[DISK_CACHE]}"] if os.environ.get(DISK_CACHE) else []


def archive_cache(environ: Mapping[str, str]) -> pathlib.Path:
    """The cache of Debian archives of the user who runs the test."""
    home = environ.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir
    return pathlib.Path(environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")) / "mlgo" / "archives"


def link_archives(home: pathlib.Path, bazel: bool = False) -> None:
    """Makes a home folder that is empty but for a link to the archives in the cache of the user who runs the test.

    Args: bazel: a link to the Bazel that is installed there, too. //tests/any_path installs one.
    """
    archives = archive_cache(os.environ)
    archives.mkdir(parents=True, exist_ok=True)
    cache = home / ".cache" / "mlgo"
    cache.mkdir(parents=True)
    (cache / "archives").symlink_to(archives)
    if bazel:
        (cache / "bazel").symlink_to(archives.with_name("bazel"))


def repository_of(path: pathlib.Path) -> pathlib.Path:
    """The directory of the fetched repository that holds the file `path`: <output base>/external/<canonical name>.

    Raises: ValueError: `path` lies in none.
    """
    path = path.resolve()
    for parent in path.parents:
        if parent.parent.name == "external":
            return parent
    raise ValueError(f"{path} lies in no fetched repository")


def shared_repositories(files: Sequence[pathlib.Path], module: str = "") -> list[str]:
    """Options that give the nested Bazel the repositories of these files as the outer one has fetched them.

    Args:
      files: any file of each.
      module: name of the module that asks for them there, when that is not the root module.
    """
    options = []
    for file in files:
        repository = repository_of(file)
        name = repository.name
        if module:
            # _main~debian~x of the root module is <module>~~debian~x of another; before Bazel 8 with ~, then with +.
            separator = "~" if name.startswith("_main~") else "+"
            name = module + separator + name.removeprefix("_main")
        options.append(f"--override_repository={name}={repository}")
    return options


class NestedBazel:
    """Bazel in one workspace with one output base.

    Attributes:
      workspace: where it runs.
      base: its output base.
    """

    def __init__(
        self,
        launcher: pathlib.Path,
        workspace: pathlib.Path,
        base: pathlib.Path,
        options: Sequence[str] = (),
        environ: Mapping[str, str] = MappingProxyType({}),
    ):
        """
        Args:
          launcher: a bazelw.
          options: for every command.
          environ: variables that differ from the test's own environment.
        """
        self.workspace, self.base, self._environ = workspace, base, dict(environ)
        self._startup = [str(launcher), f"--output_base={base}", f"--max_idle_secs={_IDLE_SECONDS}", *SHORT_LIVED]
        self._options = ["--color=no", "--curses=no", "--noshow_progress", "--symlink_prefix=/"]
        self._options += [*shared_disk_cache(), *options]

    def run(self, command: str, *arguments: str) -> str:
        """What `bazel COMMAND ARGUMENTS` prints on standard output.

        Raises: AssertionError: it failed; carries the end of what it said.
        """
        done = subprocess.run(
            [*self._startup, command, *(self._options if command != "shutdown" else ()), *arguments],
            cwd=self.workspace,
            env=environment(os.environ) | self._environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
        )
        if done.returncode:
            what = f"bazel {command} {' '.join(arguments)} in {self.workspace}"
            raise AssertionError(f"{what}: exit code {done.returncode}\n{done.stderr[-6000:]}")
        return done.stdout

    def write_program(self, path: pathlib.Path) -> None:
        """Writes a program that is this Bazel, for commands that start it by a name."""
        startup, options = shlex.join(self._startup), shlex.join(self._options)
        path.write_text(f'#!/bin/sh\ncommand=$1\nshift\nexec {startup} "$command" {options} "$@"\n', encoding="utf-8")
        path.chmod(0o755)

    def end(self) -> None:
        """Ends the server."""
        self.run("shutdown")


@contextlib.contextmanager
def nested(*arguments, **keywords) -> Iterator[NestedBazel]:
    """A NestedBazel whose server is ended and whose output base is removed afterwards."""
    bazel = NestedBazel(*arguments, **keywords)
    try:
        yield bazel
    finally:
        bazel.end()
        remove(bazel.base)


def remove(folder: pathlib.Path) -> None:
    """Removes a tree of Bazel's, some of whose folders are read-only."""
    if folder.exists():
        subprocess.run(["chmod", "-R", "u+w", folder], check=False)
        shutil.rmtree(folder)
