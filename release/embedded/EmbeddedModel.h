// What a program carries of trained policies, and how LLVM's advisors reach them. These headers never change with a policy, so a
// new one compiles a small unit of ours again and none of LLVM's.
#ifndef MLGO_RELEASE_EMBEDDED_EMBEDDEDMODEL_H
#define MLGO_RELEASE_EMBEDDED_EMBEDDEDMODEL_H

#include <memory>
#include <string>

namespace mlgo {

// A policy, whoever compiled it: CompiledPolicy.h. Not thread-safe, like the advisors that own one.
class EmbeddedPolicy {
public:
  virtual ~EmbeddedPolicy() = default;

  // Position of the input "feed_<feature>", or -1 when the policy does not look at that feature.
  virtual int argumentIndex(const std::string &Name) const = 0;
  // Position of the output "fetch_<decision>".
  virtual int resultIndex(const std::string &Name) const = 0;

  // Tensors in row-major order, valid as long as the object. Types and shapes: mlgo/problems/<problem>/problem.py.
  virtual void *argument(int Index) = 0;
  virtual void *result(int Index) = 0;

  // Computes the results from the arguments; false: it could not.
  virtual bool evaluate() = 0;
};

// What is inside for one problem. A program links one definition of each slot: a policy's (release/slot.py) or its absence's.
struct PolicySlot {
  const char *Problem;
  // "run seed 1, ..., sha256:3a919e78925b, backend cpp", or "none".
  const char *Provenance;
  // Null: no policy.
  std::unique_ptr<EmbeddedPolicy> (*Create)();
};
extern const PolicySlot EvictionSlot;
extern const PolicySlot InliningSlot;
extern const PolicySlot PrioritySlot;

// A new instance of the slot's policy. Without one the program ends with a sentence: which flag asked for it, what to do.
std::unique_ptr<EmbeddedPolicy> requirePolicy(const PolicySlot &Slot);

// Ends the program unless the policy can be evaluated.
void evaluateOrEnd(EmbeddedPolicy &Policy, const PolicySlot &Slot);

// The interface that llvm/include/llvm/Analysis/ReleaseModeModelRunner.h expects of a compiled model. LLVM makes one when an
// advisor in release mode has its first decision to take, and none when the interactive channel answers.
template <const PolicySlot &Slot> class EmbeddedModel final {
public:
  int LookupArgIndex(const std::string &Name) const { return Policy->argumentIndex(Name); }
  int LookupResultIndex(const std::string &Name) const { return Policy->resultIndex(Name); }
  void *arg_data(int Index) { return Policy->argument(Index); }
  void *result_data(int Index) { return Policy->result(Index); }
  void Run() { evaluateOrEnd(*Policy, Slot); }

private:
  const std::unique_ptr<EmbeddedPolicy> Policy = requirePolicy(Slot);
};

} // namespace mlgo

#endif // MLGO_RELEASE_EMBEDDED_EMBEDDEDMODEL_H
