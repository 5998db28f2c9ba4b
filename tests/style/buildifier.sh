#!/usr/bin/env bash
# Runs the pinned buildifier where the user stands.
set -eu
program=$(realpath "$BUILDIFIER")
cd "$BUILD_WORKING_DIRECTORY"
exec "$program" "$@"
