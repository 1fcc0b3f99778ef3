# Shared by the scripts in this folder: where the repository is, how many jobs to use, how to fail. Sourced, never run.
# shellcheck shell=bash
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
# shellcheck disable=SC2034 # for the scripts that source this
jobs="${LAMINA_JOBS:-$(nproc 2>/dev/null || echo 2)}"

# The same source in another checkout is the same compilation.
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1

note() { printf '== %s\n' "$*"; }
warn() { printf 'warning: %s\n' "$*" >&2; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}
