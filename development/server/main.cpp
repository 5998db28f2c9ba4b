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
extern int cc1_main(llvm::ArrayRef<const char *> Arguments, const char *Program,
                    void *MainAddress);

namespace {

int compile(const mlgo::Request &Asked) {
  std::vector<const char *> Arguments;
  for (size_t I = 1; I < Asked.Arguments.size(); ++I)
    Arguments.push_back(Asked.Arguments[I].c_str());
  return cc1_main(Arguments, Asked.Arguments[0].c_str(),
                  reinterpret_cast<void *>(&compile));
}

/// Returns false if the client is gone.
bool compileOne(int Socket, const mlgo::Request &Asked,
                const mlgo::Sandbox &Walls) {
  const pid_t Child = mlgo::forkInto(Asked, Walls);
  if (Child == 0) {
    close(Socket);
    // As after main: buffers are flushed, destructors of local variables do not
    // run.
    exit(compile(Asked));
  }
  return Child > 0 && mlgo::waitAndReport(Socket, Child);
}

bool compileSeveral(int Socket, const mlgo::Request &Asked,
                    const mlgo::Sandbox &Walls) {
  int Announcement[2];
  if (pipe2(Announcement, O_CLOEXEC))
    return false;
  const pid_t Child = mlgo::forkInto(Asked, Walls);
  if (Child == 0) {
    close(Announcement[0]);
    exit(mlgo::compileFromDecisionPoint(Asked.Arguments, Socket,
                                        Announcement[1], Walls));
  }
  const bool Good = Child > 0 && mlgo::waitAndReport(Socket, Child,
                                                     mlgo::AnswerKind::Released,
                                                     Announcement[0]);
  close(Announcement[0]);
  close(Announcement[1]);
  return Good;
}

void serve(int Socket, const mlgo::Sandbox &Walls) {
  mlgo::Request Asked;
  while (mlgo::receive(Socket, &Asked) == mlgo::Received::Request) {
    switch (Asked.Kind) {
    case mlgo::RequestKind::Compile:
      if (!compileOne(Socket, Asked, Walls))
        return;
      break;
    case mlgo::RequestKind::Share:
      if (!compileSeveral(Socket, Asked, Walls))
        return;
      break;
    case mlgo::RequestKind::Kill:
      break; // it has ended already
    case mlgo::RequestKind::Finish:
    case mlgo::RequestKind::Release:
      return;
    }
  }
}

bool isOpenDescriptor(llvm::StringRef Word, int *Descriptor) {
  return !Word.getAsInteger(10, *Descriptor) && *Descriptor >= 0 &&
         fcntl(*Descriptor, F_GETFD) >= 0;
}

} // namespace

int main(int argc, char **argv) {
  mlgo::Sandbox Walls;
  int Socket;
  if (argc < 2 || argc > 3 ||
      (argc == 3 && !mlgo::parseWalls(argv[2], &Walls)) ||
      !isOpenDescriptor(argv[1], &Socket)) {
    fputs("usage: compile_server DESCRIPTOR [all|none|landlock|filter]; "
          "DESCRIPTOR is the number of an open socket\n",
          stderr);
    return 2;
  }
  // As clang's main does before it parses its arguments.
  llvm::InitLLVM Initialised(argc, argv);
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
  if (const char *Failed = mlgo::confineCalls(Walls, nullptr)) {
    perror(Failed);
    return 1;
  }
  serve(Socket, Walls);
  return 0;
}
