// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// LLVM's private configuration header, as far as the units we compile look at
/// it.

#ifndef MLGO_DEVELOPMENT_CONFIG_LLVM_CONFIG_CONFIG_H
#define MLGO_DEVELOPMENT_CONFIG_LLVM_CONFIG_CONFIG_H

#include "llvm/Config/llvm-config.h"

// The packages were built with Z3, whose library Debian has only in shared
// form.
#undef LLVM_WITH_Z3

#endif
