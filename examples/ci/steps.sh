#!/usr/bin/env bash
# The steps of github.yml and gitlab.yml, in their order; a tag runs `release`, a schedule `next_llvm`:
#
#     examples/ci/steps.sh configure | test | compare | package | release | next_llvm
#
# Variables of `configure`. It writes user.bazelrc, which Bazel reads in all later steps:
#   CACHE_URL            cache server, such as https://cache.example:8763; empty: no cache
#   CACHE_ACCESS         read (default) or write
#   CACHE_AUTHORIZATION  value of the header Authorization, "Basic ..."; empty: the password of NETRC or ~/.netrc, if there is one
#   CACHE_CERTIFICATE    PEM file of the authority that signed the server's certificate; empty: the machine's authorities
# Variables of `test`:
#   TESTS                what to test; default //...
# Variables of `compare`:
#   PROBLEM              default regalloc_eviction
#   POLICY               folder of the policy to compare; default models/$PROBLEM/policy
#   BASE                 commit whose models/$PROBLEM/policy is the reference; default origin/main
#   CORPUS               default: the held-out corpus of //mlgo:evaluate
#   ALLOWED              how much worse than the reference the policy may be; default 0.1%
# `next_llvm` compiles our C++ with the headers of the next LLVM. It has no variables.
# Variables of `release`, which writes out/ci/release and, from CHANGELOG.md, out/ci/notes.md:
#   TAG                  of the release: v and the version in MODULE.bazel
#
# Results: out/ci. Exit codes: 0 done, 2 a variable is wrong, 12 the policy is worse than allowed, others are Bazel's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# Bazel reads user.bazelrc after .bazelrc: its lines for --config=remote_cache come last, and win.
options=(--config=ci --config=remote_cache)

refuse() {
  echo "steps.sh: $1" >&2
  exit 2
}

configure() {
  local url=${CACHE_URL:-} access=${CACHE_ACCESS:-read} header=${CACHE_AUTHORIZATION:-} certificate=${CACHE_CERTIFICATE:-}
  local line lines=()
  case $access in
    read) lines+=("--noremote_upload_local_results") ;;
    write)
      if [ -n "$url" ] && [ -z "$header" ] && [ ! -e "${NETRC:-$HOME/.netrc}" ]; then
        refuse "CACHE_ACCESS is write, and there is no password: set CACHE_AUTHORIZATION, or write ~/.netrc"
      fi
      ;;
    *) refuse "CACHE_ACCESS is \"$access\": set it to read or write" ;;
  esac
  if [ -n "$url" ]; then
    case $url in
      https://*) lines+=("--remote_cache=$url") ;;
      *) [ -z "$header" ] || refuse "CACHE_URL is not https://..., which would send the password in clear: use https"
        lines+=("--remote_cache=$url") ;;
    esac
    [ -z "$header" ] || lines+=("--remote_header=Authorization=$header")
    [ -z "$certificate" ] || lines+=("--tls_certificate=$certificate")
  fi
  for line in "${lines[@]}"; do
    # A value with one of these would end its line of the file, or the quotes.
    case $line in *[$'\n"\\']*) refuse "a value for ${line%%=*} holds a quote, a backslash or a line end: correct it" ;; esac
  done
  # The file holds the password.
  (umask 077 && rm -f user.bazelrc && : > user.bazelrc)
  [ ${#lines[@]} = 0 ] || printf 'build:remote_cache "%s"\n' "${lines[@]}" >> user.bazelrc
}

test_all() {
  # shellcheck disable=SC2086  # several targets
  ./bazelw test "${options[@]}" ${TESTS:-//...}
}

compare() {
  local problem=${PROBLEM:-regalloc_eviction} base=${BASE:-origin/main} code=0 reference
  local policy=${POLICY:-models/$problem/policy}
  reference=out/ci/reference/models/$problem/policy
  rm -rf out/ci/reference out/ci/evaluation out/ci/comment.md out/ci/comparison.md
  mkdir -p out/ci/reference
  # The checkout may belong to another user than the container's.
  git -c safe.directory='*' archive "$base" "models/$problem/policy" | tar -x -C out/ci/reference
  ./bazelw run "${options[@]}" //mlgo:evaluate -- --problem="$problem" --policy=reference="$reference" --policy=proposed="$policy" \
    ${CORPUS:+--corpus="$CORPUS"} --output_dir=out/ci/evaluation
  ./bazelw run "${options[@]}" //mlgo:report -- out/ci/evaluation --output=out/ci/report.html
  ./bazelw run "${options[@]}" //mlgo:compare -- out/ci/evaluation --output=out/ci/comparison.md \
    --fail_if_worse_than="${ALLOWED:-0.1%}" || code=$?
  [ ! -e out/ci/comparison.md ] || cat out/ci/comparison.md out/ci/report.md > out/ci/comment.md
  return $code
}

package() {
  ./bazelw build "${options[@]}" //release:tarball
  mkdir -p out/ci
  cp -Lf bazel-bin/release/packaging/mlgo-clang-*.tar.gz out/ci/
}

next_llvm() {
  ./bazelw test "${options[@]}" //tests/style:other_major_test
}

release() {
  local version
  version=$(awk -F'"' '/^ *version = / { print $2; exit }' MODULE.bazel)
  [ "${TAG:-}" = "v$version" ] || refuse "TAG is \"${TAG:-}\", and MODULE.bazel has version $version: tag v$version, or change the version"
  mkdir -p out/ci
  awk -v heading="## $version" '/^## / { found = $0 == heading; next } found' CHANGELOG.md > out/ci/notes.md
  [ -s out/ci/notes.md ] || refuse "CHANGELOG.md has no section \"## $version\": write what changed"
  rm -rf out/ci/release
  ./bazelw run "${options[@]}" //release:publish -- --to="$PWD/out/ci/release"
}

case ${1:-} in
  configure) configure ;;
  test) test_all ;;
  compare) compare ;;
  package) package ;;
  release) release ;;
  next_llvm) next_llvm ;;
  *) refuse "\"${1:-}\" is no step: give configure, test, compare, package, release or next_llvm" ;;
esac
