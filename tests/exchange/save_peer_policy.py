"""Saves a policy as ml-compiler-opt does: save_peer_policy PROBLEM SEED FOLDER."""

import os
import pathlib
import sys


def main(problem: str, seed: str, folder: str) -> None:
    # tf-agents needs Keras 2.
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    from mlgo.problems.problem import load_problem
    from tests.exchange.peer_policies import save_peers_policy

    save_peers_policy(pathlib.Path(folder), load_problem(problem), int(seed))


if __name__ == "__main__":
    main(*sys.argv[1:])
