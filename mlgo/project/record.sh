#!/bin/sh
# Stands in front of clang, clang++ and ld while `mlgo` runs a build; links to this file have the names of compilers.
# mlgo/project/recording.py sets the variables, mlgo/project/records.py reads what is written.
#   MLGO_BIN           folder of clang
#   MLGO_CC, MLGO_CXX  the machine's own compilers, for commands that clang refuses; may be empty
#   MLGO_ASKED         the compiler that the build named by its path (started_compilers.c); takes their place
#   MLGO_PATH          PATH without the links to this file
#   MLGO_RECORD        folder of records; empty: none
#   MLGO_CONFIG        file for --config=; empty: none
name=${0##*/}
case $name in
*++*) tool=clang++ other=${MLGO_CXX-} ;;
ld | *-ld) tool=ld other= ;;
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
    own=$(readlink -f "$0")
    [ $tool != ld ] || tool=ld.lld
    exec "${own%/*}/../../../bin/$tool" "$@"
fi
if [ $tool = ld ]; then
    [ -z "${MLGO_NESTED-}" ] || PATH=$MLGO_PATH exec "$linker" "$@"
else
    [ -z "${MLGO_NESTED-}" ] || exec "$MLGO_BIN/$tool" "$@"
fi
# The linker of the machine needs a plug-in of this LLVM for objects of -flto. gcc finds its own.
lto=
case "$tool $* " in
ld' '* | *' -fuse-ld='* | *' --ld-path='* | *' -fno-lto '*) ;;
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
[ -z "$lto" ] || lto='--start-no-unused-arguments -fuse-ld=lld --end-no-unused-arguments'
record=/dev/null
if [ -n "${MLGO_RECORD-}" ]; then
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
        case " $*" in *' @'*)
            for word; do
                case $word in @*)
                    if [ -f "${word#@}" ]; then
                        printf '%s\0' response "${word#@}"
                        cat "${word#@}"
                        printf '\0'
                    fi
                    ;;
                esac
            done
            ;;
        esac
    } 2>/dev/null >>"$record"
fi
export MLGO_NESTED=1
by=clang
if [ $tool = ld ]; then
    by=ld
    PATH=$MLGO_PATH "$linker" "$@"
else
    # Debian's dwz, which packages run, cannot read the .debug_addr of clang's DWARF 5.
    debug=${DEB_HOST_ARCH:+-fdebug-default-version=4}
    # Options of links in the file are inputs; a header that is precompiled without -c has no other, or clang refuses it.
    only=
    case "${MLGO_CONFIG:+ $* }" in
    *' -c '* | *-include-pch*) ;;
    *-header' '* | *.gch' '* | *.pch' '*) only=-c ;;
    esac
    "$MLGO_BIN/$tool" ${MLGO_CONFIG:+"--config=$MLGO_CONFIG"} $debug $only $lto "$@"
fi
code=$?
if [ $code -ne 0 ] && [ -n "$other" ]; then
    # A question of configure, CMake, meson or Kbuild is answered by clang alone.
    case "$PWD/ $*" in
    *conftest* | *CMakeFiles/CMakeTmp* | *CMakeFiles/CMakeScratch* | *meson-private* | */dev/null* | *' -E '*) ;;
    *' -c '* | *' -o '*)
        echo "mlgo: clang refuses this command; '$other' runs it" >&2
        by=other
        # Words such as "ccache gcc -m64" are meant to be split.
        # shellcheck disable=SC2086
        PATH=$MLGO_PATH $other "$@"
        code=$?
        ;;
    esac
fi
{
    printf '%s\0' "done" $code $by
    times
    printf '\0end\0'
} 2>/dev/null >>"$record"
exit $code
