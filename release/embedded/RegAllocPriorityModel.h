// The register allocation priority policy under the name that llvm/lib/CodeGen/MLRegAllocPriorityAdvisor.cpp includes.
#ifndef MLGO_RELEASE_EMBEDDED_REGALLOCPRIORITYMODEL_H
#define MLGO_RELEASE_EMBEDDED_REGALLOCPRIORITYMODEL_H

#include "EmbeddedModel.h"

namespace llvm {
using RegAllocPriorityModel = mlgo::EmbeddedModel<mlgo::PrioritySlot>;
} // namespace llvm

#endif // MLGO_RELEASE_EMBEDDED_REGALLOCPRIORITYMODEL_H
