"""Which options of cc1 a recorded command may have.

Most rules read the table: what clang stores in the options of code generation, the language and the target can only
change code if it is a flag, a number or an enumerator; what it stores elsewhere belongs to the front end. The lists
name the exceptions, strings above all, each with the form that its value must have.
"""

import re

from mlgo.corpus.options.table import ClangOption

#: Where clang keeps what changes code.
_CODE = ("CodeGenOpts", "LangOpts", "TargetOpts")
#: Where it keeps what only a front end uses: headers, macros, warnings, dependency files.
_FRONT_END = tuple(
    "AnalyzerOpts DependencyOutputOpts DiagnosticOpts FileSystemOpts HeaderSearchOpts MigratorOpts PreprocessorOpts"
    " PreprocessorOutputOpts".split()
)

# Front end, outputs and actions, where the table does not tell. Builds record them, and bitcode needs none of them.
_DROPPED = re.compile(
    r"""
      -[DUFI] | -W.* | -w | -R.* | -pedantic.* | -std= | --std= | --?stdlib= | -undef | -x | -o | -E | -S
    | --?no-warnings | --?(save-temps|system-header-prefix|no-system-header-prefix|embed-dir)=
    | --warning-suppression-mappings=
    | --?(include|imacros|vfsoverlay) | -i(macros|quote|dirafter|prefix|vfsoverlay|apinotes-modules|sysroot)
    | -i(framework|with|system).* | -(internal|c|cxx|objc|objcxx)-(isystem|externc-isystem|iframework) | -chain-include
    | -M[DGMPVTQ]* | -dumpdir | -dependency-.* | -remap-file | -ast-merge | -interface-stub-version= | -resource-dir
    | -emit-(obj|llvm|llvm-bc|llvm-only|codegen-only|pch|module|interface-stubs) | -fsyntax-only | -verify.*
    | -flto-unit | -flto=? | -fembed-(bitcode|offload-object)=? | -fthinlto-index= | -fthin-link-bitcode=
    | -f(debug|coverage)-compilation-dir=? | -f(debug|macro|file|coverage)-prefix-map= | -coverage-(notes|data)-file=
    | -f(no-)?(color|caret)-diagnostics | -f(no-)?diagnostics-.* | -ferror-limit | -fmessage-length | -ftabstop
    | -f(bracket|constexpr|template)-depth | -ftemplate-depth= | -fconstexpr-steps=?
    | -fmodule.* | -fno-implicit-modules | -fprebuilt-module-path= | -working-directory=?
    | -stats-file= | -ftime-(report|trace).* | -print-.*
    | -split-dwarf-(file|output) | -opt-record-(file|passes|format) | -dwarf-debug-flags | -record-command-line
    | -stack-usage-file | -as-secure-log-file | -serialize-diagnostic-file | -source-date-epoch | -fdepfile-entry=
    | -plugin | -add-plugin | -plugin-arg- | -load | -fpass-plugin=
    | -mlink-(bitcode-file|builtin-bitcode) | -fcuda-include-gpubinary | -fopenmp-host-ir-file-path
    | -analyzer-.* | -analyze-function=? | -ast-dump.* | -code-completion-at=? | -error-on-deserialized-decl=?
    | -dump-minimization-hints= | -fverify-debuginfo-preserve-export= | --(dependent-lib|linker-option)=
    | -fprofile-list= | -fprofile-(filter|exclude)-files= | -fsanitize-((system-)?ignorelist|blacklist)=
    | -fxray-(always|never)-instrument= | -fxray-attr-list= | -foverride-record-layout=
    | -frandomize-layout-seed(-file)?= | -fms-secure-hotpatch-functions-(file|list)=
    """,
    re.VERBOSE,
)

