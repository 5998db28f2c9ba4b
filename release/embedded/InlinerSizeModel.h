// The inlining-for-size policy under the name that llvm/lib/Analysis/MLInlineAdvisor.cpp includes.
#ifndef MLGO_RELEASE_EMBEDDED_INLINERSIZEMODEL_H
#define MLGO_RELEASE_EMBEDDED_INLINERSIZEMODEL_H

#include "EmbeddedModel.h"

namespace llvm {
using InlinerSizeModel = mlgo::EmbeddedModel<mlgo::InliningSlot>;
} // namespace llvm

#endif // MLGO_RELEASE_EMBEDDED_INLINERSIZEMODEL_H
