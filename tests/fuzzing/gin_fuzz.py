"""Files of settings: values are set, and nothing else happens."""

import contextlib
import sys

from mlgo.flags.peer_arguments import bindings_of_file
from mlgo.run.exit_codes import RunError
from mlgo.training import settings
from mlgo.training.gin_files import set_configuration
from tests.fuzzing import search
from tests.fuzzing.in_memory import path_of

SEEDS = (
    b"# Comment.\nRunSettings.iterations = 40\nRunSettings.warm_start = 'bc'\nNetworkConfig.units = (16, 8)\n",
    b"rate = 1e-3\nPpoConfig.learning_rate = %rate\na/EsConfig.sigma = 0.5\nEffectConfig.start = {'gain': [1, None]}\n",
)
WORDS = (
    b"import this\n",
    b"include 'x.gin'\n",
    b"from a import b\n",
    b"@",
    b"@gin.singleton()",
    b"%",
    b"%rate",
    b"a = [%b, %b]\n",
    b"b = [%a, %a]\n",
    b"((((((((",
    b" = ",
    b"'''",
    b"\\\n",
)
#: Nothing imports it by itself; it stands for code that a file names.
_MODULE = "this"


def run(content: bytes) -> None:
    with path_of(content) as path, contextlib.suppress(ValueError, TypeError, AttributeError, SyntaxError, RunError):
        set_configuration([path], [])
    with path_of(content) as path, contextlib.suppress(RunError):
        bindings_of_file(path, lambda name: None)
    assert _MODULE not in sys.modules, "the file imported a module"


if __name__ == "__main__":
    assert settings.gin_classes(), "there is nothing to set"
    search.main(search.Target(run, (), lambda: SEEDS, WORDS))
