#!/usr/bin/env bash
# Runs the pinned clang-format where the user stands.
set -eu
program=$(realpath "$CLANG_FORMAT")
LD_LIBRARY_PATH=$(dirname "$(realpath "${LIBRARIES%% *}")")
export LD_LIBRARY_PATH
cd "$BUILD_WORKING_DIRECTORY"
exec "$program" "$@"
