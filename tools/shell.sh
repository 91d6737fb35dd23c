# SPDX-License-Identifier: Apache-2.0
# What ./demo, ./test, .ci/run and tools/setup share: progress lines and the time of each stage.
# Sourced with the checkout as the current folder.

# Compiled objects are found again in another checkout of the same sources.
export CCACHE_BASEDIR=$PWD

stage_times=()

say() { printf '%s\n' "$*"; }

# warn TEXT...: something is missing, but the work goes on.
warn() { printf 'warning: %s\n' "$*" >&2; }

# die TEXT...: the work stops; TEXT says what to do.
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# stage NAME COMMAND...: runs COMMAND under a heading, notes its time, returns its status.
stage() {
  local name=$1 start=$SECONDS status=0
  shift
  printf '\n== %s\n' "$name"
  "$@" || status=$?
  local took=$((SECONDS - start)) result=done
  [[ $status == 0 ]] || result=FAILED
  stage_times+=("$(printf '%5d s  %s%s' "$took" "$name" "$([[ $status == 0 ]] || printf ' (failed)')")")
  printf -- '-- %s: %s in %d s\n' "$name" "$result" "$took"
  return "$status"
}

print_stage_times() {
  printf '\nTime of each stage:\n'
  printf '%s\n' "${stage_times[@]}"
}

# Compilers run at once. More than the cores gains nothing here, and costs memory.
jobs_here() { nproc 2>/dev/null || echo 2; }
