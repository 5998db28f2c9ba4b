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
  DecisionPoint(int socket, int announcement, const Walls &walls)
      : socket_(socket), announcement_(announcement), walls_(walls) {}

  /// Returns in children only, or immediately if the point was reached before.
  void Reach() {
    if (reached_)
      return;
    reached_ = true;
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const Answer ready = {Event::kReady, 0, CpuMicroseconds(usage),
                          usage.ru_maxrss};
    if (write(announcement_, "", 1) != 1 || !Send(socket_, ready))
      _exit(1);
    // A child's CPU clock starts at 0 although it continues work that was
    // begun.
    const uint64_t used =
        static_cast<uint64_t>(ready.cpu_microseconds / 1000000);
    Request request;
    while (Receive(socket_, &request) == Received::kRequest &&
           request.order == Order::kFinish) {
      const std::string object = request.arguments.front();
      request.limits.cpu_seconds = request.limits.cpu_seconds > used
                                       ? request.limits.cpu_seconds - used
                                       : 1;
      const pid_t child = ForkInto(request, walls_);
      if (child == 0) {
        close(socket_);
        close(announcement_);
        Redirect(object);
        return;
      }
      if (child < 0 || !WaitAndReport(socket_, child))
        break;
    }
    _exit(0);
  }

private:
  /// Nothing has been written to stdout before the first decision.
  static void Redirect(const std::string &object) {
    const int file = open(object.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || dup2(file, STDOUT_FILENO) < 0)
      _exit(1);
    close(file);
  }

  const int socket_;
  const int announcement_;
  const Walls walls_;
  bool reached_ = false;
};

/// Register allocation and all passes that prepare it run function after
/// function. This pass runs on the module, so LLVM prepares all functions
/// before it.
class BeforeAllocation : public llvm::ModulePass {
public:
  static char ID;

  explicit BeforeAllocation(DecisionPoint *point)
      : ModulePass(ID), point_(point) {}

  llvm::StringRef getPassName() const override {
    return "Before register allocation";
  }

  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.addRequired<llvm::RegAllocEvictionAdvisorAnalysisLegacy>();
    usage.addRequired<llvm::RegAllocPriorityAdvisorAnalysisLegacy>();
    usage.setPreservesAll();
  }

  bool runOnModule(llvm::Module &module) override {
    point_->Reach();
    // They have opened the model and the log in the directory in which they
    // were created.
    getAnalysis<llvm::RegAllocEvictionAdvisorAnalysisLegacy>().doInitialization(
        module);
    getAnalysis<llvm::RegAllocPriorityAdvisorAnalysisLegacy>().doInitialization(
        module);
    return false;
  }

private:
  DecisionPoint *const point_;
};

char BeforeAllocation::ID = 0;

/// Ends a compile of which only the log is requested after all functions are
/// allocated and scored: the remaining work would take as long as the work
/// since the decision point.
class AfterAllocation : public llvm::ModulePass {
public:
  static char ID;

  explicit AfterAllocation(clang::CompilerInstance *compiler)
      : ModulePass(ID), compiler_(compiler) {}

  llvm::StringRef getPassName() const override {
    return "After register allocation";
  }

  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.addRequired<llvm::RegAllocEvictionAdvisorAnalysisLegacy>();
    usage.addRequired<llvm::RegAllocPriorityAdvisorAnalysisLegacy>();
    usage.setPreservesAll();
  }

  bool runOnModule(llvm::Module &) override {
    // Logs are complete when they are closed.
    Closing<llvm::RegAllocEvictionAdvisorAnalysisLegacy>::Close(
        getAnalysis<llvm::RegAllocEvictionAdvisorAnalysisLegacy>());
    Closing<llvm::RegAllocPriorityAdvisorAnalysisLegacy>::Close(
        getAnalysis<llvm::RegAllocPriorityAdvisorAnalysisLegacy>());
    compiler_->getDiagnosticClient().finish();
    _exit(compiler_->getDiagnostics().hasErrorOccurred() ? 1 : 0);
  }

