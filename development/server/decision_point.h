// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Compiles of one module that share the work before the first decision of a
/// policy.

#ifndef MLGO_DEVELOPMENT_SERVER_DECISION_POINT_H
#define MLGO_DEVELOPMENT_SERVER_DECISION_POINT_H

#include <string>
#include <vector>

#include "development/confinement/confinement.h"

namespace mlgo {

/// Compiles as cc1 does, with `Arguments`, of which the first is the program's
/// name. They write the object to stdout, or to /dev/null if only logs are
/// requested; then a compile may end with the last decision. Just before the
/// first use of the policy the process announces itself on `Announcement` and
/// reads requests from `Socket`. A child for each request continues from there,
/// in the request's directory; confined by `Walls`; only children return.
/// Returns 0 if the compile succeeded.
int compileFromDecisionPoint(const std::vector<std::string> &Arguments,
                             int Socket, int Announcement,
                             const Sandbox &Walls);

} // namespace mlgo

#endif // MLGO_DEVELOPMENT_SERVER_DECISION_POINT_H
