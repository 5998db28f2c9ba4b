// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BitcodeErrors.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/Archive.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"

using namespace llvm;

namespace {

/// Gets a file, or a member of an archive, of bitcode; true ends the search.
using Visitor = function_ref<bool(const Twine &Name, MemoryBufferRef Bitcode)>;

bool visitFile(StringRef Path, Visitor Visit) {
  const auto File = MemoryBuffer::getFile(Path);
  if (!File)
    return false;
  const MemoryBufferRef Content = **File;
  if (identify_magic(Content.getBuffer()) == file_magic::bitcode)
    return Visit(Path, Content);
  if (identify_magic(Content.getBuffer()) != file_magic::archive)
    return false;
  auto Archive = object::Archive::create(Content);
  if (!Archive) {
    consumeError(Archive.takeError());
    return false;
  }
  Error Failure = Error::success();
  bool IsFound = false;
  for (const object::Archive::Child &Child : (*Archive)->children(Failure)) {
    auto Member = Child.getMemoryBufferRef();
    if (!Member)
      consumeError(Member.takeError());
    else if (identify_magic(Member->getBuffer()) == file_magic::bitcode)
      IsFound =
          Visit(Path + "(" + Member->getBufferIdentifier() + ")", *Member);
    if (IsFound)
      break;
  }
  consumeError(std::move(Failure));
  return IsFound;
}

/// The bitcode of a link, in the order of its command line. Libraries are
/// looked for in the folders of -L.
void visitInputs(ArrayRef<const char *> Args, Visitor Visit) {
  BumpPtrAllocator Allocator;
  StringSaver Saver(Allocator);
  SmallVector<const char *, 64> Words(Args.drop_front());
  cl::ExpandResponseFiles(Saver, cl::TokenizeGNUCommandLine, Words);
  SmallVector<StringRef, 16> Folders;
  for (const char *Each : Words) {
    StringRef Word = Each ? Each : "";
    if (Word.consume_front("-L")) {
      Folders.push_back(Word);
    } else if (Word.consume_front("-l")) {
      for (StringRef Folder : Folders) {
        SmallString<256> Path(Folder);
        sys::path::append(Path, "lib" + Word + ".a");
        if (visitFile(Path, Visit))
          return;
      }
    } else if (!Word.starts_with("-") && visitFile(Word, Visit)) {
      return;
    }
  }
}

bool isReadable(MemoryBufferRef Bitcode) {
  LLVMContext Context;
  auto Modules = getBitcodeModuleList(Bitcode);
  if (!Modules) {
    consumeError(Modules.takeError());
    return false;
  }
  for (BitcodeModule &Each : *Modules) {
    auto Module = Each.getLazyModule(Context, /*ShouldLazyLoadMetadata=*/true,
                                     /*IsImporting=*/false);
    if (!Module) {
      consumeError(Module.takeError());
      return false;
    }
  }
  return true;
}

/// "NAME: ", or "" where no file of the command line is the one.
std::string unreadable(ArrayRef<const char *> Args) {
  std::string Found;
  visitInputs(Args, [&](const Twine &Name, MemoryBufferRef Bitcode) {
    if (!isReadable(Bitcode))
      Found = (Name + ": ").str();
    return !Found.empty();
  });
  return Found;
}

/// "A was compiled with -funified-lto and B was not: ", or "".
std::string differentKinds(ArrayRef<const char *> Args) {
  std::string Unified, Other;
  visitInputs(Args, [&](const Twine &Name, MemoryBufferRef Bitcode) {
    auto Information = getBitcodeLTOInfo(Bitcode);
    if (!Information) {
      consumeError(Information.takeError());
      return false;
    }
    std::string &Kind = Information->UnifiedLTO ? Unified : Other;
    if (Kind.empty())
      Kind = Name.str();
    return !Unified.empty() && !Other.empty();
  });
  if (Unified.empty() || Other.empty())
    return "";
  return Unified + " was compiled with -funified-lto and " + Other +
         " was not: ";
}

} // namespace

void mlgo::BitcodeErrors::write_impl(const char *Text, std::size_t Size) {
  StringRef Message(Text, Size);
  std::string About;
  StringRef Remedy;
  // Messages of LLVM 22: readIdentificationCode and error() of
  // BitcodeReader.cpp, addModule of LTO.cpp.
  if (Message.contains("Incompatible epoch: ") ||
      Message.contains(" (Producer: '")) {
    About = unreadable(Args);
    Remedy = "; compile it with the clang of this linker";
  } else if (Message.contains("unified LTO compilation must use compatible "
                              "bitcode modules")) {
    About = differentKinds(Args);
    Remedy = "; compile both in the same way";
  }
  const std::size_t End = Message.find("error: ");
  if (About.empty() || End == StringRef::npos) {
    OS << Message;
    return;
  }
  // The colour of "error: " ends behind it.
  std::size_t Begin = End + StringRef("error: ").size();
  if (Message.substr(Begin).starts_with("\033["))
    Begin = Message.find('m', Begin) + 1;
  OS << Message.substr(0, Begin) << About << Message.substr(Begin).rtrim('\n')
     << Remedy << '\n';
}
