// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The policies embedded in a program, and LLVM's access to them. These headers
/// do not depend on any policy: a new policy recompiles one small generated
/// unit and none of LLVM's.

#ifndef MLGO_LLVM_EMBEDDED_EMBEDDEDMODEL_H
#define MLGO_LLVM_EMBEDDED_EMBEDDEDMODEL_H

#include <cstddef>
#include <memory>
#include <string>

namespace mlgo {

/// A policy compiled by any backend (CompiledPolicy.h). Not thread-safe, like
/// the advisors that own one.
class EmbeddedPolicy {
public:
  virtual ~EmbeddedPolicy() = default;

  /// Position of the input "feed_<feature>", or -1 if the policy does not use
  /// that feature.
  virtual int argumentIndex(const std::string &Name) const = 0;
  /// Position of the output "fetch_<decision>".
  virtual int resultIndex(const std::string &Name) const = 0;

  /// Tensors in row-major order, valid during the object's lifetime. Types and
  /// shapes: mlgo/problems/<problem>/problem.py.
  virtual void *argument(int Index) = 0;
  virtual void *result(int Index) = 0;

  /// Computes the results from the arguments. Returns false on failure.
  virtual bool evaluate() = 0;
};

/// A policy inside a program.
struct PolicyInside {
  /// The value of the slot's selector that stands for it; "" for the only
  /// policy of a slot.
  const char *Name;
  /// The problem with its settings:
  /// "inlining_for_size+ir2vec.75.2f057ba5bf719820".
  const char *Problem;
  /// "run seed 1, ..., sha256:3a919e78925b, backend cpp".
  const char *Provenance;
  std::unique_ptr<EmbeddedPolicy> (*Create)();
  /// The architectures that it is for (architectureOf in PolicyTarget.h), with
  /// a space between them; "" for the slot's first.
  const char *Architectures;
  /// The IR2Vec vocabulary whose embeddings the policy is told:
  /// "DIMENSION.DIGEST", or "" for none.
  const char *Vocabulary;
};

/// The policies for one problem. A program links exactly one definition of each
/// slot: with policies (release/slot.py) or empty (llvm/private/slots.bzl).
struct PolicySlot {
  const char *Problem;
  /// Without a selector the first decides, unless another is for the target.
  /// Null if the slot is empty.
  const PolicyInside *Policies;
  std::size_t Count;

  const PolicyInside *begin() const { return Policies; }
  const PolicyInside *end() const { return Policies + Count; }
};
#define POLICY_SLOT(Slot, Problem, Name, AdvisorFlag, SelectorFlag,            \
                    ChannelFlag, Functions, Measured)                          \
  extern const PolicySlot Slot;
#include "PolicySlots.def"
#undef POLICY_SLOT

/// The functions in which a policy decides; the default heuristic decides in
/// all others (`decides_in` of llvm/slots.bzl).
enum class DecidesIn { AllFunctions, FunctionsForSize };

/// What llvm/slots.bzl says about a slot. Strings: the option that evaluates
/// its policy, its argument in release/defs.bzl, the options that select one of
/// several policies and open its interactive channel.
struct SlotUsage {
  const PolicySlot &Slot;
  const char *Flag;
  const char *Attribute;
  const char *Selector;
  const char *Channel;
  DecidesIn Where;
  /// Architectures for which policies for the problem were measured, with a
  /// space between them.
  const char *Measured;
};
const SlotUsage &usageOf(const PolicySlot &Slot);

/// Returns the policy of the slot that is to decide: the one that its selector
/// names, or else the one for the thread's target (PolicyTarget.h), or else the
/// first; null if the slot is empty. If no policy has that name, ends the
/// program with an error that lists the names. All code asks here which policy
/// decides.
const PolicyInside *chosenPolicy(const PolicySlot &Slot);

/// Whether policies for the problem were measured for the architecture, or
/// whoever embedded this one chose it for that.
bool isMeasured(const PolicySlot &Slot, const PolicyInside &Inside,
                const std::string &Architecture);

/// Returns a new instance of the slot's chosen policy. If the slot is empty,
/// ends the program with an error that names the flag and the remedy.
std::unique_ptr<EmbeddedPolicy> requirePolicy(const PolicySlot &Slot);

/// Ends the program unless the policy can be evaluated.
void evaluateOrEnd(EmbeddedPolicy &Policy, const PolicySlot &Slot);

/// The interface that llvm/include/llvm/Analysis/ReleaseModeModelRunner.h
/// expects of a compiled model. LLVM creates one at the first decision of an
/// advisor in release mode, and none if the interactive channel is in use.
template <const PolicySlot &Slot> class EmbeddedModel final {
public:
  static const PolicySlot &slot() { return Slot; }

  // NOLINTBEGIN(readability-identifier-naming): LLVM calls them so.
  int LookupArgIndex(const std::string &Name) const {
    return Policy->argumentIndex(Name);
  }
  int LookupResultIndex(const std::string &Name) const {
    return Policy->resultIndex(Name);
  }
  void *arg_data(int Index) { return Policy->argument(Index); }
  void *result_data(int Index) { return Policy->result(Index); }
  void Run() { evaluateOrEnd(*Policy, Slot); }
  // NOLINTEND(readability-identifier-naming)

private:
  const std::unique_ptr<EmbeddedPolicy> Policy = requirePolicy(Slot);
};

} // namespace mlgo

#endif // MLGO_LLVM_EMBEDDED_EMBEDDEDMODEL_H
