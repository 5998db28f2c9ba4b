// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// lld's version, which images name, as LLVM's own build has it. The packaged
/// archives would name Debian as the vendor.

#include <string>

/// Without lld/Common/Version.h: it needs a generated file that the package
/// lacks.
namespace lld {
std::string getLLDVersion();
} // namespace lld

std::string lld::getLLDVersion() { return "LLD " LLD_VERSION_STRING; }
