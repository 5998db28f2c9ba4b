"""C++ derived from the table of policy slots."""

load("@bazel_skylib//rules:expand_template.bzl", "expand_template")
load("@bazel_skylib//rules:write_file.bzl", "write_file")
load("@rules_cc//cc:defs.bzl", "cc_library")
load("//llvm:slots.bzl", "SLOTS")

visibility(["//llvm/...", "//release/..."])

# Independent of Bazel's compilation mode: how a compiler with a policy behaves, and how fast it is, must not depend on it.
GENERATED_COPTS = [
    "-O2",
    "-DNDEBUG",
    "-ffp-contract=off",
    "-ffunction-sections",
    "-fdata-sections",
    "-w",
]

_ABSENT = """\
// Written by llvm/private/slots.bzl.
#include "EmbeddedModel.h"

const mlgo::PolicySlot mlgo::{variable} = {{"{problem}", nullptr, 0}};
"""

def policy_class(slot):
    """C++ class, in the namespace mlgo, of a policy compiled for `slot`: EvictionPolicy of eviction_policy."""
    return "".join([word.capitalize() for word in slot.split("_")])

def slot_variable(slot):
    """C++ variable, in the namespace mlgo, that defines `slot`: EvictionSlot of eviction_policy."""
    return policy_class(slot).removesuffix("Policy") + "Slot"

def _enumerator(functions):
    """C++ enumerator of mlgo::DecidesIn for a value of the field `decides_in`: AllFunctions of "all functions"."""
    return "".join([word.capitalize() for word in functions.split(" ")])

def slot_headers(directory, template):
    """Generates `<model>.h` of each slot from `template`, and `PolicySlots.def`, which lists the slots.

    Args:
      directory: where the files lie, below the package.
      template: label of the header's template.

    Returns:
      Labels of the files.
    """
    lines = ["// Written by llvm/private/slots.bzl: POLICY_SLOT(variable, problem, name, advisor's, selector's and channel's flags, functions,\n// measured architectures)."]
    headers = [directory + "/PolicySlots.def"]
    for name, slot in SLOTS.items():
        lines.append('POLICY_SLOT({}, "{}", "{}", "-{}=release", "-{}", "-{}", {}, "{}")'.format(
            slot_variable(name),
            slot["problem"],
            name,
            slot["advisor_flag"],
            slot["selector_flag"],
            slot["interactive_flag"],
            _enumerator(slot["decides_in"]),
            slot["measured_on"],
        ))
        headers.append("{}/{}.h".format(directory, slot["model"]))
        expand_template(
            name = name + "_header",
            out = headers[-1],
            substitutions = {
                "@MODEL@": slot["model"],
                "@MODEL_UPPER@": slot["model"].upper(),
                "@SLOT@": slot_variable(name),
            },
            template = template,
        )
    write_file(
        name = "policy_slots",
        out = headers[0],
        content = lines + [""],
    )
    return headers

def absent_policies(headers):
    """Makes for each slot a C++ library `no_<slot>`, which defines the slot as empty.

    Args:
      headers: label of the library with EmbeddedModel.h.

    Returns:
      Labels of the libraries.
    """
    for name, slot in SLOTS.items():
        write_file(
            name = "no_{}_source".format(name),
            out = "no_{}.cpp".format(name),
            content = [_ABSENT.format(problem = slot["problem"], variable = slot_variable(name))],
        )
        cc_library(
            name = "no_" + name,
            srcs = ["no_{}.cpp".format(name)],
            copts = GENERATED_COPTS,
            linkstatic = True,
            visibility = ["//visibility:public"],
            deps = [headers],
        )
    return ["no_" + name for name in SLOTS]
