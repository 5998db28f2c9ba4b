// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// compile_server DESCRIPTOR [WALLS]
///
/// A compiler that starts once: reads requests from the socket DESCRIPTOR and
/// forks for each, one at a time. A child is in the state of `clang -cc1` after
/// its start-up; its changes to the process (options, output files, crashes)
/// end with it. It is confined to its directory (//development/confinement).
/// WALLS: all (default), none, landlock or filter. The server ends when the
/// client is gone.

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "development/confinement/confinement.h"
#include "development/server/child.h"
#include "development/server/decision_point.h"
#include "development/server/protocol.h"
#include "clang/Basic/Stack.h"
#include "clang/Config/config.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/TargetSelect.h"

/// clang/tools/driver/cc1_main.cpp
extern int cc1_main(llvm::ArrayRef<const char *> arguments, const char *program,
                    void *main_address);

namespace {

int Compile(const mlgo::Request &request) {
  std::vector<const char *> arguments;
  for (size_t i = 1; i < request.arguments.size(); ++i)
    arguments.push_back(request.arguments[i].c_str());
  return cc1_main(arguments, request.arguments[0].c_str(),
                  reinterpret_cast<void *>(&Compile));
}

/// Returns false if the client is gone.
bool CompileOne(int socket, const mlgo::Request &request,
                const mlgo::Walls &walls) {
  const pid_t child = mlgo::ForkInto(request, walls);
  if (child == 0) {
    close(socket);
    // As after main: buffers are flushed, destructors of local variables do not
    // run.
    exit(Compile(request));
  }
  return child > 0 && mlgo::WaitAndReport(socket, child);
}

bool CompileSeveral(int socket, const mlgo::Request &request,
                    const mlgo::Walls &walls) {
  int announcement[2];
  if (pipe2(announcement, O_CLOEXEC))
    return false;
  const pid_t child = mlgo::ForkInto(request, walls);
  if (child == 0) {
    close(announcement[0]);
    exit(mlgo::CompileFromDecisionPoint(request.arguments, socket,
                                        announcement[1], walls));
  }
  const bool good =
      child > 0 && mlgo::WaitAndReport(socket, child, mlgo::Event::kReleased,
                                       announcement[0]);
  close(announcement[0]);
  close(announcement[1]);
  return good;
}

void Serve(int socket, const mlgo::Walls &walls) {
  mlgo::Request request;
  while (mlgo::Receive(socket, &request) == mlgo::Received::kRequest) {
    switch (request.order) {
    case mlgo::Order::kCompile:
      if (!CompileOne(socket, request, walls))
        return;
      break;
    case mlgo::Order::kShare:
      if (!CompileSeveral(socket, request, walls))
        return;
      break;
    case mlgo::Order::kKill:
      break; // it has ended already
    case mlgo::Order::kFinish:
    case mlgo::Order::kRelease:
      return;
    }
  }
}

bool IsOpenDescriptor(llvm::StringRef word, int *descriptor) {
  return !word.getAsInteger(10, *descriptor) && *descriptor >= 0 &&
         fcntl(*descriptor, F_GETFD) >= 0;
}

} // namespace

int main(int argc, char **argv) {
  mlgo::Walls walls;
  int socket;
  if (argc < 2 || argc > 3 ||
      (argc == 3 && !mlgo::ParseWalls(argv[2], &walls)) ||
      !IsOpenDescriptor(argv[1], &socket)) {
    fputs("usage: compile_server DESCRIPTOR [all|none|landlock|filter]; "
          "DESCRIPTOR is the number of an open socket\n",
          stderr);
    return 2;
  }
  // As clang's main does before it parses its arguments.
  llvm::InitLLVM initialised(argc, argv);
  clang::noteBottomOfStack();
  llvm::setBugReportMsg("PLEASE submit a bug report to " BUG_REPORT_URL
                        " and include the crash backtrace.\n");
  if (llvm::sys::Process::FixupStandardFileDescriptors())
    return 1;
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  llvm::InitializeAllAsmParsers();
  // Once for all compiles, which inherit it: the server itself needs no more
  // than they.
  if (const char *failed = mlgo::ConfineCalls(walls, nullptr)) {
    perror(failed);
    return 1;
  }
  Serve(socket, walls);
  return 0;
}
