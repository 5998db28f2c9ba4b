// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Which functions the code of an object's outlined functions comes from.

#ifndef MLGO_RELEASE_SEARCH_OUTLINEDCODE_H
#define MLGO_RELEASE_SEARCH_OUTLINEDCODE_H

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "llvm/ADT/StringRef.h"
#include "llvm/Object/ELFObjectFile.h"

namespace mlgo::search {

/// Of a function: index of its section, offset in it.
using Place = std::pair<uint64_t, uint64_t>;
using BytesByPlace = std::map<Place, double>;

/// Whether the machine outliner (llvm/lib/CodeGen/MachineOutliner.cpp) made the
/// function with this name.
bool isOutlined(llvm::StringRef Name);

/// Charges the bytes of each function in `Outlined` to those that call it, by
/// the number of their calls, as mlgo/compiler/outlined_code.py does. The sum
/// stays the same. A function whose calls are not found keeps its bytes.
///
/// \param Bytes of all functions; those that are charged have none afterwards.
/// \param Outlined the places of those that the machine outliner made.
void chargeOutlined(BytesByPlace &Bytes, const std::set<Place> &Outlined,
                    const llvm::object::ELFObjectFileBase &Object);

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_OUTLINEDCODE_H
