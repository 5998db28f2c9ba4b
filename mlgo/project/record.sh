#!/bin/sh
# Stands in front of clang, clang++, ld and ar while `mlgo` runs a build; scripts with the names of compilers read this file.
# mlgo/project/recording.py sets the variables, and reads what is written.
#   MLGO_BIN           folder of clang
#   MLGO_CC, MLGO_CXX  the machine's own compilers, for commands that clang refuses; may be empty
#   MLGO_ASKED         the compiler that the build named by its path (started_compilers.c); takes their place
#   MLGO_PATH          PATH without the scripts
#   MLGO_ALIVE         folder that is there until `mlgo` ends
#   MLGO_LINKS         folder of the scripts
#   MLGO_RECORDER      this file, set by the scripts
#   MLGO_LLD           options with which clang links by lld
#   MLGO_LENIENT       set where the machine's compiler takes C that clang refuses, such as calls of undeclared functions
#   MLGO_NO_OPENMP     set where the machine has no library for clang's -fopenmp: its own compiler takes such commands
#   MLGO_RECORD        folder of records; empty: none
#   MLGO_CONFIG        file for --config=; empty: none
name=${0##*/}
case $name in
*++*) tool=clang++ other=${MLGO_CXX-} ;;
ld | *-ld) tool=ld other= ;;
ar | *-ar | *-ar-[0-9]*) tool=ar other= ;;
*) tool=clang other=${MLGO_CC-} ;;
esac
linker=$name
if [ -n "${MLGO_ASKED-}" ]; then
    other=$MLGO_ASKED
    linker=$MLGO_ASKED
    unset MLGO_ASKED
fi
if [ -z "${MLGO_BIN-}" ]; then
    # Outside of `mlgo`, in a build folder that was configured with it.
    own=$(readlink -f "${MLGO_RECORDER:-$0}")
    case $tool in
    ld) tool=ld.lld ;;
    ar) tool=llvm-ar ;;
    esac
    exec "${own%/*}/../../../bin/$tool" "$@"
fi
if [ -n "${MLGO_NESTED-}" ]; then
    case $tool in ld | ar) PATH=$MLGO_PATH exec "$linker" "$@" ;; esac
    exec "$MLGO_BIN/$tool" "$@"
fi
# A server that the build started, such as sccache's, lives longer than `mlgo`.
if [ -n "${MLGO_ALIVE-}" ] && [ ! -d "$MLGO_ALIVE" ]; then
    # shellcheck disable=SC2086
    PATH=$MLGO_PATH exec ${other:-$linker} "$@"
fi
# A cross compiler: clang is told its architecture, and what it refuses is for that compiler.
target=
case $tool,$name in
ld,* | ar,*) ;;
*,aarch64-linux-gnu-g* | *,riscv64-linux-gnu-g*)
    target=--target=${name%-g*}
    [ "$linker" != "$name" ] || other=$name
    set -- "$target" "$@"
    ;;
esac
# The linker of the machine needs a plug-in of this LLVM for objects of -flto. gcc finds its own.
lto=
case "$tool $* " in
ld' '* | ar' '* | *' -fuse-ld='* | *' --ld-path='* | *' -fno-lto '*) ;;
*' -flto '* | *' -flto='*) lto=yes ;;
*' -c '* | *' -E '* | *' -S '*) ;;
*)
    # gcc also links them without -flto. Of the objects the first tells; bitcode begins with BC.
    begin=
    for word; do
        case $word in *.o)
            [ ! -f "$word" ] || IFS= read -r begin <"$word"
            break
            ;;
        esac
    done 2>/dev/null
    case $begin in BC*) lto=yes ;; esac
    ;;
