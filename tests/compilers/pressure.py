"""C functions with more live values than a target has registers, and the targets to compile them for."""

import dataclasses
import random
from collections.abc import Sequence

#: Kind of a C type -> its operators.
ARITHMETIC = {"integer": ("+", "-", "*", "^", "&", "|"), "floating": ("+", "-", "*")}


@dataclasses.dataclass(frozen=True)
class Target:
    """A target of LLVM.

    Attributes:
      name: a name for messages.
      flags: the driver's flags that choose it.
      types: C types of the values that fill its registers, with a kind of `ARITHMETIC`.
      live: at least so many of these values do not fit into the registers.
    """

    name: str
    flags: tuple[str, ...]
    types: tuple[tuple[str, str], ...] = (("long", "integer"), ("double", "floating"))
    live: int = 40


_INTEGERS = (("long", "integer"), ("int", "integer"))
#: 16 bytes: the vector registers of most targets.
VECTOR = "typedef float vector __attribute__((vector_size(16)));\n"
_VECTORS = (("vector", "floating"), ("double", "floating"))

#: Classes of up to 32 registers, all of which have a position of the policy.
SMALL = (
    Target("x86_64", ("--target=x86_64-linux-gnu",)),
    Target("x86_64 with APX and AVX-512", ("--target=x86_64-linux-gnu", "-mapxf", "-mavx512vl"), _INTEGERS + _VECTORS),
    Target("i386", ("--target=i386-linux-gnu",)),
    Target("aarch64", ("--target=aarch64-linux-gnu",), _INTEGERS + _VECTORS),
    Target("thumb", ("--target=thumbv7em-none-eabi", "-mfloat-abi=hard"), (*_INTEGERS, ("float", "floating"))),
    Target("riscv64", ("--target=riscv64-linux-gnu", "-march=rv64gcv")),
    Target("riscv32", ("--target=riscv32-none-elf", "-march=rv32imac"), _INTEGERS),
    Target("loongarch64", ("--target=loongarch64-linux-gnu",)),
    Target("mips64el", ("--target=mips64el-linux-gnuabi64",)),
    Target("s390x", ("--target=s390x-linux-gnu", "-march=z14"), _INTEGERS + _VECTORS),
    Target("sparcv9", ("--target=sparcv9-linux-gnu",)),
    Target("hexagon", ("--target=hexagon-linux-musl",)),
)
#: Classes of more registers than a policy has positions.
LARGE = (
    Target("ppc64le with VSX", ("--target=powerpc64le-linux-gnu", "-mcpu=pwr9"), _VECTORS, live=80),
    Target("amdgcn", ("--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib"), (("float", "floating"),), live=120),
)
#: Its hints name a register several times.
SVE = Target("aarch64 with SVE", ("--target=aarch64-linux-gnu", "-march=armv8-a+sve"))


def loop(value_type: str, operators: Sequence[str], live: int, seed: int, arms: int = 0) -> str:
    """C of a function with a loop that combines `live` values, and a switch whose arms each define two of them.

    Args:
      value_type: a C type with `operators`.
      operators: of which the seed chooses.
      live: how many values are live in the whole loop, >= 2.
      seed: of the choice of values and operators.
      arms: arms of the switch; 0: no switch.
    """
    chance = random.Random(seed)

    def combined() -> str:
        return f"v{chance.randrange(live)} {chance.choice(operators)} v{chance.randrange(live)}"

    lines = [f"{value_type} f({value_type} *data, const int *which, int count) {{"]
    lines += [f"  {value_type} v{number} = data[{number}];" for number in range(live)]
    lines += ["  while (count--) {"]
    if arms:
        first, second = chance.sample(range(live), 2)
        lines += ["    switch (which[count]) {"]
        lines += [
            f"    case {arm}: v{first} = {combined()}; v{second} = {combined()}; data[{arm}] = v{first}; break;"
            for arm in range(arms)
        ]
        lines += ["    }"]
    lines += [f"    v{number} = v{number} {chance.choice(operators)} ({combined()});" for number in range(live)]
    lines += ["  }"]
    lines += [f"  data[{number}] = v{number};" for number in range(live)]
    return VECTOR + "\n".join([*lines, "  return v0;\n}\n"])


def random_source(target: Target, seed: int) -> str:
    """C for `target` that the seed determines."""
    chance = random.Random(seed)
    value_type, kind = chance.choice(target.types)
    live = target.live + chance.randrange(target.live)
    return loop(value_type, ARITHMETIC[kind], live, seed, arms=chance.choice((0, 2, 5, 12)))


def scalable_vectors(live: int, arms: int) -> str:
    """C of SVE: two values that `arms` arms of a switch define by operations that overwrite an operand.

    Each definition makes its operand's register a hint of the result, so one register is named several times.
    """
    operations = ("add", "mul", "sub", "max", "min", "div", "abd", "maxnm", "minnm", "mulx")
    values = range(live)
    lines = [
        "#include <arm_sve.h>",
        "svfloat32_t f(svbool_t all, const float *from, float *to, const int *which, int n) {",
    ]
    lines += [f"  svfloat32_t v{value} = svld1(all, from + {64 * value});" for value in values]
    lines += ["  svfloat32_t left = v0, right = v1;", "  while (n--) {"]
    for name, offset in (("left", 0), ("right", 1)):
        lines += [f"    switch (which[2 * n + {offset}]) {{"]
        lines += [
            f"    case {arm}: to[{arm}] = n; "
            f"{name} = sv{operations[arm % len(operations)]}_x(all, v{arm % live}, v{(arm + 1) % live}); break;"
            for arm in range(arms)
        ]
        lines += ["    }"]
    lines += [f"    v{value} = svmla_x(all, v{value}, left, right);" for value in values]
    lines += ["  }", *(f"  svst1(all, to + {64 * value}, v{value});" for value in values)]
    return "\n".join([*lines, "  return svadd_x(all, left, right);\n}\n"])
