// compile_server DESCRIPTOR
//
// A compiler that is ready before it is asked: reads requests from the socket DESCRIPTOR and forks for each, one at a time.
// A child is what `clang -cc1` is after its start-up; everything it does to itself (options, output files, crashes) is
// gone with it. Ends when the client is gone.

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clang/Basic/Stack.h"
#include "clang/Config/config.h"
#include "development/server/child.h"
#include "development/server/protocol.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/TargetSelect.h"

// clang/tools/driver/cc1_main.cpp
extern int cc1_main(llvm::ArrayRef<const char *> arguments, const char *program, void *main_address);

namespace {

int Compile(const mlgo::Request &request) {
  std::vector<const char *> arguments;
  for (size_t i = 1; i < request.arguments.size(); ++i) arguments.push_back(request.arguments[i].c_str());
  return cc1_main(arguments, request.arguments[0].c_str(), reinterpret_cast<void *>(&Compile));
}

void Serve(int socket) {
  const pid_t server = getpid();
  mlgo::Request request;
  while (mlgo::Receive(socket, &request) == mlgo::Received::kRequest) {
    if (request.order == mlgo::Order::kKill) continue;  // it has ended already
    const pid_t child = fork();
    if (child == 0) {
      close(socket);
      if (!mlgo::Enter(request, server)) _exit(127);
      // As after main: what is buffered is written, what lies on the stack is not looked at.
      exit(Compile(request));
    }
    if (child < 0) dprintf(request.messages, "compile server: fork: out of memory\n");
    close(request.messages);
    if (child < 0 || !mlgo::WatchToTheEnd(socket, child)) return;
  }
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    fputs("usage: compile_server DESCRIPTOR\n", stderr);
    return 2;
  }
  // As clang's own main does before it looks at its arguments.
  llvm::InitLLVM initialised(argc, argv);
  clang::noteBottomOfStack();
  llvm::setBugReportMsg("PLEASE submit a bug report to " BUG_REPORT_URL " and include the crash backtrace.\n");
  if (llvm::sys::Process::FixupStandardFileDescriptors()) return 1;
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  llvm::InitializeAllAsmParsers();
  Serve(atoi(argv[1]));
  return 0;
}
