// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CostFile.h"
#include "DecisionFormat.h"
#include "ExecutedCost.h"
#include "UsageError.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/IR/Function.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <system_error>
#include <utility>

using namespace llvm;

namespace {

cl::opt<std::string>
    File(mlgo::CostFileOption, cl::Hidden, cl::value_desc("file"),
         cl::desc("Write what a call of each function executes, estimated from "
                  "the frequencies of its blocks after register allocation"),
         cl::callback([](const std::string &Path) {
           if (Path.empty())
             mlgo::endWithUsageError("-" + mlgo::CostFileOption +
                                     ": names no file. Give one");
         }));

constexpr StringRef Head =
    "mlgo-executed-cost 1\n"
    "function\tscope\tcalls\tinstructions\tmemory references\t"
    "callee-saved registers\n";

/// Text that a reader turns into the same number.
std::string number(double Value) {
  char Text[32];
  std::snprintf(Text, sizeof(Text), "%.17g", Value);
  return Text;
}

/// The stream ends the program at an error that is not asked for. LLVM is
/// compiled with run-time type information.
Error errorOf(raw_ostream &Out) {
  Out.flush();
  auto *const Opened = dynamic_cast<raw_fd_ostream *>(&Out);
  const std::error_code Code = Opened ? Opened->error() : std::error_code();
  if (Opened)
    Opened->clear_error();
  return errorCodeToError(Code);
}

/// Writes a file in one step. A device or a link, such as /dev/stdout, is
/// written to: LLVM would put a file in its place.
Error writeTo(StringRef Path, function_ref<Error(raw_ostream &)> Write) {
  sys::fs::file_status Status;
  if (sys::fs::status(Path, Status, /*follow=*/false) ||
      sys::fs::is_regular_file(Status))
    return writeToOutput(Path, Write);
  std::error_code Code;
  raw_fd_ostream Out(Path, Code);
  return Code ? errorCodeToError(Code) : Write(Out);
}

} // namespace

bool mlgo::writesCostFile() { return !File.empty(); }

void mlgo::CostFile::add(const MachineFunction &MF, const ExecutedCost &Cost) {
  const Function &F = MF.getFunction();
  const std::optional<uint64_t> Calls = callsOf(F);
  appendEscaped(Lines, GlobalValue::dropLLVMManglingEscape(MF.getName()));
  Lines += F.hasLocalLinkage() ? "\tlocal\t" : "\tglobal\t";
  Lines += Calls ? utostr(*Calls) : "";
  for (const double Part :
       {Cost.Instructions, Cost.MemoryReferences, Cost.CalleeSavedRegisters})
    Lines += '\t' + number(Part);
  Lines += '\n';
}

void mlgo::CostFile::write() {
  const std::string Functions = std::exchange(Lines, {});
  const std::error_code Failed =
      errorToErrorCode(writeTo(File, [&](raw_ostream &Out) {
        Out << Head << Functions;
        return errorOf(Out);
      }));
  if (Failed)
    endWithUsageError("-" + CostFileOption + ": cannot write " + File + ": " +
                      Failed.message());
}
