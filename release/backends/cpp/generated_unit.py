"""The text of the generated C++: one header, one source, from a policy's normaliser and its network in whole numbers.

The `.inc` files in this folder are the fixed parts and are copied verbatim. This module writes the parts that depend on
the policy: the tensors, the features' segments, the weights, the decision. Equal arguments give equal text.
"""

import dataclasses
import pathlib
import re
import textwrap
from collections.abc import Sequence

import numpy as np

from mlgo.learning.exact_network import exact_network
from mlgo.learning.network import PolicyNetwork
from mlgo.learning.normalization import RELU_TOP
from mlgo.policy.identity import Identity
from mlgo.problems.problem import Problem
from mlgo.problems.tensor import LOG_TYPE_OF_NUMPY_NAME
from mlgo.run.exit_codes import RunError
from release.backends.cpp.cpp_text import WIDTH, comment, float_literal, printable, string_literal, wrapped
from release.backends.cpp.seen_features import seen_features
from release.backends.cpp.whole_numbers import whole_layers

GENERATOR = "//release/backends/cpp:cpp_policy"
#: Columns are a multiple of this, so that eight levels are made at a time.
_COLUMN_MULTIPLE = 8
_UNIT_MULTIPLE = 4
_CLASS = re.compile(r"[A-Za-z_]\w*(::[A-Za-z_]\w*)*", re.ASCII)


@dataclasses.dataclass(frozen=True)
class Origin:
    """Contents of the header comment: `identity`, and (label, text) of further lines, in order."""

    identity: Identity
    lines: tuple[tuple[str, str], ...]


