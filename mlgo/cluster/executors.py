"""Executors by the name that a command's flag gives."""

from mlgo.compiler.executor import Executor, LocalExecutor, available_cores
from mlgo.run.exit_codes import RunError

NAMES = ("local", "ray")


def executor_for(name: str, address: str | None = None, workers: int | None = None) -> Executor:
    """The executor `name`; close it at the end.

    Args:
      name: "local" or "ray".
      address: of the Ray cluster, HOST:PORT; None: the one that this machine is a node of.
      workers: compiles at a time, on each machine; None: one per core.

    Raises: RunError: there is no such executor, or no such cluster.
    """
    if name == "local":
        return LocalExecutor(workers or available_cores())
    if name != "ray":
        raise RunError(f"--executor={name}", "is no executor", f"Give one of {', '.join(NAMES)}")
    try:
        # Only here: importing Ray takes a second, and only programs that offer it have it.
        from mlgo.cluster.ray_executor import RayExecutor  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        remedy = "Start it as ./bazelw run --//mlgo/cluster:with_ray //mlgo:COMMAND -- --executor=ray ..."
        raise RunError("--executor=ray", f"this command was built without Ray ({error})", remedy) from error
    return RayExecutor(address, workers)