# Of the front end, without effect on bitcode, and kept nevertheless: commands have always been stored with them, and a
# corpus's digest counts its commands.
_KEPT = frozenset(
    """
    -disable-free -no-disable-free -round-trip-args -no-round-trip-args -nostdinc++ -fno-temp-file -fno-clangir
    -fansi-escape-codes -fcaret-diagnostics-max-lines= -fconstexpr-backtrace-limit= -fmacro-backtrace-limit=
    -ftemplate-backtrace-limit= -fspell-checking-limit= -fno-show-column -fno-show-source-location -fno-elide-type
    -fshow-overloads= -fobjc-arc-cxxlib= -fsafe-buffer-usage-suggestions -disable-pragma-debug-crash
    -fbuild-session-timestamp= -finitial-counter-value= -fimplicit-module-maps -fno-validate-pch -fno-pch-timestamp
    -fno-prebuilt-implicit-modules -fprebuilt-implicit-modules -fvalidate-ast-input-files-content
    -fdisable-module-hash -fno-modules-check-relocated -fno-modules-force-validate-user-headers
    -fno-modules-prune-non-affecting-module-map-files -fno-modules-skip-diagnostic-options
    -fno-modules-skip-header-search-paths -fno-modulemap-allow-subdirectory-search -fno-modules-share-filemanager
    -fno-modules-global-index -fimplicit-modules-use-lock -fno-implicit-modules-use-lock -fkeep-system-includes
    -fexperimental-modules-reduced-bmi -fallow-pch-with-compiler-errors -fallow-pcm-with-compiler-errors
    -fallow-pch-with-different-modules-cache-path -fforce-check-cxx20-modules-input-files
    """.split()
)

# Flags of code and language that also print, dump or write.
_MORE_THAN_CODE = re.compile(r"-dump-.* | -fdump-.* | -f(no-)?debug-pass-manager | -stats-.*", re.VERBOSE)

# Flags that clang reads without a variable: code, language and target begin so. The rest are actions.
_PLAIN_FLAG = re.compile(
    r"-f(?!ix) .* | -m(?!cpu=|tune=|odule|igrate) .* | -g .* | -O[0-4] | -Q[ny] | -cl- .*"
    r"| --?compress-debug-sections | -disable-llvm-optzns | -no-integrated-as | -no-pthread | -static-libclosure"
    r"| -new-struct-path-tbaa",
    re.VERBOSE,
)

_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.+-]*"
_NAMES = r"[A-Za-z0-9_.,:!+=$^*-]*"
_NUMBER = r"[0-9]{1,20}"
_VERSION = r"[0-9]+([.][0-9]+){0,3}"
#: Text that goes into the object and is never opened by the compiler; the bytes are the original's only with it.
_TEXT = r"[^\x00-\x1f\x7f]*"

