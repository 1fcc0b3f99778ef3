# Shared by the scripts that make packages: which Debian package a file comes from, and the list of what is in a package
# (SBOM). Sourced, never run; needs $version and the folder $work.
# shellcheck shell=bash
# shellcheck disable=SC2154

architecture="$(dpkg --print-architecture)" # of what is packed

# Where a file may stand in dpkg's lists, which know some below /lib and some below /usr/lib.
spellings_of() { # files...
  local file real
  for file in "$@"; do
    real="$(realpath -m "$file")"
    printf '%s\n' "$file" "$real" "${file#/usr}" "/usr$real"
  done
}

declare -A package_at=()
know_packages() { # files...: asks dpkg once for all of them, as it reads its lists anew each time
  local line
  while IFS= read -r line; do
    package_at["${line#*: }"]="${line%%: *}"
  done < <(spellings_of "$@" | sort -u | xargs -r -d '\n' dpkg-query --search -- 2>/dev/null | grep -v '^diversion by')
}

package_of() { # the Debian package a file comes from, NAME or NAME:ARCHITECTURE
  local name other spelling again
  for again in 0 1; do
    ((!again)) || know_packages "$1"
    while IFS= read -r spelling; do
      name="${package_at["$spelling"]:-}"
      [[ -n "$name" ]] || continue
      for other in ${name//, / }; do # of packages that are there for several processors, that of the wanted one
        [[ "$other" != *":$architecture" ]] || name="$other"
      done
      echo "${name%%, *}"
      return 0
    done < <(spellings_of "$1")
  done
}

# A file of each library that is compiled in.
compiled_in=(/usr/include/hwy/highway.h /usr/include/nlohmann/json.hpp /usr/include/CLI/CLI.hpp
  /usr/include/fast_float/fast_float.h /usr/include/nanoflann.hpp /usr/include/toml++/toml.h /usr/include/fmt/format.h)
[[ ! -e /usr/include/boost/version.hpp ]] || compiled_in+=(/usr/include/boost/version.hpp) # else there is no service

# Debian's sources that a package is compiled of: "NAME=VERSION FILE COPYRIGHT" each.
from_source=()

write_sbom() { # folder, files that are carried
  local folder="$1" file package
  shift
  mkdir -p "$folder"
  know_packages "$@" "${compiled_in[@]}"
  for file in "$@"; do printf 'carried\t%s\t%s\n' "$file" "$(package_of "$file")"; done >"$work/sbom"
  for file in "${compiled_in[@]}"; do printf 'compiled in\t%s\t%s\n' "$file" "$(package_of "$file")"; done >>"$work/sbom"
  for file in "${from_source[@]}"; do
    read -r package file _ <<<"$file"
    printf 'compiled in\t%s\t%s\n' "$file" "$package"
  done >>"$work/sbom"
  scripts/sbom "$version" "$work/sbom" >"$folder/sbom.cdx.json"
}

# What Debian says of a package. For Boost that is 2 MB, so it is what holds for all files.
licence_of() { # package
  if [[ "$1" == libboost* ]]; then
    awk 'BEGIN { RS = "" } /^Files: \*\n/ || /^License: BSL-1.0\n Boost/ { print $0 "\n" }' "/usr/share/doc/$1/copyright"
  else
    cat "/usr/share/doc/$1/copyright"
  fi
}

# lamina's license and those of what is compiled in, in one text: of a file that stands for itself.
write_licences() { # name files...
  local name="$1" file package
  shift
  echo "$name: lamina, whose license comes first, and what is compiled in: the Debian packages that it comes from,"
  echo "unchanged, with their licenses. Their sources are those of Debian, lamina's are public: both can be linked anew."
  cat LICENSE
  know_packages "$@"
  for file in "$@"; do package_of "$(realpath "$file")"; done | sort -u | sed '/^$/d' | while read -r package; do
    dpkg-query -W -f '\n===== ${binary:Package} ${Version} (source: ${source:Package} ${source:Version})\n\n' "$package"
    licence_of "${package%%:*}"
  done
  for file in "${from_source[@]}"; do
    printf '\n===== %s (sources)\n\n' "${file%% *}"
    cat "${file##* }"
  done
}
