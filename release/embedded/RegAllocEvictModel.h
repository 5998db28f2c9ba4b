// The policy embedded in a shipping clang, as llvm/lib/CodeGen/MLRegAllocEvictAdvisor.cpp expects it. The header is the same for
// every policy and for every way of compiling one, so a new policy compiles one small unit again and not LLVM's.
#ifndef MLGO_RELEASE_EMBEDDED_REGALLOCEVICTMODEL_H
#define MLGO_RELEASE_EMBEDDED_REGALLOCEVICTMODEL_H

#include <memory>
#include <string>

namespace llvm {

// Not thread-safe, like the register allocator that owns it.
class RegAllocEvictModel final {
public:
  RegAllocEvictModel();
  ~RegAllocEvictModel();

  // Position of the input "feed_<feature>", or -1 when the policy does not look at that feature.
  int LookupArgIndex(const std::string &Name) const;
  // Position of the output "fetch_index_to_evict".
  int LookupResultIndex(const std::string &Name) const;

  // Tensors in row-major order, valid as long as the object. Types and shapes: mlgo/problems/regalloc_eviction/problem.py.
  void *arg_data(int Index);
  void *result_data(int Index);

  // Evaluates the policy on the inputs.
  void Run();

private:
  class Policy;
  std::unique_ptr<Policy> Compiled;
};

} // namespace llvm

#endif // MLGO_RELEASE_EMBEDDED_REGALLOCEVICTMODEL_H
