// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The ways of evaluating a policy, behind one interface.

#ifndef MLGO_TESTS_BACKENDS_BACKEND_H
#define MLGO_TESTS_BACKENDS_BACKEND_H

#include <memory>
#include <string>

namespace mlgo {

/// One policy in one form. Inputs keep what was written to them from one
/// evaluation to the next.
class Backend {
public:
  explicit Backend(std::string Name) : Name(std::move(Name)) {}
  virtual ~Backend() = default;
  /// Where the values of a feature are written to, row-major; null when the
  /// policy does not look at it.
  virtual void *input(const std::string &Feature) = 0;
  virtual void evaluate() = 0;
  /// The decision: an int64_t or a float.
  virtual const void *decision() const = 0;

  const std::string Name;
};

/// Ends the program with a sentence.
[[noreturn]] void fail(const std::string &Message);

/// The policy that a program is linked with, compiled ahead of time and as
/// generated C++ (forms.cc). `Decision` is the name of its output.
std::unique_ptr<Backend> aotForm(const std::string &Decision);
std::unique_ptr<Backend> cppForm(const std::string &Decision);

} // namespace mlgo

#endif // MLGO_TESTS_BACKENDS_BACKEND_H