# The form of each string that is kept.
_STRINGS = {
    option: re.compile(form, re.DOTALL)
    for options, form in (
        ("-triple -aux-triple -darwin-target-variant-triple -target-cpu -tune-cpu -aux-target-cpu -target-abi", _NAME),
        ("-mabi= -mcmodel= -mfpmath -mtp -mfloat-abi -debug-info-kind= -mstack-protector-guard=", _NAME),
        ("-mstack-protector-guard-reg= -mstack-protector-guard-symbol= -mprefer-vector-width= -mzos-target=", _NAME),
        ("-target-linker-version -target-sdk-version= -darwin-target-variant-sdk-version=", _VERSION),
        ("-mmacos-version-min= -fgnuc-version= -fms-compatibility-version=", _VERSION),
        ("-fclang-abi-compat= -fbinutils-version=", rf"{_VERSION}|latest|none"),
        ("-target-feature -aux-target-feature", r"[+-][A-Za-z0-9_.+-]+"),
        ("-O", r"[0-4szg]?|fast"),
        ("-Ofast", ""),
        ("-mlimit-float-precision", _NUMBER),
        ("-fopenmp= -fopenmp-version= -fopenmp-cuda-blocks-per-sm= -fopenmp-cuda-number-of-sm=", _NAME),
        ("-fopenmp-cuda-teams-reduction-recs-num= -fopenmp-target-debug= -falloc-token-max=", _NUMBER),
        ("-coverage-version=", r"[A-Za-z0-9*]{4}"),
        ("-flto-jobs=", _NUMBER),
        ("-fapinotes-swift-version=", _VERSION),
        ("-cl-ext= -fcomment-block-commands=", _NAMES),
        ("-fobjc-runtime= -fc++-abi= -fdenormal-fp-math= -fdenormal-fp-math-f32= -fprofile-update=", _NAMES),
        ("-fsanitize= -fsanitize-recover= -fsanitize-trap= -fsanitize-merge= -fsanitize-annotate-debug-info=", _NAMES),
        ("-fno-sanitize= -fno-sanitize-recover= -fno-sanitize-trap= -fno-sanitize-merge=", _NAMES),
        ("-fno-sanitize-annotate-debug-info= -fsanitize-coverage= -fno-sanitize-coverage=", _NAMES),
        ("-fexperimental-sanitize-metadata= -fno-experimental-sanitize-metadata=", _NAMES),
        ("-fsanitize-skip-hot-cutoff= -fallow-runtime-check-skip-hot-cutoff= -fsanitize-hwaddress-abi=", _NAMES),
        ("-fsanitize-memtag-mode= -fsanitize-undefined-ignore-overflow-pattern= -falloc-token-mode=", _NAMES),
        ("-mrecip= -mtocdata= -mno-tocdata= -fno-builtin- -fxray-modes= -fxray-instrumentation-bundle=", _NAMES),
        ("-ftrap-function= -ftrapv-handler -loader-replaceable-function= -fpatchable-function-entry-section=", _NAMES),
        ("-default-function-attr -fconstant-string-class -cuid= --offload-targets=", _NAMES),
        ("-fprofile-instrument-path= -fmemory-profile= -object-file-name= -fsymbol-partition= -main-file-name", _TEXT),
        ("-funique-source-file-identifier=", _TEXT),
        ("-fbasic-block-sections=", "all|none|labels"),
    )
    for option in options.split()
}

#: Options whose value names a file that clang's back end opens (clang/lib/CodeGen/BackendUtil.cpp,
#: clang/lib/Frontend/CompilerInvocation.cpp), with what stands in the value before its name.
READS = {
    **dict.fromkeys(("-fprofile-instrument-use-path=", "-fprofile-sample-use=", "-fprofile-remapping-file="), ""),
    **dict.fromkeys(("-fmemory-profile-use=", "-fexperimental-sanitize-metadata-ignorelist="), ""),
    **dict.fromkeys(("-fsanitize-coverage-allowlist=", "-fsanitize-coverage-ignorelist="), ""),
    "-fbasic-block-sections=": "list=",
}


def is_text(name: str) -> bool:
    """Whether the value of option `name` goes into the object and is never opened."""
    return name in _STRINGS and _STRINGS[name].pattern == _TEXT


def is_dropped(name: str, option: ClangOption) -> bool:
    """Whether bitcode needs nothing of the option `name`."""
    if name in _KEPT:
        return False
    return option.sets.startswith(_FRONT_END) or _DROPPED.fullmatch(name) is not None


def is_known_flag(name: str, option: ClangOption) -> bool:
    """Whether the option `name`, which takes a number, an enumerator or nothing, changes nothing but code."""
    if name in _KEPT:
        return True
    if _MORE_THAN_CODE.fullmatch(name):
        return False
    if option.sets:
        return option.sets.startswith(_CODE)
    return option.kind != "Flag" or _PLAIN_FLAG.fullmatch(name) is not None


def is_known_string(name: str, value: str) -> bool:
    """Whether the string option `name` only changes code, with a value of the form that it takes."""
    return name in _STRINGS and _STRINGS[name].fullmatch(value) is not None
