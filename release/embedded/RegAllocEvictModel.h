// The register eviction policy under the name that llvm/lib/CodeGen/MLRegAllocEvictAdvisor.cpp includes.
#ifndef MLGO_RELEASE_EMBEDDED_REGALLOCEVICTMODEL_H
#define MLGO_RELEASE_EMBEDDED_REGALLOCEVICTMODEL_H

#include "EmbeddedModel.h"

namespace llvm {
using RegAllocEvictModel = mlgo::EmbeddedModel<mlgo::EvictionSlot>;
} // namespace llvm

#endif // MLGO_RELEASE_EMBEDDED_REGALLOCEVICTMODEL_H
