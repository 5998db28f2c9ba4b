# For folders that are configured behind `mlgo`, where no other toolchain file is given: CMake 3.28 and newer scan every C++20 source
# with clang-scan-deps, which is not in the compiler's package. Sources without modules need no scan.
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
