# Shared by the scripts in this folder: where the repository is, where builds go, how many jobs to use, how to fail.
# Sourced, never run. LAMINA_BUILD_DIR puts all builds elsewhere (a source folder that cannot be written to).
# LAMINA_JOBS sets the number of parallel jobs. LAMINA_SKIP_SETUP=1 leaves the system's packages alone.
# shellcheck shell=bash
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

note() { printf '== %s\n' "$*"; }
warn() { printf 'warning: %s\n' "$*" >&2; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

builds="${LAMINA_BUILD_DIR:-$root/build}"
mkdir -p "$builds" 2>/dev/null && [[ -w "$builds" ]] ||
  die "cannot write to $builds. Name a folder that can be written to: LAMINA_BUILD_DIR=FOLDER scripts/$(basename "$0")"
builds="$(cd "$builds" && pwd)"

# One job a core, but no more than fit into the memory that is free: the largest sources take 1 GiB.
job_memory_kib=$((1024 * 1024))
default_jobs() {
  local cores free_kib limit_bytes jobs
  cores="$(nproc 2>/dev/null || echo 2)"
  free_kib="$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo 2>/dev/null)"
  limit_bytes="$(cat /sys/fs/cgroup/memory.max 2>/dev/null)" || true # of a container
  if [[ "$limit_bytes" =~ ^[0-9]+$ ]] && ((limit_bytes / 1024 < ${free_kib:-$((limit_bytes / 1024 + 1))})); then
    free_kib=$((limit_bytes / 1024))
  fi
  jobs=$((${free_kib:-$((cores * job_memory_kib))} / job_memory_kib))
  ((jobs < cores)) || jobs=$cores
  ((jobs > 0)) || jobs=1
  echo "$jobs"
}
# shellcheck disable=SC2034 # for the scripts that source this
jobs="${LAMINA_JOBS:-$(default_jobs)}"

# The same source in another checkout is the same compilation.
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1
