"""What is done on the stand-ins, and what each run must say."""

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType

from tests.foreign_hosts import hosts
from tests.foreign_hosts.proxy import MIRROR

_HELLO = "//tests/clones/sample:hello"
_HELLO_SAYS = r"^tests/clones/sample/hello\.cc "
#: A Python program, which reads files of these names.
_SAY = "//tests/any_path/package:say"
_SAY_FOLDER = "tests/any_path/package/data"
#: A program linked from LLVM's archives with a policy that TensorFlow's packages generate.
_SAMPLE = "//tests/clones/sample"
_NAMES_WHAT_TO_SET = (
    r"no Debian mirror: MLGO_DEBIAN_MIRRORS is not set and /etc/apt names none\. Give .*--debian_mirror=URL, or in "
    r"user\.bazelrc with common --repo_env=MLGO_DEBIAN_MIRRORS=URL"
)
_ARCHIVES = f"/{hosts.ARCHIVES}"
_RC = f"common --repo_env=MLGO_DEBIAN_MIRRORS={_ARCHIVES}\n"
_ENVIRONMENT_ERROR = 36
_HOME = MappingProxyType({"HOME": "/home/user"})
_CACHE = MappingProxyType({"XDG_CACHE_HOME": f"/{hosts.CACHES}"})


@dataclasses.dataclass(frozen=True)
class Run:
    """One command in a clone on a stand-in, as an ordinary user with umask 077 and without user namespaces.

    Attributes:
      name: for the table.
      command: of bash, in the clone; {bazel} stands for options that keep the load small.
      says: patterns that its output must match, on single lines.
      never_says: patterns that it must not match.
      exit_code: the expected one.
      environment: its variables besides PATH and LANG.
      rc: content of user.bazelrc.
      user: number of the user.
      read_only: folders that are mounted read-only.
      fresh: caches are empty before.
      clones: number of clones, the second of which is ../second.
      packages: Python packages are needed; pip's settings of this machine are set.
      proxy: the mirror is reached through a proxy; {proxy} in `environment` stands for its address.
    """

    name: str
    command: str
    says: tuple[str, ...]
    never_says: tuple[str, ...] = ()
    exit_code: int = 0
    environment: Mapping[str, str] = dataclasses.field(default_factory=lambda: _HOME)
    rc: str = ""
    user: int = hosts.USER
    read_only: tuple[str, ...] = ()
    fresh: bool = True
    clones: int = 1
    packages: bool = False
    proxy: bool = False


_NOTHING_SET = Run(
    "nothing set",
    f"./bazelw build {_HELLO}",
    (_NAMES_WHAT_TO_SET,),
    never_says=("Traceback",),
    exit_code=_ENVIRONMENT_ERROR,
)
_OPTION = Run(
    "--debian_mirror=DIR, HOME and caches below it",
    f"./bazelw --debian_mirror={_ARCHIVES} run {{bazel}} {_HELLO}",
    (r"Bazel 7\.\S+ installed in", _HELLO_SAYS),
    never_says=(": not from ",),
)
_RC_FILE = Run(
    "user.bazelrc, HOME read-only, XDG_CACHE_HOME elsewhere",
    f"./bazelw run {{bazel}} {_HELLO} && mkdir {_SAY_FOLDER} && echo ä > {_SAY_FOLDER}/'grün 日本' && "
    f"./bazelw run {{bazel}} {_SAY} -- ä 'a b'",
    (_HELLO_SAYS, r"^'\\xe4' 'a b'$", r"^'gr\\xfcn \\u65e5\\u672c' '\\xe4\\n'$"),
    environment={**_HOME, **_CACHE},
    rc=_RC,
    read_only=("home/user",),
)
_READ_ONLY_HOME = Run(
    "HOME read-only and nothing else",
    f"./bazelw --debian_mirror={_ARCHIVES} build {_HELLO}",
    (r"the cache folder /home/user/\.cache: cannot be written .*Set XDG_CACHE_HOME to a writable directory",),
    exit_code=_ENVIRONMENT_ERROR,
    read_only=("home/user",),
)
_NO_HOME = Run(
    "no HOME and no entry in passwd",
    f"./bazelw --debian_mirror={_ARCHIVES} build {_HELLO}",
    (r"HOME: is not set and the user has no entry in passwd\. Set HOME or XDG_CACHE_HOME",),
    exit_code=_ENVIRONMENT_ERROR,
    environment={},
    user=hosts.STRANGER,
)
_NO_HOME_CACHE = Run(
    "no HOME, XDG_CACHE_HOME set",
    f"./bazelw --debian_mirror={_ARCHIVES} run {{bazel}} {_HELLO}",
    (_HELLO_SAYS,),
    environment=_CACHE,
    user=hosts.STRANGER,
)
_PROXY = Run(
    "a mirror behind http_proxy",
    f"./bazelw --debian_mirror={MIRROR} run {{bazel}} {_HELLO}",
    (_HELLO_SAYS,),
    environment={**_HOME, "http_proxy": "{proxy}"},
    proxy=True,
)
_TWO_AT_ONCE = Run(
    "two first runs at once, in two clones",
    f"(cd ../second && ./bazelw run {{bazel}} {_HELLO}) & ./bazelw run {{bazel}} {_HELLO}; code=$?; "
    "wait $! && (exit $code)",
    (r"another bazelw is installing Bazel into .*; waiting for it", f"(?s){_HELLO_SAYS}.*{_HELLO_SAYS}"),
    rc=_RC,
    clones=2,
)
_SAMPLE_BUILD = Run(
    "a program of LLVM with a policy inside; Python packages",
    f"./bazelw build {{bazel}} {_SAMPLE} && ./bazel-bin/tests/clones/sample/list_policies --version",
    (r"LLVM version 22",),
    rc=_RC,
    packages=True,
)
RELEASE = Run(
    "//release:clang",
    "./bazelw build {bazel} //release:clang && ./bazel-bin/release/clang --version",
    (r"clang version 22",),
    rc=_RC,
    packages=True,
)

#: Host -> its runs, in order.
RUNS: Mapping[str, tuple[Run, ...]] = MappingProxyType(
    {
        "bare": (
            dataclasses.replace(
                _NOTHING_SET,
                says=(
                    r"this machine: lacks awk, cmp, env, find, getconf, git, grep, gzip, sed, tar\. .*"
                    r"apt-get install coreutils diffutils findutils git grep gzip libc-bin mawk sed tar\)",
                ),
            ),
        ),
        "old_glibc": (
            dataclasses.replace(_NOTHING_SET, says=(r"this machine: lacks glibc 2\.36 or newer \(this is 2\.31\)",)),
        ),
        "without_apt": (_NOTHING_SET, _OPTION, _READ_ONLY_HOME, _RC_FILE, _NO_HOME, _NO_HOME_CACHE, _SAMPLE_BUILD),
        "other_apt": (_NOTHING_SET, _PROXY, _TWO_AT_ONCE),
    }
)
