// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OutlinedCode.h"

#include "ValueOr.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <iterator>
#include <optional>
#include <utility>
#include <vector>

using namespace llvm;
using namespace llvm::object;

namespace mlgo::search {
namespace {

/// Outlined function → function that calls it → number of calls.
using Calls = std::map<Place, std::map<Place, unsigned>>;

/// Of each branch that the assembler resolved: offset in the code, distance.
using Branch = function_ref<void(uint64_t Offset, int64_t Distance)>;

void branchesOfAArch64(StringRef Code, Branch Found) {
  for (uint64_t At = 0; At + 4 <= Code.size(); At += 4) {
    const uint32_t Word = support::endian::read32le(Code.data() + At);
    // B and BL.
    if ((Word & 0x7C000000) == 0x14000000)
      Found(At, SignExtend64<26>(Word) * 4);
  }
}

/// B and BL without a condition.
void branchesOfThumb(StringRef Code, endianness Order, Branch Found) {
  const auto Half = [&](uint64_t At) {
    return support::endian::read16(Code.data() + At, Order);
  };
  for (uint64_t At = 0; At + 2 <= Code.size();) {
    const uint64_t First = Half(At);
    const bool IsWide = First >> 11 > 0b11100 && At + 4 <= Code.size();
    if (First >> 11 == 0b11100)
      Found(At, 4 + SignExtend64<11>(First) * 2);
    else if (IsWide && First >> 11 == 0b11110 &&
             (Half(At + 2) & 0x9000) == 0x9000) {
      const uint64_t Second = Half(At + 2), Sign = First >> 10 & 1;
      // The two bits below the sign are stored as "equal to the sign".
      const uint64_t High = Sign ^ (Second >> 13 & 1) ^ 1;
      const uint64_t Low = Sign ^ (Second >> 11 & 1) ^ 1;
      Found(At,
            4 + 2 * SignExtend64<24>(Sign << 23 | High << 22 | Low << 21 |
                                     (First & 0x3FF) << 11 | (Second & 0x7FF)));
    }
    At += IsWide ? 4 : 2;
  }
}

/// Pairs of AUIPC and JALR.
void branchesOfRISCV(StringRef Code, Branch Found) {
  for (uint64_t At = 0; At + 8 <= Code.size();) {
    const uint32_t High = support::endian::read32le(Code.data() + At);
    const uint32_t Low = support::endian::read32le(Code.data() + At + 4);
    const uint32_t Register = High >> 7 & 31;
    if ((High & 0x7F) == 0x17 && (Low & 0x707F) == 0x67 &&
        (Low >> 15 & 31) == Register)
      Found(At,
            SignExtend64<32>(High & 0xFFFFF000) + SignExtend64<12>(Low >> 20));
    At += (High & 3) == 3 ? 4 : 2;
  }
}

class CallFinder {
public:
  CallFinder(const BytesByPlace &Bytes, const std::set<Place> &Outlined,
             const ELFObjectFileBase &Object)
      : Bytes(Bytes), Outlined(Outlined), Object(Object) {}

  Calls run() {
    for (const SectionRef &Section : Object.sections())
      inRelocations(Section);
    for (const SectionRef &Section : Object.sections())
      inCode(Section);
    return std::move(Found);
  }

private:
  void inRelocations(const SectionRef &Table) {
    const section_iterator Of =
        valueOr(Table.getRelocatedSection(), Object.section_end());
    if (Of == Object.section_end() || !Of->isText())
      return;
    for (const RelocationRef &One : Table.relocations())
      if (const std::optional<Place> Target = targetOf(One))
        add({Of->getIndex(), One.getOffset()}, *Target);
  }

  std::optional<Place> targetOf(const RelocationRef &One) const {
    const symbol_iterator Symbol = One.getSymbol();
    if (Symbol == Object.symbol_end())
      return std::nullopt;
    const section_iterator Section =
        valueOr(Symbol->getSection(), Object.section_end());
    if (Section == Object.section_end())
      return std::nullopt;
    Place Target = {Section->getIndex(),
                    valueOr(Symbol->getAddress(), uint64_t(0))};
    // Those of AArch64 name the section of a local function.
    if (ELFSymbolRef(*Symbol).getELFType() == ELF::STT_SECTION)
      Target.second += valueOr(ELFRelocationRef(One).getAddend(), int64_t(0));
    return Target;
  }

  /// Without -ffunction-sections the assembler knows how far a call goes, and
  /// writes no relocation; on RISC-V with -mno-relax.
  void inCode(const SectionRef &Section) {
    const uint64_t Index = Section.getIndex();
    const auto First = Outlined.lower_bound({Index, 0});
    if (First == Outlined.end() || First->first != Index)
      return;
    const StringRef Content = valueOr(Section.getContents(), StringRef());
    for (auto At = Bytes.lower_bound({Index, 0});
         At != Bytes.end() && At->first.first == Index; ++At) {
      const uint64_t Start = At->first.second;
      const StringRef Code = Content.substr(Start, uint64_t(At->second));
      const auto Add = [&](uint64_t Offset, int64_t Distance) {
        add({Index, Start + Offset}, {Index, Start + Offset + Distance});
      };
      if (Object.getEMachine() == ELF::EM_AARCH64)
        branchesOfAArch64(Code, Add);
      else if (Object.getEMachine() == ELF::EM_RISCV)
        branchesOfRISCV(Code, Add);
      else if (Object.getEMachine() == ELF::EM_ARM)
        branchesOfThumb(Code,
                        Object.isLittleEndian() ? endianness::little
                                                : endianness::big,
                        Add);
    }
  }

  void add(const Place &From, const Place &Target) {
    if (!Outlined.count(Target))
      return;
    const auto Next = Bytes.upper_bound(From);
    if (Next == Bytes.begin())
      return;
    const auto &[Caller, Size] = *std::prev(Next);
    if (Caller.first == From.first && From.second < Caller.second + Size &&
        Caller != Target)
      ++Found[Target][Caller];
  }

  const BytesByPlace &Bytes;
  const std::set<Place> &Outlined;
  const ELFObjectFileBase &Object;
  Calls Found;
};

} // namespace

bool isOutlined(StringRef Name) {
  return Name.consume_front("OUTLINED_FUNCTION_") && !Name.empty() &&
         isDigit(Name.front());
}

void chargeOutlined(BytesByPlace &Bytes, const std::set<Place> &Outlined,
                    const ELFObjectFileBase &Object) {
  const Calls Found = CallFinder(Bytes, Outlined, Object).run();
  // A later run of the outliner takes code out of what an earlier one made: the
  // inner one is charged first. Calls in a circle are no compiler's, and are
  // never ready.
  std::map<Place, unsigned> Inner;
  std::vector<Place> Ready;
  for (const auto &[_, Callers] : Found)
    for (const auto &[Caller, _] : Callers)
      ++Inner[Caller];
  for (const auto &[At, _] : Found)
    if (!Inner.count(At))
      Ready.push_back(At);
  while (!Ready.empty()) {
    const Place At = Ready.back();
    Ready.pop_back();
    const double Size = std::exchange(Bytes[At], 0);
    unsigned Total = 0;
    for (const auto &[_, Count] : Found.at(At))
      Total += Count;
    for (const auto &[Caller, Count] : Found.at(At)) {
      Bytes[Caller] += Size * Count / Total;
      if (--Inner[Caller] == 0 && Found.count(Caller))
        Ready.push_back(Caller);
    }
  }
}

} // namespace mlgo::search
