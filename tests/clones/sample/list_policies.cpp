// A program of LLVM that does nothing but know `-mlgo-policies`.
#include "llvm/Support/CommandLine.h"

int main(int argc, char **argv) { llvm::cl::ParseCommandLineOptions(argc, argv); }
