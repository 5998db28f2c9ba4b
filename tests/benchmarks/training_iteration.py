"""What part of a PPO iteration over eviction is not spent in compilers, in CPU seconds.

One training run on a part of the built-in corpus, from random weights; its second iteration counts, for the first one
warms up TensorFlow.
"""

import json
import pathlib
import tempfile

from mlgo.compiler.executor import available_cores
from mlgo.compiler.server_executor import executor_for
from mlgo.learning.algorithms.ppo.algorithm import PpoConfig
from mlgo.learning.cloning_config import BcConfig
from mlgo.learning.network import NetworkConfig
from mlgo.run import locate
from mlgo.trace.vocabulary import VocabularyConfig
from mlgo.training.figures import SECONDS_NAME
from mlgo.training.run_inputs import RunInputs
from mlgo.training.settings import Configurations, RunSettings
from mlgo.training.training_run import TrainingRun
from tests.benchmarks.row import Row, at_most

#: As in ml-compiler-opt's ppo_nn_agent.gin (mlgo/learning/algorithms/ppo/papers_eviction.gin): every decision once, in
#: large minibatches.
_PAPERS = PpoConfig(minibatch=4096, epochs=1, learning_rate=3e-4, entropy=0.005)
_ITERATIONS = 2


def measure() -> list[Row]:
    """The rows of this benchmark; takes about three minutes on two cores."""
    cores = available_cores()
    settings = RunSettings(
        warm_start="none",
        iterations=_ITERATIONS,
        modules_per_iteration=48,
        validation_modules=4,
        validation_interval=_ITERATIONS,
    )
    with tempfile.TemporaryDirectory() as directory:
        output = pathlib.Path(directory)
        clang = locate.runfile("development/clang")
        inputs = RunInputs(clang, locate.runfile("mlgo/corpus/llvm_small_train"), None, None, None, output)
        configurations = Configurations(settings, VocabularyConfig(), NetworkConfig(), BcConfig(), _PAPERS)
        executor = executor_for(clang, cores)
        try:
            TrainingRun(inputs, configurations, cores, executor).run()
        finally:
            executor.close()
        seconds = json.loads((output / SECONDS_NAME).read_text(encoding="utf-8").splitlines()[-1])
    outside = seconds["own"] / (seconds["own"] + seconds["clang"])
    return [
        at_most("part of a PPO iteration outside of clang", outside, "", 0.25),
        Row("the same iteration on all cores", seconds["total"], "s"),
        Row("of it learning", seconds["learning"], "s"),
    ]
