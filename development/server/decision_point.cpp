// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "development/server/decision_point.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <memory>

#include "development/server/child.h"
#include "development/server/protocol.h"

#include "clang/Basic/DiagnosticFrontend.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/TextDiagnosticBuffer.h"
#include "clang/FrontendTool/Utils.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/RegAllocEvictionAdvisor.h"
#include "llvm/CodeGen/RegAllocPriorityAdvisor.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/BuryPointer.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"

namespace mlgo {
namespace {

/// The point at which a compile stops and forks. It is reached once.
class DecisionPoint {
public:
  DecisionPoint(int Socket, int Announcement, const Sandbox &Walls)
      : Socket(Socket), Announcement(Announcement), Walls(Walls) {}

  /// Returns in children only, or immediately if the point was reached before.
  void reach() {
    if (Reached)
      return;
    Reached = true;
    rusage Usage;
    getrusage(RUSAGE_SELF, &Usage);
    const Answer Ready = {AnswerKind::Ready, 0, cpuMicroseconds(Usage),
                          Usage.ru_maxrss};
    if (write(Announcement, "", 1) != 1 || !send(Socket, Ready))
      _exit(1);
    // A child's CPU clock starts at 0 although it continues work that was
    // begun.
    const uint64_t Used =
        static_cast<uint64_t>(Ready.CpuMicroseconds / 1000000);
    Request Asked;
    while (receive(Socket, &Asked) == Received::Request &&
           Asked.Kind == RequestKind::Finish) {
      const std::string Object = Asked.Arguments.front();
      Asked.Limits.CpuSeconds =
          Asked.Limits.CpuSeconds > Used ? Asked.Limits.CpuSeconds - Used : 1;
      const pid_t Child = forkInto(Asked, Walls);
      if (Child == 0) {
        close(Socket);
        close(Announcement);
        redirect(Object);
        return;
      }
      if (Child < 0 || !waitAndReport(Socket, Child))
        break;
    }
    _exit(0);
  }

private:
  /// Nothing has been written to stdout before the first decision.
  static void redirect(const std::string &Object) {
    const int File = open(Object.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (File < 0 || dup2(File, STDOUT_FILENO) < 0)
      _exit(1);
    close(File);
  }

  const int Socket;
  const int Announcement;
  const Sandbox Walls;
  bool Reached = false;
};

/// Register allocation and all passes that prepare it run function after
/// function. This pass runs on the module, so LLVM prepares all functions
/// before it.
class BeforeAllocation : public llvm::ModulePass {
public:
  static char ID;

  explicit BeforeAllocation(DecisionPoint *Point)
      : ModulePass(ID), Point(Point) {}

  llvm::StringRef getPassName() const override {
    return "Before register allocation";
  }

  void getAnalysisUsage(llvm::AnalysisUsage &Usage) const override {
    Usage.addRequired<llvm::RegAllocEvictionAdvisorAnalysisLegacy>();
    Usage.addRequired<llvm::RegAllocPriorityAdvisorAnalysisLegacy>();
    Usage.setPreservesAll();
  }

  bool runOnModule(llvm::Module &M) override {
    Point->reach();
    // They have opened the model and the log in the directory in which they
    // were created.
    getAnalysis<llvm::RegAllocEvictionAdvisorAnalysisLegacy>().doInitialization(
        M);
    getAnalysis<llvm::RegAllocPriorityAdvisorAnalysisLegacy>().doInitialization(
        M);
    return false;
  }

private:
  DecisionPoint *const Point;
};

char BeforeAllocation::ID = 0;

/// Ends a compile of which only the log is requested after all functions are
/// allocated and scored: the remaining work would take as long as the work
/// since the decision point.
class AfterAllocation : public llvm::ModulePass {
public:
  static char ID;

  explicit AfterAllocation(clang::CompilerInstance *Compiler)
      : ModulePass(ID), Compiler(Compiler) {}

  llvm::StringRef getPassName() const override {
    return "After register allocation";
  }

  void getAnalysisUsage(llvm::AnalysisUsage &Usage) const override {
    Usage.addRequired<llvm::RegAllocEvictionAdvisorAnalysisLegacy>();
    Usage.addRequired<llvm::RegAllocPriorityAdvisorAnalysisLegacy>();
    Usage.setPreservesAll();
  }

