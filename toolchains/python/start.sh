%shebang%
# Starts the Python program %target%. Bazel's own start is a Python program, for which a machine needs a python3. This one needs a POSIX
# shell alone and gives the program the same environment. Bazel replaces the names between per cent signs.
program='%main%'
interpreter='%python_binary%'
imports='%imports%:'

fail() {
  echo "$0: $1. Build the program again" >&2
  exit 1
}

# Sets `runfiles`, the folder of the program's files: the caller's if it holds this program, else the one beside this file or around it.
find_runfiles() {
  runfiles=${RUNFILES_DIR:-}
  case $runfiles${RUNFILES_MANIFEST_FILE:-} in
  *.runfiles_manifest | *.runfiles/MANIFEST) runfiles=${runfiles:-${RUNFILES_MANIFEST_FILE%?????????}} ;;
  esac
  [ -z "$runfiles" ] || [ ! -e "$runfiles/$program" ] || return 0
  file=$0
  while :; do
    case $file in
    /*) ;;
    *) file=${PWD%/}/$file ;;
    esac
    runfiles=$file.runfiles
    [ ! -d "$runfiles" ] || return 0
    case $file in
    *.runfiles/*)
      runfiles=${file%.runfiles/*}.runfiles
      return 0
      ;;
    esac
    [ -h "$file" ] || fail "the folder of its files (.runfiles) is not beside it"
    target=$(readlink "$file")
    case $target in
    /*) file=$target ;;
    *) file=${file%/*}/$target ;;
    esac
  done
}

# Appends a folder to `path` unless it is there.
add() {
  case :$path: in
  *:"$1":*) ;;
  *) path=$path:$1 ;;
  esac
}

find_runfiles
[ -r "$runfiles/$program" ] || fail "$runfiles does not hold $program"

path=$runfiles
while [ -n "$imports" ]; do
  [ -z "${imports%%:*}" ] || add "$runfiles/${imports%%:*}"
  imports=${imports#*:}
done
for folder in "$runfiles"/*/; do
  add "${folder%/}"
done
export PYTHONPATH="$path${PYTHONPATH:+:$PYTHONPATH}" PYTHONSAFEPATH=1

# Programs that this one starts find their files through these variables.
if [ -z "${RUNFILES_MANIFEST_FILE:-}${RUNFILES_DIR:-}" ]; then
  if [ -e "${runfiles}_manifest" ]; then
    export RUNFILES_MANIFEST_FILE="${runfiles}_manifest"
  elif [ -e "$runfiles/MANIFEST" ]; then
    export RUNFILES_MANIFEST_FILE="$runfiles/MANIFEST"
  else
    export RUNFILES_DIR="$runfiles"
  fi
fi
exec "$runfiles/$interpreter" "$runfiles/$program" "$@"
