// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// clang's driver. With -flto, LLVM's gives -mllvm to compiles alone, and most
/// of the decisions are taken in the link. And it does not know that an option
/// after -mllvm names a file on which the object depends.

#include "EmbeddedModel.h"

#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/DiagnosticDriver.h"
#include "clang/Basic/SourceLocation.h"
#include "clang/Driver/Compilation.h"
#include "clang/Driver/Driver.h"
#include "clang/Driver/Job.h"
#include "clang/Driver/Tool.h"
#include "clang/Driver/ToolChain.h"
#include "clang/Options/Options.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <utility>

using namespace clang;
using namespace clang::driver;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

/// clang's driver calls this for the compilation that it would make itself
/// (clang_version_names_policies.patch).
Compilation *mlgoBuildCompilation(Driver &TheDriver,
                                  ArrayRef<const char *> Args);

namespace {

using Words = SmallVector<const char *, 256>;

/// "enable-ml-inliner" of "-enable-ml-inliner=release".
StringRef nameOf(StringRef Option) {
  return Option.ltrim('-').split('=').first;
}

bool concernsPolicies(StringRef Option) {
  static const StringRef Switches[] = {
#define POLICY_SLOT(Slot, Problem, Name, AdvisorFlag, SelectorFlag,            \
                    ChannelFlag, Functions, Measured)                          \
  AdvisorFlag, SelectorFlag,
#include "PolicySlots.def"
#undef POLICY_SLOT
      "-mlregalloc-max-eviction-count",
      "-regalloc-csr-first-time-cost",
      "-mlgo-callee-saved-cost",
      "-mlgo-callee-saved-longest-call",
      "-mlgo-decisions",
      "-mlgo-policy-with-profile",
      "-mlgo-warn-unmeasured",
  };
  return llvm::any_of(Switches, [&](StringRef Switch) {
    return nameOf(Switch) == nameOf(Option);
  });
}

/// Whether the option names a file of decisions to write. The link would
/// overwrite the compile's file.
bool writesDecisions(StringRef Option) {
  return nameOf(Option) == "mlgo-decisions-taken" ||
         nameOf(Option) == "mlgo-decisions-replay";
}

/// The command line in which a link of objects does not count these options as
/// unused: it passes them on, or warns itself.
Words withoutUnusedSwitches(ArrayRef<const char *> Args) {
  Words Result;
  bool IsSilent = false;
  for (size_t I = 0; I < Args.size(); ++I) {
    // A null ends a line of a response file.
    const StringRef Word = Args[I] ? Args[I] : "";
    if (Word == "--start-no-unused-arguments" ||
        Word == "--end-no-unused-arguments")
      IsSilent = Word == "--start-no-unused-arguments";
    const bool HasValue =
        Word == "-mllvm" && I + 1 < Args.size() && Args[I + 1];
    StringRef Option = HasValue ? StringRef(Args[I + 1]) : Word;
    if (IsSilent || !(HasValue || Option.consume_front("-mllvm=")) ||
        !(concernsPolicies(Option) || writesDecisions(Option))) {
      Result.push_back(Args[I]);
      continue;
    }
    Result.push_back("--start-no-unused-arguments");
    Result.push_back(Args[I]);
    if (HasValue)
      Result.push_back(Args[++I]);
    Result.push_back("--end-no-unused-arguments");
  }
  return Result;
}

/// The linker of this program's own tree, or "".
std::string ownLinker(const Driver &TheDriver) {
  llvm::SmallString<256> Path(TheDriver.Dir);
  llvm::sys::path::append(Path, "ld.lld");
  return llvm::sys::fs::can_execute(Path) ? std::string(Path) : "";
}

bool choosesLinker(const Compilation &C) {
  return C.getArgs().hasArg(options::OPT_fuse_ld_EQ, options::OPT_ld_path_EQ);
}

/// Warns in the group -Wunused-command-line-argument, of which a user can make
/// an error, or nothing.
void warn(Compilation &C, StringRef Switch, const llvm::Twine &Why) {
  DiagnosticsEngine &Diags = C.getDriver().getDiags();
  // -W options do not reach a warning that LLVM's tables do not have.
  const DiagnosticsEngine::Level Level = Diags.getDiagnosticLevel(
      diag::warn_drv_unused_argument, SourceLocation());
  if (Level == DiagnosticsEngine::Ignored)
    return;
  const bool IsError = Level >= DiagnosticsEngine::Error;
  const unsigned Sentence = Diags.getCustomDiagID(
      IsError ? DiagnosticsEngine::Error : DiagnosticsEngine::Warning,
      "-mllvm %0 has no effect in this link with -flto: "
      "%1 [%2-Wunused-command-line-argument]");
  Diags.Report(Sentence) << Switch << Why.str() << (IsError ? "-Werror," : "");
  if (IsError)
    C.setContainsError();
}

