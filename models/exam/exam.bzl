"""The exam: its libraries, and `look`, the command that measures a released policy on them once."""

load("@bazel_skylib//rules:write_file.bzl", "write_file")
load("@llvm//:chosen.bzl", "CHOSEN")
load("@rules_python//python:defs.bzl", "py_binary")

# By language; //third_party/corpora:exam.bzl describes them, and README.md says how they were chosen.
EXAM_LIBRARIES = {
    "C": [
        "gdbm",
        "jbig2dec",
        "libexif",
        "libonig",
        "librsync",
        "mosquitto",
        "qhull",
        "speex",
    ],
    "C++": [
        "angelscript",
        "libde265",
        "libebml",
        "libmodplug",
        "libraw",
        "mecab",
        "taglib",
        "zeromq3",
    ],
}

def exam_corpora(suffix = ""):
    """Names of the corpora in //mlgo/corpus.

    Args:
      suffix: "" for -O2, "_oz" for -Oz.

    Returns:
      Dict from library to name.
    """
    return {name: name + suffix for libraries in EXAM_LIBRARIES.values() for name in libraries}

# Another LLVM than the default's is an exam of its own: the same policy may be looked at with each.
_OF_MAJOR = "" if CHOSEN["major"] == CHOSEN["default"] else "_llvm" + CHOSEN["major"]

def _runfile(label):
    return label.removeprefix("//").replace(":", "/")

def measurement(folder, command, flags):
    """One measurement of a look.

    Args:
      folder: of its results, in models/exam; the major of LLVM is added to it where it is not the default's.
      command: label of a command that writes result.json and summary.md into --output_dir.
      flags: of the command; {PATH} stands for the runfile PATH.

    Returns:
      The measurement.
    """
    return struct(folder = folder + _OF_MAJOR, command = _runfile(command), flags = flags)

def look(name, policy, measurements, data, compilers, env = {}):
    """The command that looks at a policy. It logs every look and refuses a second one at the same policy.

    Args:
      name: of the exam: libraries or programs, and what is measured of them. The major is added to it too.
      policy: label of the policy's folder.
      measurements: list of `measurement`.
      data: the runfiles of their flags, and the commands.
      compilers: labels of the compilers whose digests the log has.
      env: environment of the commands.
    """
    write_file(
        name = name + "_exam",
        out = name + ".exam.json",
        content = [json.encode_indent(struct(
            exam = name + _OF_MAJOR,
            compilers = [_runfile(label) for label in compilers],
            measurements = measurements,
            policy = _runfile(policy),
        ))],
    )
    py_binary(
        name = name,
        srcs = ["look.py"],
        main = "look.py",
        args = ["{}/{}.exam.json".format(native.package_name(), name)],
        data = [
            name + ".exam.json",
            policy,
        ] + compilers + data,
        env = env,
        # It compiles the exam's libraries.
        tags = ["manual"],
        deps = [":looking"],
    )
