# Shared by the scripts that compile with the clang of PyPI's package ziglang, which has the headers and libraries of
# other systems. Sourced, never run; needs common.sh, debian_sources.sh and pip's index.
# shellcheck shell=bash
# shellcheck disable=SC2154

# cc, c++, ar and ranlib in FOLDER, for TARGET and with FLAGS. Those that are the same stay, or all is compiled anew.
zig_tools() { # folder target [flags...]
  local folder="$1" target="$2" zig="$builds/zig" tool words
  shift 2
  [[ -x "$zig/bin/python" ]] || python3 -m venv "$zig"
  "$zig/bin/python" -m ziglang version >/dev/null 2>&1 ||
    "$zig/bin/pip" install --quiet --disable-pip-version-check 'ziglang==0.17.*' || die "pip could not install ziglang"
  mkdir -p "$folder"
  for tool in cc c++ ar ranlib; do
    words=("$tool")
    [[ "$tool" != c* ]] || words+=(-target "$target" "$@")
    printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$(echo "$zig"/lib/python3*/site-packages/ziglang/zig)" "${words[*]}" >"$folder/$tool.part"
    chmod +x "$folder/$tool.part"
    cmp -s "$folder/$tool.part" "$folder/$tool" || mv "$folder/$tool.part" "$folder/$tool"
    rm -f "$folder/$tool.part"
  done
}

# The sources of what lamina links there (cmake/zig_parts.cmake), once.
zig_sources() { # folder
  local name
  for name in zlib expat; do fetch_source "$1" "$name" "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)"; done
}
