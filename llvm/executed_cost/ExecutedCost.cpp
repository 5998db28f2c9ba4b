// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ExecutedCost.h"

#include "llvm/CodeGen/MachineBasicBlock.h"
#include "llvm/CodeGen/MachineBlockFrequencyInfo.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Function.h"

using namespace llvm;

mlgo::ExecutedCost mlgo::executedCost(const MachineFunction &MF,
                                      const MachineBlockFrequencyInfo &MBFI) {
  ExecutedCost Cost;
  const TargetInstrInfo &Target = *MF.getSubtarget().getInstrInfo();
  for (const MachineBasicBlock &Block : MF) {
    const double Frequency = MBFI.getBlockFreqRelativeToEntryBlock(&Block);
    for (const MachineInstr &Instruction : Block) {
      // The frames of calls are set up later, most of them once by the
      // prologue.
      if (Instruction.isMetaInstruction() || Target.isFrameInstr(Instruction))
        continue;
      Cost.Instructions += Frequency;
      // What a call may load and store is not known here, and no allocation
      // changes it.
      if (!Instruction.isCall())
        Cost.MemoryReferences +=
            Frequency * (Instruction.mayLoad() + Instruction.mayStore());
    }
  }
  const MachineRegisterInfo &Registers = MF.getRegInfo();
  if (const MCPhysReg *Saved = Registers.getCalleeSavedRegs())
    for (; *Saved; ++Saved)
      Cost.CalleeSavedRegisters += Registers.isPhysRegModified(*Saved);
  return Cost;
}

std::optional<uint64_t> mlgo::callsOf(const Function &F) {
#if LLVM_VERSION_MAJOR >= 23
  return F.getEntryCount();
#else
  if (const auto Calls = F.getEntryCount())
    return Calls->getCount();
  return std::nullopt;
#endif
}
