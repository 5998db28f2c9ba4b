"""What all corpus rules share: modules, their names, the action that makes one, the action that makes a directory of many."""

load("@llvm//:chosen.bzl", "CHOSEN")

visibility(["//mlgo/corpus/..."])

CorpusModulesInfo = provider(
    doc = "Compiled modules that have not been put into a directory yet.",
    fields = {
        "modules": ":type: depset[struct]: `source` (str: path in its repository), `owner` (str: the target that compiles it), " +
                   "`file` (File: the source), `reads` (tuple[File]: profiles that code generation reads too), `bitcode` (File), " +
                   "`command` (File: as a .llvmcmd section) and `licence` (str: SPDX).",
        "files": ":type: depset[File]: the files of all modules.",
        "skipped": ":type: depset[struct]: sources without bitcode: `source`, `owner` and `kind` (str: why).",
    },
)

NO_LICENCE = "NOASSERTION"

CXX_EXTENSIONS = ["cc", "cpp", "cxx", "c++", "C", "CPP", "cu", "cl"]
C_EXTENSIONS = ["c"]

# Optimisation levels that `level` may ask for; "" leaves the target's own. front_end.py has the same.
LEVELS = ["", "O0", "O1", "O2", "O3", "Os", "Oz"]

# What actions are run with.
FRONT_END = attr.label(default = "//mlgo/corpus:front_end", executable = True, cfg = "exec")
ASSEMBLE = attr.label(default = "//mlgo/corpus:assemble", executable = True, cfg = "exec")

def source_name(path):
    """The stable name of a source: its path in its repository, whatever that repository is called here.

    Args:
      path: `File.short_path` or `File.path` of the source.

    Returns:
      For "../+debian+llvm_source/llvm/lib/IR/Type.cpp", "llvm/lib/IR/Type.cpp"; for "bazel-out/k8-opt/bin/a/gen.cc", "a/gen.cc".
    """
    if path.startswith("bazel-out/"):
        path = path.split("/", 3)[3]
    if path.startswith("../") or path.startswith("external/"):
        return path.split("/", 2)[2]
    return path

def owner_name(label):
    """The target that compiles a source, as a relative path.

    Args:
      label: of the target.

    Returns:
      For @@_main~debian~zlib//a:b, "zlib/a/b"; for //a:b, "a/b". Names that modules give a repository differ between versions of
      Bazel, so only the last part counts.
    """

    # zlib~, _main~debian~zlib, zlib+, mlgo++debian+zlib; a version in between ("zlib~1.3.1") stays: Bazel leaves it out since 7.1.
    repository = label.repo_name.replace("+", "~").removesuffix("~")
    if repository.count("~") > 1:
        repository = repository.rpartition("~")[2]
    return "/".join([part for part in [repository, label.package, label.name] if part])

def corpus_modules(modules, skipped = [], transitive = []):
    """CorpusModulesInfo of these modules and of those below.

    Args:
      modules: list of modules.
      skipped: list of sources without bitcode.
      transitive: list of CorpusModulesInfo.

    Returns:
      CorpusModulesInfo.
    """
    return CorpusModulesInfo(
        modules = depset(modules, transitive = [info.modules for info in transitive]),
        files = depset(
            [file for module in modules for file in [module.bitcode, module.command, module.file] + list(module.reads)],
            transitive = [info.files for info in transitive],
        ),
        skipped = depset(skipped, transitive = [info.skipped for info in transitive]),
    )

def module_struct(*, source, owner, file, bitcode, command, licence, reads = []):
    """One module of CorpusModulesInfo; see there."""
    return struct(source = source, owner = owner, file = file, reads = tuple(reads), bitcode = bitcode, command = command, licence = licence)

def front_end_module(ctx, *, front_end, argv, env, inputs, tools, source, name, owner, folder, licence, level, reads = []):
    """Registers the action that makes one module of an ordinary compile's command.

    Args:
      ctx: of the rule or aspect.
      front_end: its //mlgo/corpus:front_end, `files_to_run`.
      argv: compiler and arguments, as they would make an object.
      env: the compile's environment.
      inputs: depset of what the compile reads.
      tools: depset of the compiler's own files.
      source: File.
      name: the source's name.
      owner: the target that compiles it.
      folder: where in the target's package the files go.
      licence: SPDX expression, unless the source names one.
      level: one of LEVELS.
      reads: those of `inputs` that the module's code generation reads again.

    Returns:
      The module.
    """
    bitcode = ctx.actions.declare_file(folder + name + ".bc")
    command = ctx.actions.declare_file(folder + name + ".cmd")
    arguments = ctx.actions.args()
    arguments.add("--llvm_major", CHOSEN["major"])
    arguments.add("--bitcode", bitcode)
    arguments.add("--command", command)
    if level:
        arguments.add("--level", level)
    arguments.add("--")
    arguments.add_all(argv)
    ctx.actions.run(
        executable = front_end,
        arguments = [arguments],
        inputs = inputs,
        tools = [tools],
        toolchain = None,
        outputs = [bitcode, command],
        env = env,
        mnemonic = "CorpusCompile",
        progress_message = "Compiling %s for a corpus" % name,
    )
    return module_struct(source = name, owner = owner, file = source, bitcode = bitcode, command = command, licence = licence, reads = reads)

def _module_line(module):
    return "\t".join(["module", module.source, module.owner, module.bitcode.path, module.command.path, module.file.path, module.licence])

def _skipped_line(source):
    return "\t".join(["skipped", source.source, source.owner, source.kind])

def assemble(ctx, info, directory, *, program, part = None):
    """Registers the action that fills a directory with a corpus.

    Args:
      ctx: of the rule or aspect.
      info: CorpusModulesInfo.
      directory: path in the target's package.
      program: its //mlgo/corpus:assemble, `files_to_run`.
      part: "train", "held_out", or None for all.

    Returns:
      The directory (File).
    """
    directory = ctx.actions.declare_directory(directory)

    # Expanded when the action runs, so that a library below a thousand others costs nothing at analysis.
    listing = ctx.actions.args()
    listing.set_param_file_format("multiline")
    listing.use_param_file("%s", use_always = True)
    listing.add_all(info.modules, map_each = _module_line)
    listing.add_all(info.skipped, map_each = _skipped_line)
    arguments = ctx.actions.args()
    arguments.add_all("--output", [directory], expand_directories = False)
    arguments.add("--label", str(ctx.label).removeprefix("@@") if not ctx.label.repo_name else str(ctx.label))
    if part:
        arguments.add("--part", part)
    ctx.actions.run(
        executable = program,
        arguments = [arguments, listing],
        inputs = info.files,
        outputs = [directory],
        mnemonic = "CorpusAssemble",
        progress_message = "Assembling corpus %{label}",
    )
    return directory

def corpus_providers(ctx, info, directory):
    """The providers of a rule that is a corpus.

    Args:
      ctx: of the rule.
      info: CorpusModulesInfo.
      directory: File.

    Returns:
      List of providers.
    """
    return [
        DefaultInfo(files = depset([directory]), runfiles = ctx.runfiles([directory])),
        info,
    ]
