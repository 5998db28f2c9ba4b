// The embedded policy when TensorFlow compiled it ahead of time: forwards to the generated class.
#include "RegAllocEvictModel.h"

#include "eviction_policy.h"

#include <cstdio>
#include <cstdlib>

namespace llvm {

class RegAllocEvictModel::Policy final {
public:
  mlgo::EvictionPolicy Generated;
};

RegAllocEvictModel::RegAllocEvictModel() : Compiled(new Policy) {}
RegAllocEvictModel::~RegAllocEvictModel() = default;

int RegAllocEvictModel::LookupArgIndex(const std::string &Name) const { return Compiled->Generated.LookupArgIndex(Name); }
int RegAllocEvictModel::LookupResultIndex(const std::string &Name) const {
  return Compiled->Generated.LookupResultIndex(Name);
}

void *RegAllocEvictModel::arg_data(int Index) { return Compiled->Generated.arg_data(Index); }
void *RegAllocEvictModel::result_data(int Index) { return Compiled->Generated.result_data(Index); }

void RegAllocEvictModel::Run() {
  if (Compiled->Generated.Run())
    return;
  std::fputs("fatal error: the embedded register eviction policy could not be evaluated; rebuild this clang with another policy\n",
             stderr);
  std::abort();
}

} // namespace llvm