esac
by_lld="--start-no-unused-arguments ${MLGO_LLD-} --end-no-unused-arguments"
[ -z "$lto" ] || lto=$by_lld
# Objects that a link is given by their paths are kept: rustc and others remove what they made themselves.
keep_objects() {
    for word; do
        shift
        case $word in */../*) ;; /*.o) set -- "$@" "$word" ;; esac
    done
    mkdir -p "$MLGO_RECORD/objects"
    cp -l --parents -t "$MLGO_RECORD/objects" "$@" || for word; do
        # On another file system.
        case $word in "${TMPDIR:-/tmp}"/*) cp --parents -t "$MLGO_RECORD/objects" "$word" ;; esac
    done
}
record=/dev/null
if [ -n "${MLGO_RECORD-}" ]; then
    case "$tool $* " in
    ld' '* | ar' '* | *' -c '* | *' -E '* | *' -S '*) ;;
    *' /'*.o' '*) keep_objects "$@" 2>/dev/null ;;
    esac
    # A number of a process is in use once at a time, and records are appended.
    record=$MLGO_RECORD/$$
    {
        printf '%s\0' mlgo-record-1 "$tool" "$PWD"
        (
            # These words are meant to be split.
            # shellcheck disable=SC2086
            set -- $lto "$@"
            printf '%s\0' $# "$@"
        )
        # Folders that the build gives to its compilers without options.
        for each in ${CPATH:+CPATH} ${C_INCLUDE_PATH:+C_INCLUDE_PATH} ${CPLUS_INCLUDE_PATH:+CPLUS_INCLUDE_PATH} \
            ${LIBRARY_PATH:+LIBRARY_PATH}; do
            eval "printf '%s\0' folders $each \"\$$each\""
        done
        case " $*" in *' @'* | *' -Wl,@'*)
            for word; do
                file=${word#-Wl,}
                case $file in @*)
                    if [ -f "${file#@}" ]; then
                        printf '%s\0' response "${file#@}"
                        cat "${file#@}"
                        printf '\0'
                    fi
                    ;;
                esac
            done
            ;;
        esac
    } 2>/dev/null >>"$record"
fi

run_clang() {
    # shellcheck disable=SC2086
    "$MLGO_BIN/$tool" ${MLGO_CONFIG:+"--config=$MLGO_CONFIG"} $debug $only $old "$@"
}

# Some links cannot have the options: -fuse-ld=gold, or objects of -flto that ld -r has merged.
run_without_config() {
    config=$MLGO_CONFIG
    MLGO_CONFIG=
    rewind
    # shellcheck disable=SC2086
    if run_clang $lto "$@" 2>/dev/null; then
        code=0
        echo "mlgo: clang refuses this command with ${config##*/}, and runs it without" >&2
    fi
    MLGO_CONFIG=$config
}

# The machine's own compiler.
run_other() {
    by=${for_other:-other}
    [ -z "$target" ] || shift
    rewind
    # Words such as "ccache gcc -m64" are meant to be split.
    # shellcheck disable=SC2086
    PATH=$MLGO_PATH $other "$@"
    code=$?
    return $code
}

checked_by_other() {
    [ -z "$target" ] || shift
    # shellcheck disable=SC2086
    PATH=$MLGO_PATH $other "$@" -fsyntax-only
}

# As gcc would take the command: without options that only gcc has; and where gcc takes it, without the errors that clang
# makes of warnings. What changes the meaning of a program stays, and is refused again.
run_as_gcc_would() {
    unknown=$("$MLGO_BIN/$tool" '-###' "$@" 2>&1 </dev/null | sed -n \
        -e "s/.*error: unknown argument:\{0,1\} '\(-[^']*\)'.*/\1/p" \
        -e "s/.*error: unsupported option '\(-pass-exit-codes\)'.*/\1/p" \
        -e "s/.*error: unsupported argument '\([0-9]*\)' to option '-flto='.*/-flto=\1/p")
    more=
    # An archive, a library or a response file may have objects of -flto too.
    case "$lto $* " in *-start-no-unused* | *' -c '* | *' -S '* | *' -fuse-ld='* | *' --ld-path='*) ;;
    *)
        if LC_ALL=C "$MLGO_BIN/$tool" "$@" 2>&1 </dev/null | grep -q 'file format not recognized'; then
            lto=$by_lld
            ! run_without_unknown "$@" || return 0
            lto=
        fi
        ;;
    esac
    if [ -n "$unknown" ] && run_without_unknown "$@"; then
        return
    fi
    case " $* " in *' -c '* | *.[cCi]' '* | *.c[cp]' '* | *.c[px+][px+]' '*)
        rewind
        if ! checked_by_other "$@"; then
            by=other
            return
        fi
        ;;
    esac
    # GNU as takes instructions and options of -Wa, that clang's own assembler does not know.
    for more in -Wno-everything '-Wno-everything -fno-integrated-as'; do
        ! run_without_unknown "$@" 2>/dev/null || return 0
    done
}

