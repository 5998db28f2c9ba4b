"""Writes the header through which an LLVM without our patches evaluates a policy that was compiled to C++.

    model_header --policy=DIR --problem=regalloc_eviction --cpp_class=mlgo::EvictionPolicy --policy_header=policy.h \\
        --model=RegAllocEvictModel --header=OUT.h

LLVM's build copies one header per model, so OUT.h contains the policy's header, and after it the class llvm::MODEL with
the interface that llvm/include/llvm/Analysis/ReleaseModeModelRunner.h expects. Exit code 2: the policy cannot be used
there; one sentence says why.
"""

import argparse
import pathlib
import sys

from mlgo.policy.directory import load_policy
from mlgo.policy.identity import problem_of
from mlgo.problems.problem import load_problem
from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import RunError
from mlgo.run.files import write_atomically

_CLASS = """
#include <string>

namespace llvm {{
// What LLVM's advisor asks. The policy's class itself needs no C++ library.
class {model} final {{
public:
  int LookupArgIndex(const std::string &Name) const {{ return Policy.LookupArgIndex(Name.c_str()); }}
  int LookupResultIndex(const std::string &Name) const {{ return Policy.LookupResultIndex(Name.c_str()); }}
  void *arg_data(int Index) {{ return Policy.arg_data(Index); }}
  void *result_data(int Index) {{ return Policy.result_data(Index); }}
  void Run() {{ Policy.Run(); }}

private:
  {cpp_class} Policy;
}};
}} // namespace llvm
"""


def check_features(policy: pathlib.Path, problem_name: str) -> None:
    """Checks that an LLVM without our patches computes all that the policy looks at.

    Args: problem_name: folder below mlgo/problems.
    Raises: RunError: it looks at a feature of ours or at embeddings, is damaged, or is for another problem.
    """
    problem = load_problem(problem_of(policy, problem_name))
    network, _ = load_policy(policy, problem)
    looked_at = network.normalizer.tensors
    remedy = f"Train a policy with --problem={problem.folder}+stock, or leave this one out"
    if ours := [name for name in looked_at if name in problem.features_of_ours]:
        wrong = f"looks at {', '.join(ours)}, which an LLVM without the patches of mlgo does not compute"
        raise RunError(f"the policy {policy}", wrong, remedy)
    if embeddings := [name for name in looked_at if name in problem.embeddings]:
        wrong = f"looks at {', '.join(embeddings)}, whose vocabulary LLVM's build does not contain"
        raise RunError(f"the policy {policy}", wrong, remedy)


def model_header(policy_header: str, cpp_class: str, model: str) -> str:
    """The header's text."""
    return policy_header + _CLASS.format(cpp_class=cpp_class, model=model)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", type=pathlib.Path, required=True, help="directory of the policy")
    parser.add_argument("--problem", required=True, help="folder below mlgo/problems")
    parser.add_argument("--cpp_class", required=True, help="name of the policy's C++ class, with its namespace")
    parser.add_argument("--policy_header", type=pathlib.Path, required=True, help="header of that class, to be copied")
    parser.add_argument("--model", required=True, help="name of LLVM's class, without its namespace")
    parser.add_argument("--header", type=pathlib.Path, required=True, help="C++ header to write")
    flags = parser.parse_args(arguments)

    def write() -> None:
        check_features(flags.policy, flags.problem)
        text = model_header(flags.policy_header.read_text(encoding="ascii"), flags.cpp_class, flags.model)
        write_atomically(flags.header, text.encode("ascii"))

    return exit_code_of(write)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
