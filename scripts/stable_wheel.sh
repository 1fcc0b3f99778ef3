# Shared by the scripts that make the Python package for another system: what its module is compiled with, and what its
# wheel has beside it. Sourced, never run; needs common.sh, package_parts.sh, debian_sources.sh and pip's index.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154

# What is needed; `stable_options` then says to CMake where it is (cmake/stable_module.cmake).
prepare_stable_module() { # folder of sources
  stable_tools="$builds/stable-tools"
  fetch_source "$1" python3.13 trixie
  [[ -x "$stable_tools/bin/python" ]] || {
    python3 -m venv "$stable_tools"
    "$stable_tools/bin/pip" install --quiet --disable-pip-version-check 'nanobind>=3.1' 'scikit-build-core>=1.0'
  }
  stable_options=(-DLAMINA_STABLE_PYTHON="$1/python3.13"
    -DLAMINA_STABLE_NANOBIND="$("$stable_tools/bin/python" -c 'import nanobind, os; print(os.path.dirname(nanobind.__file__))')")
}

# Adds to what a package says that it is compiled of: Debian's sources NAME in FOLDER, or PyPI's package of a virtual
# environment.
of_source() { # folder name file
  from_source+=("$2=$(dpkg-parsechangelog -l "$1/$2/debian/changelog" -S Version) $1/$2/$3 $1/$2/debian/copyright")
}
of_pypi() { # environment name file license; the license stands below dist-info
  local packages version facts
  packages="$(echo "$1"/lib/python3*/site-packages)"
  facts="$(echo "$packages/$2"-*.dist-info)"
  version="$(sed -n 's/^Version: //p' "$facts/METADATA")"
  from_source+=("$2==$version $packages/$3 $facts/licenses/$4")
}

# The wheel of FOLDER's lamina and lamina_program into OUT, with types and help of the wheel for Linux that is there;
# `stable_wheel` is its name.
make_stable_wheel() { # platform folder out version sources
  local platform="$1" folder="$2" out="$3" version="$4" types
  of_source "$5" python3.13 Include/Python.h
  of_pypi "$stable_tools" nanobind nanobind/src/nb_combined.cpp LICENSE
  mkdir -p "$folder/information/licenses"
  write_sbom "$folder/information/sboms"
  write_licences "lamina for Python" "${compiled_in[@]}" >"$folder/information/licenses/licences.txt"
  mapfile -t types < <(compgen -G "$out/lamina-$version-*manylinux*_x86_64.whl" | tail -n 1)
  ((${#types[@]})) || warn "the wheel has no types of its module and no pages: make the one for Linux first (scripts/package wheel)"
  "$stable_tools/bin/python" scripts/stable_wheel.py "$folder" "$platform" "$folder" "${types[@]}" >/dev/null
  advzip --recompress --shrink-insane --quiet "$folder"/*.whl # Zopfli: any unzip reads it
  stable_wheel="$out/$(basename "$folder"/*.whl)"
  mv "$folder"/*.whl "$out/"
  echo "$stable_wheel"
}