run_without_unknown() {
    dropped=
    for word; do
        shift
        case "
$unknown
" in *"
$word
"*)
            case $word in
            -flto=*)
                dropped="$dropped $word"
                word=-flto
                ;;
            -f*charset* | -f*exceptions* | -ffixed-* | -fcall-* | -fplugin* | -f*struct* | -fhard* | -fstrub*) return 1 ;;
            -fopenacc* | -fgnu-tm | -fsignaling-nans | -fsingle-precision-constant | -f*underscor*) return 1 ;;
            -f* | -m*-split-unaligned-* | -mstringop-strategy=* | -minline-*-stringops* | -mbranch-cost=* | -pass-exit-codes)
                dropped="$dropped $word"
                continue
                ;;
            esac
            ;;
        esac
        set -- "$@" "$word"
    done
    # shellcheck disable=SC2086
    set -- $lto "$@" $more
    rewind
    {
        printf 'before\0'
        times
        printf '\0again\0'
        printf '%s\0' $# "$@"
    } 2>/dev/null >>"$record"
    run_clang "$@" || return 1
    code=0
}

# A question of configure, CMake, meson or Kbuild is answered by clang alone, and as without the options of mlgo.cfg, so
# that a folder is configured as the one that was measured.
question=
case "$PWD/ $* " in
*' conftest'* | */conftest[.0-9]* | */dev/null*) question=yes ;;
*CMakeFiles/CMakeTmp* | *CMakeFiles/CMakeScratch* | */CompilerId* | *meson-private*) question=yes ;;
*'-Wl,--version '* | *'-Wl,-v '*) question=yes ;;
esac
[ -z "$question" ] || MLGO_CONFIG=
# Objects are merged as they are; nothing is unused yet.
case " $* " in *' -r '* | *' --relocatable '* | *' -Wl,-r '*) MLGO_CONFIG= ;; esac

# A source that is read from the standard input is kept for a second compiler.
input=
case "$tool $* " in
ld' '* | ar' '*) ;;
*' - '* | *' /dev/stdin '* | *' /dev/fd/0 '*) input=$(mktemp) && cat >"$input" ;;
esac
rewind() {
    [ -z "$input" ] || exec <"$input"
}
rewind

# Where a build starts its compilers without PATH, a shell has one of its own, and clang looks for the linker there.
export MLGO_NESTED=1 PATH
by=clang
for_other=
case "${MLGO_NO_OPENMP:+ $* }" in *' -fopenmp '*) for_other=${other:+other} ;; esac
# Paths and tools of the machine have the name that gcc gives it; clang has another or none. Some questions are gcc's alone.
case " $* " in
*' -dumpmachine '* | *-print-multiarch' '* | *-print-multi-os-directory' '*) for_other=${other:+other} ;;
*' -dumpfullversion '* | *' -dumpspecs '* | *-print-sysroot* | *' --help='* | *' --target-help '*) for_other=${other:+other} ;;
# What is read from a pipe of the shell, <(...), is there once, for the compiler that takes all that the build has; and
# where /dev/stdout is a file, root's clang replaces the link itself, and nothing is written.
*' /dev/fd/'[1-9]* | *' /dev/stdout '* | *' /dev/stderr '*) for_other=${other:+other} ;;
esac
# CMake asks gcc so for the C++20 modules of a source, in a folder that was configured with it.
case " $* " in *' -E '*-fdeps-format=* | *-fdeps-format=*' -E '*) for_other=${other:+other} ;; esac
# Kbuild asks clang for other options than gcc, which has to make modules of a kernel that gcc has made.
if [ -f include/config/auto.conf ] && grep -q '^CONFIG_CC_IS_GCC=y' include/config/auto.conf; then
    for_other=${other:+gcc}