/// An option that the user gave to the linker stands.
bool isGiven(const llvm::opt::ArgStringList &Arguments, StringRef Switch) {
  return llvm::any_of(Arguments, [&](StringRef Argument) {
    Argument.consume_front("-mllvm=") || Argument.consume_front("--mllvm=") ||
        Argument.consume_front("-plugin-opt=") ||
        Argument.consume_front("--plugin-opt=");
    return Argument.starts_with("-") && nameOf(Argument) == nameOf(Switch);
  });
}

void passOn(Compilation &C, Command &Link, ArrayRef<StringRef> Switches) {
  llvm::opt::ArgStringList Arguments = Link.getArguments();
  const std::string Own = ownLinker(C.getDriver());
  // The machine's default linker would need a plug-in of this LLVM, which no
  // tree of ours has.
  if (!Own.empty() && !choosesLinker(C) &&
      C.getDefaultToolChain().getTriple().isOSBinFormatELF())
    Link.replaceExecutable(C.getArgs().MakeArgString(Own));
  const bool IsOwn =
      !Own.empty() && llvm::sys::fs::equivalent(Link.getExecutable(), Own);
  for (StringRef Switch : Switches) {
    if (isGiven(Arguments, Switch))
      continue;
    if (writesDecisions(Switch)) {
      warn(C, Switch,
           "it would overwrite the file of the compile. Name another file for "
           "it with -Wl,-mllvm,-" +
               nameOf(Switch) + "=FILE");
      continue;
    }
    if (!IsOwn) {
      warn(C, Switch,
           llvm::Twine(Link.getExecutable()) +
               " is not the linker of this clang. Link with -fuse-ld=lld, or "
               "remove the option");
      continue;
    }
    Arguments.push_back("-mllvm");
    Arguments.push_back(C.getArgs().MakeArgString(Switch));
  }
  Link.replaceArguments(std::move(Arguments));
}

/// Options whose value is a file that a compile reads.
constexpr StringRef ReadingOptions[] = {"mlgo-decisions", "ir2vec-vocab-path",
                                        "cgscc-inline-replay"};

/// The files that the options after -mllvm name, in the order of the command.
SmallVector<StringRef, 2> filesReadBy(const Command &Job) {
  SmallVector<StringRef, 2> Files;
  StringRef Pending;
  const llvm::opt::ArgStringList &Words = Job.getArguments();
  for (size_t I = 0; I + 1 < Words.size(); ++I) {
    if (StringRef(Words[I]) != "-mllvm")
      continue;
    const StringRef Option = Words[++I];
    // The value may be a word of its own.
    if (!std::exchange(Pending, "").empty()) {
      Files.push_back(Option);
      continue;
    }
    if (!llvm::is_contained(ReadingOptions, nameOf(Option)))
      continue;
    if (Option.contains('='))
      Files.push_back(Option.split('=').second);
    else
      Pending = Option;
  }
  return Files;
}

/// As -fprofile-list does. Build systems compile again what depends on a file
/// that changed.
void nameInDepfile(Compilation &C, Command &Job) {
  llvm::opt::ArgStringList Arguments = Job.getArguments();
  if (Arguments.empty() || StringRef(Arguments.front()) != "-cc1" ||
      !llvm::any_of(Arguments,
                    [](StringRef Word) { return Word == "-dependency-file"; }))
    return;
  const SmallVector<StringRef, 2> Files = filesReadBy(Job);
  for (StringRef File : Files)
    Arguments.push_back(C.getArgs().MakeArgString("-fdepfile-entry=" + File));
  if (!Files.empty())
    Job.replaceArguments(std::move(Arguments));
}

SmallVector<StringRef, 4> switchesOf(const Compilation &C) {
  SmallVector<StringRef, 4> Result;
  for (const std::string &Option :
       C.getArgs().getAllArgValues(options::OPT_mllvm))
    if (concernsPolicies(Option) || writesDecisions(Option))
      Result.push_back(C.getArgs().MakeArgString(Option));
  return Result;
}

} // namespace

Compilation *mlgoBuildCompilation(Driver &TheDriver,
                                  ArrayRef<const char *> Args) {
  const auto IsLto = [](const char *Arg) {
    return Arg && StringRef(Arg).starts_with("-flto");
  };
  Compilation *const C = TheDriver.BuildCompilation(
      llvm::any_of(Args, IsLto) ? withoutUnusedSwitches(Args)
                                : Words(Args.begin(), Args.end()));
  if (!C || C->containsError())
    return C;
  for (Command &Job : C->getJobs())
    nameInDepfile(*C, Job);
#if LLVM_VERSION_MAJOR >= 23
  if (!C->getDefaultToolChain().isUsingLTO(C->getArgs()))
    return C;
#else
  if (!TheDriver.isUsingLTO())
    return C;
#endif
  const SmallVector<StringRef, 4> Switches = switchesOf(*C);
  if (Switches.empty())
    return C;
  for (Command &Job : C->getJobs())
    if (Job.getSource().getKind() == Action::LinkJobClass &&
        &Job.getCreator().getToolChain() == &C->getDefaultToolChain())
      passOn(*C, Job, Switches);
  return C;
}
