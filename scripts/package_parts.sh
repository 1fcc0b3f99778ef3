# Shared by the scripts that make packages: which Debian package a file comes from, and the list of what is in a package
# (SBOM). Sourced, never run; needs $version and the folder $work.
# shellcheck shell=bash
# shellcheck disable=SC2154

package_of() { # the Debian package a file comes from
  local name
  name="$(dpkg -S "$1" 2>/dev/null || dpkg -S "$(realpath "$1")" 2>/dev/null || dpkg -S "${1#/usr}" 2>/dev/null ||
    dpkg -S "/usr$(realpath "$1")" 2>/dev/null)" || return 0
  name="${name%%: *}"
  echo "${name%%:*}"
}

# A file of each library that is compiled in.
compiled_in=(/usr/include/hwy/highway.h /usr/include/nlohmann/json.hpp /usr/include/CLI/CLI.hpp
  /usr/include/fast_float/fast_float.h /usr/include/nanoflann.hpp /usr/include/toml++/toml.h)

# Debian's sources that a package is compiled of: "NAME=VERSION FILE COPYRIGHT" each.
from_source=()

write_sbom() { # folder, files that are carried
  local folder="$1" file package
  shift
  mkdir -p "$folder"
  for file in "$@"; do printf 'carried\t%s\t%s\n' "$file" "$(package_of "$file")"; done >"$work/sbom"
  for file in "${compiled_in[@]}"; do printf 'compiled in\t%s\t%s\n' "$file" "$(package_of "$file")"; done >>"$work/sbom"
  for file in "${from_source[@]}"; do
    read -r package file _ <<<"$file"
    printf 'compiled in\t%s\t%s\n' "$file" "$package"
  done >>"$work/sbom"
  scripts/sbom "$version" "$work/sbom" >"$folder/sbom.cdx.json"
}

# lamina's license and those of what is compiled in, in one text: of a file that stands for itself.
write_licences() { # name files...
  local name="$1" file package
  shift
  echo "$name: lamina, whose license comes first, and what is compiled in: the Debian packages that it comes from,"
  echo "unchanged, with their licenses. Their sources are those of Debian, lamina's are public: both can be linked anew."
  cat LICENSE
  for file in "$@"; do package_of "$(realpath "$file")"; done | sort -u | sed '/^$/d' | while read -r package; do
    [[ -z "$(dpkg-query -W -f '${Architecture}' "$package:$(dpkg --print-architecture)" 2>/dev/null)" ]] || package+=":$(dpkg --print-architecture)"
    dpkg-query -W -f '\n===== ${binary:Package} ${Version} (source: ${source:Package} ${source:Version})\n\n' "$package"
    cat "/usr/share/doc/${package%%:*}/copyright"
  done
  for file in "${from_source[@]}"; do
    printf '\n===== %s (sources)\n\n' "${file%% *}"
    cat "${file##* }"
  done
}