fi
if [ $tool = ld ] || [ $tool = ar ]; then
    by=$tool
    PATH=$MLGO_PATH "$linker" "$@"
elif [ -n "$for_other" ]; then
    run_other "$@"
else
    # Debian's dwz, which packages run, cannot read the .debug_addr of clang's DWARF 5.
    debug=${DEB_HOST_ARCH:+-fdebug-default-version=4}
    # Options of links in the file are inputs; a header that is precompiled without -c has no other, or clang refuses it.
    only=
    case "${MLGO_CONFIG:+ $* }" in
    *' -c '* | *-include-pch*) ;;
    *-header' '* | *.gch' '* | *.pch' '*) only=-c ;;
    *' -o '* | *.[coa]' '* | *.c[cpx+]*' '*) ;;
    *.h' ' | *.hh' ' | *.hpp' ' | *.hxx' ') only=-c ;;
    esac
    # Checks of old configure scripts call what they do not declare.
    old=
    [ "$tool${MLGO_LENIENT:+ yes}" != 'clang yes' ] || for each in function-declaration int; do
        old="$old -Wno-error=implicit-$each"
    done
    # A build may give assembly to GNU as, which does not know all that clang's own assembler does.
    case " $* " in *' -S '*) old="$old -fno-integrated-as" ;; esac
    # shellcheck disable=SC2086
    run_clang $lto "$@"
fi
code=$?
# qmake reads the folders of libraries in what gcc -E -v prints; clang prints those of headers alone.
case "$by, $* " in clang,*' -E '*)
    case " $* " in *' -v '*)
        "$MLGO_BIN/$tool" -print-search-dirs | sed -n 's/^libraries: =/LIBRARY_PATH=/p' >&2
        ;;
    esac
    ;;
esac
is_made=
if [ $code -ne 0 ] && [ -z "$question" ]; then
    case "$tool $* " in
    ld' '* | ar' '*) ;;
    *' -c '* | *' -o '*) is_made=yes ;;
    *' -E '* | *' -S '* | *' -M '* | *' -MM '* | *' -fsyntax-only '*) ;;
    *.[cCoa]' '* | *.c[cpx+]*' '*) is_made=yes ;;
    esac
fi
[ -z "$is_made" ] || [ $by != clang ] || [ -z "${MLGO_CONFIG-}" ] || run_without_config "$@"
if [ -n "$is_made" ] && [ $code -ne 0 ] && [ $by = clang ] && [ -n "$other" ]; then
    # The build may name another than CC.
    case "$0,$other" in
    "${MLGO_LINKS:-/absent}/$name,$name") ;;
    "${MLGO_LINKS:-/absent}/$name,${MLGO_CC-}" | "${MLGO_LINKS:-/absent}/$name,${MLGO_CXX-}")
        ! PATH=$MLGO_PATH command -v "$name" >/dev/null || other=$name
        ;;
    esac
    run_as_gcc_would "$@"
    if [ $code -eq 0 ]; then
        echo "mlgo: clang runs this command now${dropped:+ without$dropped}${more:+, and takes what '$other' takes}" >&2
    fi
    if [ $code -ne 0 ] && [ $by = clang ]; then
        echo "mlgo: clang refuses this command; '$other' runs it" >&2
        case " $* " in *' -fprofile-use'*)
            ! "$MLGO_BIN/$tool" "$@" -fsyntax-only 2>&1 </dev/null | grep -q 'reading profile' ||
                echo "mlgo: clang reads no profile of gcc's (.gcda), and programs that it instruments write none" >&2
            ;;
        esac
        run_other "$@"
    fi
fi
[ -z "$input" ] || rm -f "$input"
{
    printf '%s\0' "done" $code $by
    times
    printf '\0end\0'
} 2>/dev/null >>"$record"
exit $code
