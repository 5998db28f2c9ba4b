"""The executor of a Ray cluster, for commands that were built with Ray."""

from mlgo.compiler.executor import Executor
from mlgo.run.exit_codes import RunError


def ray_executor(address: str | None = None, workers: int | None = None) -> Executor:
    """As RayExecutor. Raises: RunError: the command was built without Ray, or there is no such cluster."""
    try:
        # Only here: importing Ray takes a second, and only programs that offer it have it.
        from mlgo.cluster.ray_executor import RayExecutor  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        remedy = "Start it as ./bazelw run --//mlgo/cluster:with_ray //mlgo:COMMAND -- --executor=ray ..."
        raise RunError("--executor=ray", f"this command was built without Ray ({error})", remedy) from error
    return RayExecutor(address, workers)
