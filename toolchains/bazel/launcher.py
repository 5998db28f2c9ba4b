"""Starts Bazel: an installed Bazel of a suitable version, otherwise Debian's, which the first use installs. Called by
./bazelw.

Bazel runs in the workspace of the current directory, which may be another one that depends on this module; outside of
any workspace it runs in this one.

Option of its own, before or after the command: --debian_mirror=URL, a mirror or a directory of archives that is asked
  first; it may be given more than once.

Environment: BAZEL names the Bazel to use, XDG_CACHE_HOME the folder for Debian's Bazel, MLGO_DEBIAN_MIRRORS the
  mirrors.
"""

import sys

# The code above the next import must run in any Python 3.
OLDEST_PYTHON = (3, 9)
ENVIRONMENT_ERROR = 36  # Bazel's own code for a local environmental issue.
if sys.version_info < OLDEST_PYTHON:
    sys.exit(
        "bazelw: python3 is Python %d.%d: too old, 3.9 is needed. Install a newer one and put it first on PATH."
        % sys.version_info[:2]
    )

import hashlib
import json
import os
import pathlib
import pwd

WORKSPACE = pathlib.Path(os.path.abspath(__file__)).parents[2]
if str(WORKSPACE) not in sys.path:
    sys.path.insert(0, str(WORKSPACE))

from toolchains.bazel import command_line, consent, host, mirror_option, run_options, selection
from toolchains.bazel.errors import LauncherError

# Files whose digest, with the lock's group, names an installed tree: a change of any of them installs another tree.
RECIPE = (
    "toolchains/bazel/relocation.py",
    "toolchains/bazel/registry.py",
    "toolchains/bazel/command_line.py",
    "toolchains/bazel/trust_store.py",
    "third_party/registry/modules.json",
    "third_party/registry/packages.json",
)


def say(line):
    print("bazelw: " + line, file=sys.stderr, flush=True)


def prefix_name(lock_text, recipe):
    """The directory name of the installed Bazel: its version, and a digest of everything it is made from.

    Raises:
        LauncherError: the lock holds no Bazel.
    """
    try:
        groups = json.loads(lock_text)["groups"]
        pinned = {name: groups[name] for name in ("bazel", "bazel_tools")}
        label = pinned["bazel"]["bazel-bootstrap"]["version"].split("+")[0].split("-")[0]
    except (ValueError, KeyError, TypeError) as error:
        raise LauncherError(
            "third_party/debian/lock.json", 'holds no usable group "bazel" (%r)' % error, "Restore it from git."
        ) from None
    digest = hashlib.sha256(json.dumps(pinned, sort_keys=True).encode())
    for content in recipe:
        digest.update(hashlib.sha256(content).digest())
    return "%s-%s" % (label, digest.hexdigest()[:16])


def debian_bazel(environ, home):
    """The directory of the installed Debian Bazel; installs it if it is not there."""
    try:
        lock_text = (WORKSPACE / "third_party/debian/lock.json").read_text(encoding="utf-8")
        recipe = [(WORKSPACE / name).read_bytes() for name in RECIPE]
    except OSError as error:
        raise LauncherError(
            str(error.filename), "cannot be read (%s)" % error.strerror, "Restore it from git."
        ) from None
    prefix = (
        pathlib.Path(host.cache_folder(environ, home)).absolute() / "mlgo" / "bazel" / prefix_name(lock_text, recipe)
    )
    # The loader and Java divide lists of folders at colons; Bazel's rc files end an option with the line.
    if ":" in str(prefix) or "\n" in str(prefix):
        raise LauncherError(
            "Bazel's directory %s" % str(prefix).replace("\n", "\\n"),
            "has a colon or a line end in its name, and Bazel cannot run there",
            "Set XDG_CACHE_HOME to a directory without them.",
        )
    if not (prefix / "manifest.json").is_file():
        from toolchains.bazel import installation  # Only now: it takes longer to load than all else.

        bazel = installation.DebianBazel(WORKSPACE, prefix, environ, say)
        installation.ensure(prefix, bazel.build, say)
    return prefix


def with_user_name(environ, uid):
    """`environ` with a USER: Bazel needs one to start, and a container's user need not have an entry in passwd."""
    if environ.get("USER"):
        return dict(environ)
    try:
        pwd.getpwuid(uid)
        return dict(environ)
    except KeyError:
        return dict(environ, USER="uid%d" % uid)


def answer_to(question):
    """The line that the user types; the question goes to stderr, for stdout may be a file."""
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline()


def user_rc(workspace):
    """The text of the workspace's user.bazelrc; "" if it has none."""
    try:
        return (pathlib.Path(workspace) / mirror_option.RC_FILE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def prepared(arguments, environ, workspace, home):
    """The words for Bazel and its environment: the launcher's own option taken out, the user asked.

    Raises:
        LauncherError: the machine lacks something, or the option is not usable.
    """
    host.check(environ)
    mirrors, arguments = mirror_option.split(arguments)
    environ = mirror_option.with_mirrors(environ, mirrors, user_rc(workspace))
    archives = pathlib.Path(environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")) / "mlgo" / "archives"
    environ = consent.with_gone(environ, archives)
    is_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    if consent.ask(arguments, environ, archives, is_terminal, answer_to):
        say("to keep this answer, put `common %s` into user.bazelrc" % consent.CONFIG)
        environ = dict(environ, **{consent.VARIABLE: "1"})
    return arguments, environ


def main(arguments, environ):
    """Replaces this process by Bazel; returns an exit code only when that is not possible."""
    if environ.get(selection.PROBE):
        return ENVIRONMENT_ERROR
    home = os.path.expanduser("~")
    try:
        workspace = command_line.workspace_above(os.curdir)
        if workspace is None:
            workspace = str(WORKSPACE)
            os.chdir(workspace)
        arguments, environ = prepared(arguments, environ, workspace, home)
        program = selection.choose(
            environ, str(WORKSPACE / "bazelw"), lambda found: selection.ask(found, workspace, environ), say
        )
        rc_files, lying_in = [], command_line.output_roots(arguments, environ, home) + [workspace, str(WORKSPACE)]
        own = program is None
        if program is None:
            prefix = debian_bazel(environ, home)
            program = str(prefix / "usr/bin/bazel")
            rc_files.append(str(prefix / "bazelrc"))
            if os.path.realpath(workspace) != os.path.realpath(WORKSPACE):
                rc_files.append(str(prefix / "other_workspace.bazelrc"))
            lying_in.append(str(prefix))
        if command_line.is_below_tmp(lying_in):
            rc_files.append(str(WORKSPACE / command_line.BELOW_TMP))
        command = command_line.command(program, rc_files, arguments, own)
        given = run_options.of_run(arguments)
        carried = {run_options.VARIABLE: json.dumps(given)} if given else {}
        os.execve(program, command, dict(with_user_name(environ, os.getuid()), **carried))
    except LauncherError as error:
        say(str(error))
    except OSError as error:
        say(
            "%s: cannot be started (%s). Delete its directory and run the same command again."
            % (error.filename, error.strerror)
        )
    except KeyboardInterrupt:
        say("interrupted; run the same command again to resume")
        return 130
    return ENVIRONMENT_ERROR


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