private:
  template <typename Analysis> struct Closing : Analysis {
    static void Close(Analysis &analysis) {
      (analysis.*(&Closing::Provider)).reset();
    }
  };

  clang::CompilerInstance *const compiler_;
};

char AfterAllocation::ID = 0;

/// Reports an error of the backend and ends, as cc1 does.
void Fatal(void *diagnostics, const char *message, bool crash) {
  static_cast<clang::DiagnosticsEngine *>(diagnostics)
          ->Report(clang::diag::err_fe_error_backend)
      << message;
  llvm::sys::RunInterruptHandlers();
  llvm::sys::Process::Exit(crash ? 70 : 1);
}

bool Asks(const std::vector<std::string> &arguments, llvm::StringRef advisor) {
  for (const std::string &argument : arguments)
    if (llvm::StringRef(argument).ltrim('-').starts_with(advisor))
      return true;
  return false;
}

/// The first use of the advisor that the arguments select.
void Watch(const std::vector<std::string> &arguments,
           clang::CompilerInstance &compiler, DecisionPoint *point) {
  if (Asks(arguments, "enable-ml-inliner=")) {
    compiler.getCodeGenOpts().PassBuilderCallbacks.push_back(
        [point](llvm::PassBuilder &builder) {
          builder.getPassInstrumentationCallbacks()
              ->registerBeforeNonSkippedPassCallback(
                  [point](llvm::StringRef pass, llvm::Any) {
                    if (pass == "ModuleInlinerWrapperPass")
                      point->Reach();
                  });
        });
  } else if (Asks(arguments, "regalloc-enable-advisor=") ||
             Asks(arguments, "regalloc-enable-priority-advisor=")) {
    static const llvm::RegisterTargetPassConfigCallback callback(
        [&compiler, point](llvm::TargetMachine &,
                           llvm::legacy::PassManagerBase &,
                           llvm::TargetPassConfig *passes) {
          passes->insertPass(&llvm::UnreachableMachineBlockElimID,
                             new BeforeAllocation(point));
          if (compiler.getFrontendOpts().OutputFile != "-") {
            const std::unique_ptr<llvm::Pass> scoring(
                llvm::createRegAllocScoringPass());
            passes->insertPass(scoring->getPassID(),
                               new AfterAllocation(&compiler));
          }
        });
  }
}

} // namespace

int CompileFromDecisionPoint(const std::vector<std::string> &arguments,
                             int socket, int announcement, const Walls &walls) {
  DecisionPoint point(socket, announcement, walls);
  // A file that can be rewound, as its replacement.
  const int nowhere = memfd_create("object", MFD_CLOEXEC);
  if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
    return 1;

  std::vector<const char *> words;
  for (size_t i = 1; i < arguments.size(); ++i)
    words.push_back(arguments[i].c_str());
  clang::DiagnosticOptions options;
  auto *buffer = new clang::TextDiagnosticBuffer;
  clang::DiagnosticsEngine parsing(clang::DiagnosticIDs::create(), options,
                                   buffer);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, words, parsing,
                                                 arguments[0].c_str()))
    return 1;
  auto compiler =
      std::make_unique<clang::CompilerInstance>(std::move(invocation));
  compiler->createVirtualFileSystem(llvm::vfs::getRealFileSystem(), buffer);
  compiler->createDiagnostics();
  llvm::install_fatal_error_handler(Fatal, &compiler->getDiagnostics());
  buffer->FlushDiagnostics(compiler->getDiagnostics());
  Watch(arguments, *compiler, &point);
  const bool good = clang::ExecuteCompilerInvocation(compiler.get());
  llvm::remove_fatal_error_handler();
  llvm::BuryPointer(std::move(compiler));
  return good ? 0 : 1;
}

} // namespace mlgo