class GeneratedUnit:
    """One policy as C++.

    Args:
      cpp_class: name of the class with its namespaces, "mlgo::EvictionPolicy".
      header_name: what the source includes.

    Raises: RunError: the class or a feature has no usable name, or the policy looks at a feature the problem lacks.
    """

    def __init__(self, network: PolicyNetwork, problem: Problem, cpp_class: str, header_name: str, origin: Origin):
        if not _CLASS.fullmatch(cpp_class):
            raise RunError(
                f"--cpp_class={cpp_class}", "is not the name of a class", "Give one like mlgo::EvictionPolicy"
            )
        *self._namespaces, self._class = cpp_class.split("::")
        self._problem = problem
        self._header_name = header_name
        self._origin = origin
        self._normalizer = network.normalizer
        self._features = seen_features(network.normalizer, problem)
        self._layers = whole_layers(exact_network(network.weights))
        mask = [] if problem.mask_feature is None else [problem.observation_spec(problem.mask_feature)]
        #: The tensors that the compiler fills, in the order of arg_data.
        self._tensors = mask + list(dict.fromkeys(feature.spec for feature in self._features))

    def header(self) -> str:
        """The declaration of the class."""
        guard = "_".join([*self._namespaces, self._class, "GENERATED_H"]).upper()
        who = self._origin.identity
        members = [
            f"  {LOG_TYPE_OF_NUMPY_NAME[spec.dtype]} {spec.name}[{spec.element_count}] = {{}};"
            for spec in self._tensors
        ]
        action = self._problem.action_spec
        lines = [
            self._comment(),
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            "#include <stdint.h>",
            "",
            *self._open_namespaces(),
            *comment(
                f"Decides {self._problem.name}. Fill arg_data, call Run, read result_data. "
                "One thread at a time per object."
            ),
            f"class {self._class} final {{",
            "public:",
            f"  static constexpr char Name[] = {string_literal(who.name)};",
            f"  static constexpr char TrainingRun[] = {string_literal(who.training_run)};",
            "  // sha256 of saved_model.pb, which holds all that decides.",
            f"  static constexpr char Digest[] = {string_literal(who.digest)};",
            '  static constexpr char Backend[] = "cpp";',
            "",
            '  // Number of the tensor "feed_<feature>", or -1 when the policy does not look at it.',
            "  int LookupArgIndex(const char *Tensor) const;",
            f'  // Number of the tensor "fetch_{action.name}", or -1 for another name.',
            "  int LookupResultIndex(const char *Tensor) const;",
            "  // The tensors, in row-major order; null for a number that no lookup gave.",
            "  void *arg_data(int Index);",
            "  void *result_data(int Index);",
            "  // Evaluates the policy; cannot fail.",
            "  bool Run();",
            "",
            "private:",
            f"  int32_t logit({'int Position' if self._has_choice else ''}) const;",
            "",
            *members,
            f"  {LOG_TYPE_OF_NUMPY_NAME[action.dtype]} {action.name}[1] = {{}};",
            "};",
            "",
            *self._close_namespaces(),
            f"#endif // {guard}",
        ]
        return "\n".join(lines) + "\n"

    def source(self) -> str:
        """The definition: constants, weights, arithmetic, decision."""
        parts = [
            self._comment() + f'\n#include "{self._header_name}"\n\n#include <float.h>\n#include <string.h>\n',
            _fixed("guards"),
            "\n".join([*self._open_namespaces(), "namespace {"]) + "\n",
            self._feature_constants(),
            *(self._layer_constants(index) for index in range(len(self._layers))),
            _fixed("arithmetic"),
            *(_fixed(name) for name in self._layer_kinds()),
            _fixed("hidden"),
            "} // namespace\n",
            self._lookups(),
            self._logit(),
            self._run(),
            "\n".join(self._close_namespaces()).rstrip("\n"),
        ]
        return "\n".join(parts).rstrip("\n") + "\n"

    @property
    def _has_choice(self) -> bool:
        return self._problem.decision_kind == "categorical"

    @property
    def _columns(self) -> int:
        return _rounded_up(self._normalizer.width, _COLUMN_MULTIPLE)

    def _comment(self) -> str:
        lines = [f"Policy for {self._problem.name}, generated by {GENERATOR}. Do not edit.", ""]
        width = max(len(label) for label, _ in self._origin.lines)
        lines += [f"  {label.ljust(width)}  {text}" for label, text in self._origin.lines]
        lines += [
            "",
            "Why it decides like TensorFlow Lite and TensorFlow AOT, bit for bit: docs/adr/0004-generated-cpp.md.",
        ]
        return "".join(f"// {printable(line)}".rstrip() + "\n" for line in lines)

    def _open_namespaces(self) -> list[str]:
        return [f"namespace {name} {{" for name in self._namespaces]

    def _close_namespaces(self) -> list[str]:
        return [f"}} // namespace {name}" for name in reversed(self._namespaces)] + [""]

    def _feature_constants(self) -> str:
        width, columns = self._normalizer.width, self._columns
        padding = "" if width == columns else f", padded with 0 to {columns}"
        lines = [
            f"// What the network sees: {width} columns{padding}, each a level in 0..192.",
            f"constexpr int Columns = {columns};",
            "",
            "// A feature: its columns, and the value that everything above it (and NaN) counts as.",
            "struct Feature {",
            "  int First, Count;",
            "  float Highest;",
            "};",
        ]
        lines += [
            f"constexpr Feature {each.constant} = {{{each.first}, {each.count}, {float_literal(each.highest)}}};"
            for each in self._features
        ]
        if self._normalizer.mark_last_position:
            lines.append(f"// Not a feature: {RELU_TOP:g} at the last position, the one that asks, and 0 elsewhere.")
            lines.append(f"constexpr int LastPositionColumn = {len(self._normalizer.columns)};")
        if self._normalizer.dropped:
            dropped = f"Not looked at, for they had one value in the vocabulary: {', '.join(self._normalizer.dropped)}."
            lines += comment(dropped)
        lines += ["", "// Where a column's levels begin: level 0 here and below."]
        lines += self._column_array(
            "ColumnStart", [np.float32(column.start) for column in self._normalizer.columns], 0.0
        )
        lines += ["", "// Units of 1/6 of the column's width per unit of the feature."]
        lines += self._column_array("ColumnSlope", [column.slope for column in self._normalizer.columns], 1.0)
        return "\n".join(lines) + "\n"

    def _column_array(self, name: str, values: Sequence[np.float32], last_position: float) -> list[str]:
        lines = [f"constexpr float {name}[Columns] = {{"]
        for feature in self._features:
            lines.append(f"    // {feature.name}")
            lines += wrapped(float_literal(value) for value in values[feature.first : feature.first + feature.count])
        if self._normalizer.mark_last_position:
            lines += ["    // last position", f"    {float_literal(np.float32(last_position))},"]
        return [*lines, "};"]

    def _layer_constants(self, index: int) -> str:
        layer = self._layers[index]
        last = index == len(self._layers) - 1
        bound = (
            f"inputs 0..{layer.input_top}, weights within {layer.largest_weight} ({layer.weight_bits} bits hold them), "
            f"every partial sum within {layer.largest_sum:,} < 2^24"
        )
        one_step = f"one step of a sum is 2^{int(np.log2(layer.grid))}"
        weight_type = f"int{layer.weight_bits}_t"
        inputs = self._padded_inputs(index)
        if last:
            title = f"The logit, one step of it being 2^{int(np.log2(layer.grid))}: {bound}."
            values = [*layer.kernel[:, 0].tolist(), *[0] * (inputs - len(layer.kernel))]
            lines = comment(title)
            lines += [
                f"alignas(16) constexpr {weight_type} LogitWeights[{inputs}] = {{",
                *wrapped(map(str, values)),
                "};",
            ]
            return "\n".join(lines) + "\n"
        units = self._units(index)
        title = (
            f"Hidden layer {index + 1} of {len(self._layers) - 1}: {len(layer.kernel)} inputs, "
            f"{layer.kernel.shape[1]} units; {bound}; {one_step}. "
            "A row holds two inputs' weights: of input 0 to unit 0, of input 1 to unit 0, of input 0 to unit 1, "
            "and so on."
        )
        lines = comment(title)
        lines += [f"constexpr int Units{index + 1} = {units}, Shift{index + 1} = {layer.hidden_shift};"]
        kernel = np.zeros((inputs, units), np.int64)
        kernel[: layer.kernel.shape[0], : layer.kernel.shape[1]] = layer.kernel
        bias = [*layer.bias.tolist(), *[0] * (units - len(layer.bias))]
        lines += [f"constexpr int32_t Bias{index + 1}[Units{index + 1}] = {{", *wrapped(map(str, bias)), "};"]
        lines += [f"alignas(16) constexpr {weight_type} Kernel{index + 1}[{inputs // 2}][2 * Units{index + 1}] = {{"]
        for pair in range(inputs // 2):
            lines.append(f"    {{ // {self._input_name(index, 2 * pair)}, {self._input_name(index, 2 * pair + 1)}")
            lines += wrapped(map(str, kernel[2 * pair : 2 * pair + 2].T.reshape(-1).tolist()), indent=5)
            lines.append("    },")
        return "\n".join([*lines, "};"]) + "\n"

    def _input_name(self, layer_index: int, number: int) -> str:
        if layer_index > 0:
            return f"unit {number}"
        for feature in self._features:
            if feature.first <= number < feature.first + feature.count:
                return f"{feature.name} {number - feature.first}"
        return "last position" if number < self._normalizer.width else "nothing"

    def _units(self, index: int) -> int:
        return _rounded_up(self._layers[index].kernel.shape[1], _UNIT_MULTIPLE)

    def _padded_inputs(self, index: int) -> int:
        return self._columns if index == 0 else self._units(index - 1)

    def _layer_kinds(self) -> list[str]:
        bits = {layer.weight_bits for layer in self._layers[:-1]}
        return [name for width, name in ((16, "narrow_layer"), (32, "wide_layer")) if width in bits]

    def _lookups(self) -> str:
        action = self._problem.action_spec
        name = self._class
        lines = [f"int {name}::LookupArgIndex(const char *Tensor) const {{"]
        lines += ["  static const char *const Names[] = {"]
        lines += wrapped((f'"feed_{spec.name}"' for spec in self._tensors), indent=6)
        lines += [
            "  };",
            f"  for (int I = 0; I < {len(self._tensors)}; ++I)",
            "    if (strcmp(Tensor, Names[I]) == 0)",
            "      return I;",
            "  return -1;",
            "}",
            "",
            f"int {name}::LookupResultIndex(const char *Tensor) const {{",
            f'  return strcmp(Tensor, "fetch_{action.name}") == 0 ? 0 : -1;',
            "}",
            "",
            f"void *{name}::arg_data(int Index) {{",
            f"  void *const Tensors[] = {{{', '.join(spec.name for spec in self._tensors)}}};",
            f"  return Index >= 0 && Index < {len(self._tensors)} ? Tensors[Index] : nullptr;",
            "}",
            "",
            f"void *{name}::result_data(int Index) {{ return Index == 0 ? {action.name} : nullptr; }}",
        ]
        return (
            "\n".join(
                textwrap.fill(line, WIDTH, subsequent_indent="      ") if len(line) > WIDTH else line for line in lines
            )
            + "\n"
        )

    def _logit(self) -> str:
        position = "int Position" if self._has_choice else ""
        where = "of the candidate at `Position`" if self._has_choice else "of the observation"
        lines = [
            f"// The network's output {where}, in steps.",
            f"int32_t {self._class}::logit({position}) const {{",
            "  float Value[Columns] = {};",
        ]
        for feature in self._features:
            lines.append(f"  look({feature.constant}, {feature.value()}, Value);")
        if self._normalizer.mark_last_position:
            count = self._problem.action_count
            assert count is not None  # Of a categorical problem, which has a last position.
            lines.append(f"  Value[LastPositionColumn] = Position == {count - 1} ? {RELU_TOP}f : 0.0f;")
        lines += ["  alignas(16) int16_t Hidden0[Columns];", "  levels(Value, Hidden0);", ""]
        for index in range(1, len(self._layers)):
            inputs, units = ("Columns" if index == 1 else f"Units{index - 1}"), f"Units{index}"
            lines += [
                f"  uint16_t Which{index}[{inputs} / 2];",
                f"  const int Count{index} = nonZeroPairs(Hidden{index - 1}, Which{index});",
                f"  alignas(16) int32_t Sum{index}[{units}];",
                f"  sums(Kernel{index}, Bias{index}, Hidden{index - 1}, Which{index}, Count{index}, Sum{index});",
                f"  alignas(16) int16_t Hidden{index}[{units}];",
                f"  hidden(Sum{index}, Shift{index}, Hidden{index});",
                "",
            ]
        top = len(self._layers) - 1
        lines += [
            "  int32_t Logit = 0;",
            f"  for (int Unit = 0; Unit < Units{top}; ++Unit)",
            f"    Logit += Hidden{top}[Unit] * LogitWeights[Unit];",
            "  return Logit;",
            "}",
        ]
        return "\n".join(lines) + "\n"

    def _run(self) -> str:
        action = self._problem.action_spec.name
        kind = self._problem.decision_kind
        if kind == "categorical":
            body = [
                "  // The lowest position among the legal ones with the highest logit; 0 when none is legal.",
                "  int32_t Best = INT32_MIN;",
                f"  {action}[0] = 0;",
                f"  for (int Position = 0; Position < {self._problem.action_count}; ++Position) {{",
                f"    if ({self._problem.mask_feature}[Position] <= 0)",
                "      continue;",
                "    const int32_t Logit = logit(Position);",
                "    if (Logit > Best) {",
                "      Best = Logit;",
                f"      {action}[0] = Position;",
                "    }",
                "  }",
            ]
        elif kind == "binary":
            body = ["  // Yes when the network's output is above 0.", f"  {action}[0] = logit() > 0 ? 1 : 0;"]
        else:
            top, unit = np.float32(self._problem.max_output), np.float32(self._problem.output_unit)
            body = [
                f"  // min(max(z, 0), {self._problem.max_output:g}) * 2^{int(np.log2(unit))}; float rounds none of it.",
                f"  float Z = static_cast<float>(logit()) * {float_literal(np.float32(self._layers[-1].grid))};",
                "  Z = Z > 0.0f ? Z : 0.0f;",
                f"  Z = Z < {float_literal(top)} ? Z : {float_literal(top)};",
                f"  {action}[0] = Z * {float_literal(unit)};",
            ]
        return "\n".join([f"bool {self._class}::Run() {{", *body, "  return true;", "}"]) + "\n"


def _fixed(name: str) -> str:
    return pathlib.Path(__file__).with_name(f"{name}.inc").read_text(encoding="utf-8")


def _rounded_up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple
