// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Two advisors of the inliner that are asked side by side until they differ.

#ifndef MLGO_RELEASE_INLINING_COMPAREDINLINEADVISORS_H
#define MLGO_RELEASE_INLINING_COMPAREDINLINEADVISORS_H

#include <functional>
#include <memory>

#include "llvm/Analysis/InlineAdvisor.h"

namespace mlgo {

enum class Adviser { Default, Policy };

/// Says whose advice the compile follows from now on.
using AtDifference = std::function<Adviser()>;

/// Lets compiles ask the default heuristic and the embedded policy about each
/// call, in place of what -enable-ml-inliner says, until they differ. Then
/// `Choose` is called, once for each module. No thread may be compiling.
void compareInliners(AtDifference Choose);

/// Of compareInliners, or null.
const AtDifference &comparedInliners();

/// Follows both advisors while they agree, and one of them from the first call
/// about which they differ.
///
/// While both are asked, each computes what it computes alone, and later passes
/// find the analyses of both. Where the code may depend on that, the advisors
/// count as different: the default leaves block frequencies of callers that are
/// not `minsize`, and of modules with a profile.
std::unique_ptr<llvm::InlineAdvisor>
comparedInlineAdvisors(llvm::Module &M, llvm::FunctionAnalysisManager &FAM,
                       std::unique_ptr<llvm::InlineAdvisor> Default,
                       std::unique_ptr<llvm::InlineAdvisor> Policy,
                       AtDifference Choose);

} // namespace mlgo

#endif // MLGO_RELEASE_INLINING_COMPAREDINLINEADVISORS_H