  bool runOnModule(llvm::Module &) override {
    // Logs are complete when they are closed.
    Closing<llvm::RegAllocEvictionAdvisorAnalysisLegacy>::close(
        getAnalysis<llvm::RegAllocEvictionAdvisorAnalysisLegacy>());
    Closing<llvm::RegAllocPriorityAdvisorAnalysisLegacy>::close(
        getAnalysis<llvm::RegAllocPriorityAdvisorAnalysisLegacy>());
#if LLVM_VERSION_MAJOR >= 23
    // The client writes what is left when it is destroyed.
    Compiler->getDiagnostics().setClient(nullptr, /*ShouldOwnClient=*/false);
#else
    Compiler->getDiagnosticClient().finish();
#endif
    _exit(Compiler->getDiagnostics().hasErrorOccurred() ? 1 : 0);
  }

private:
  template <typename Analysis> struct Closing : Analysis {
    static void close(Analysis &Of) { (Of.*(&Closing::Provider)).reset(); }
  };

  clang::CompilerInstance *const Compiler;
};

char AfterAllocation::ID = 0;

/// Reports an error of the backend and ends, as cc1 does.
void fatal(void *Diagnostics, const char *Message, bool Crash) {
  static_cast<clang::DiagnosticsEngine *>(Diagnostics)
          ->Report(clang::diag::err_fe_error_backend)
      << Message;
  llvm::sys::RunInterruptHandlers();
  llvm::sys::Process::Exit(Crash ? 70 : 1);
}

bool asks(const std::vector<std::string> &Arguments, llvm::StringRef Advisor) {
  for (const std::string &Argument : Arguments)
    if (llvm::StringRef(Argument).ltrim('-').starts_with(Advisor))
      return true;
  return false;
}

/// The first use of the advisor that the arguments select.
void watch(const std::vector<std::string> &Arguments,
           clang::CompilerInstance &Compiler, DecisionPoint *Point) {
  if (asks(Arguments, "enable-ml-inliner=")) {
    Compiler.getCodeGenOpts().PassBuilderCallbacks.push_back(
        [Point](llvm::PassBuilder &Builder) {
          Builder.getPassInstrumentationCallbacks()
              ->registerBeforeNonSkippedPassCallback(
                  [Point](llvm::StringRef Pass, llvm::Any) {
                    if (Pass == "ModuleInlinerWrapperPass")
                      Point->reach();
                  });
        });
  } else if (asks(Arguments, "regalloc-enable-advisor=") ||
             asks(Arguments, "regalloc-enable-priority-advisor=")) {
    static const llvm::RegisterTargetPassConfigCallback Callback(
        [&Compiler, Point](llvm::TargetMachine &,
                           llvm::legacy::PassManagerBase &,
                           llvm::TargetPassConfig *Passes) {
          Passes->insertPass(&llvm::UnreachableMachineBlockElimID,
                             new BeforeAllocation(Point));
          if (Compiler.getFrontendOpts().OutputFile != "-") {
            const std::unique_ptr<llvm::Pass> Scoring(
                llvm::createRegAllocScoringPass());
            Passes->insertPass(Scoring->getPassID(),
                               new AfterAllocation(&Compiler));
          }
        });
  }
}

} // namespace

int compileFromDecisionPoint(const std::vector<std::string> &Arguments,
                             int Socket, int Announcement,
                             const Sandbox &Walls) {
  DecisionPoint Point(Socket, Announcement, Walls);
  // A file that can be rewound, as its replacement.
  const int Nowhere = memfd_create("object", MFD_CLOEXEC);
  if (Nowhere < 0 || dup2(Nowhere, STDOUT_FILENO) < 0)
    return 1;

  std::vector<const char *> Words;
  for (size_t I = 1; I < Arguments.size(); ++I)
    Words.push_back(Arguments[I].c_str());
  clang::DiagnosticOptions Options;
  auto *Buffer = new clang::TextDiagnosticBuffer;
  clang::DiagnosticsEngine Parsing(clang::DiagnosticIDs::create(), Options,
                                   Buffer);
  auto Invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*Invocation, Words, Parsing,
                                                 Arguments[0].c_str()))
    return 1;
  auto Compiler =
      std::make_unique<clang::CompilerInstance>(std::move(Invocation));
  Compiler->createVirtualFileSystem(llvm::vfs::getRealFileSystem(), Buffer);
  Compiler->createDiagnostics();
  llvm::install_fatal_error_handler(fatal, &Compiler->getDiagnostics());
  Buffer->FlushDiagnostics(Compiler->getDiagnostics());
  watch(Arguments, *Compiler, &Point);
  const bool Good = clang::ExecuteCompilerInvocation(Compiler.get());
  llvm::remove_fatal_error_handler();
  llvm::BuryPointer(std::move(Compiler));
  return Good ? 0 : 1;
}

} // namespace mlgo
