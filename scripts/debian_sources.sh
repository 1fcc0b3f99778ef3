# Shared by the scripts that compile for another system: fetches Debian's sources, and its emscripten. Sourced, never
# run; needs dpkg-dev.
# shellcheck shell=bash

# Lists of SUITE in FOLDER; `options` then has what apt needs to see them alone. KIND: deb or deb-src.
lists_of() { # kind suite folder
  local kind="$1" suite="$2" lists="$3" keys targets
  mkdir -p "$lists/lists/partial"
  keys="/usr/share/keyrings/debian-archive-keyring.gpg"
  [[ -e "$keys" ]] || keys="/usr/share/keyrings/$(sed -n 's/^ID=//p' /etc/os-release)-archive-keyring.gpg"
  # The release before its security updates: apt asks the first archive that lists a version. That of updates lists
  # some that it has no more.
  targets="$(apt-get indextargets --format "$kind [signed-by=$keys] \$(REPO_URI) \$(RELEASE) main" 'Created-By: Packages' 'Component: main' | sort -u | sort -s -k4,4)"
  if ! grep -E " $suite(-[a-z]+)? main$" <<<"$targets" >"$lists/sources.list"; then # a release that this system is not of
    sed -nE "/-security main$/!{s/ [^ ]+ main$/ $suite main/p;q}" <<<"$targets" >"$lists/sources.list"
  fi
  options=(-qq -o "Dir::Etc::SourceList=$lists/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$lists/lists"
    -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update 2>/dev/null || true # a list that a mirror lacks
}

# The sources of NAME in SUITE, with Debian's patches, in FOLDER/NAME, once; apt checks who signed them. A mirror may
# lack the newest version, so then an older one is taken.
fetch_source() { # folder name suite
  local folder="$1" name="$2" suite="$3" lists version options
  [[ ! -e "$folder/$name/debian/changelog" ]] || return 0
  lists="$folder/$suite"
  rm -rf "${folder:?}/$name"
  lists_of deb-src "$suite" "$lists"
  for version in $(apt-cache "${options[@]:1}" showsrc "$name" 2>/dev/null | sed -n 's/^Version: //p' | sort -rV); do
    rm -rf "$lists/unpacked" && mkdir "$lists/unpacked"
    (cd "$lists/unpacked" && apt-get "${options[@]}" source "$name=$version" >/dev/null 2>&1) && break
    warn "$name $version cannot be had from this mirror"
  done
  compgen -G "$lists/unpacked/*/" >/dev/null || die "Debian's sources of $name ($suite) cannot be had. Unpack them into $folder/$name, with their folder debian"
  mv "$lists"/unpacked/*/ "$folder/$name"
  rm -rf "$lists/unpacked"
}

# Debian 13's emscripten in FOLDER, once: its packages are unpacked, not installed, and its programs take the libraries
# there. Older ones have no threads with exceptions (docs/decisions/0104-web-threads.md). Needs patchelf.
fetch_emscripten() { # folder
  local folder="$1" options system="$1/usr/lib/x86_64-linux-gnu" share="$1/usr/share/emscripten" program
  [[ ! -e "$folder/ready" ]] || return 0
  note "fetching emscripten of Debian 13 into $folder (400 MB)"
  rm -rf "$folder" && mkdir -p "$folder/lists/archives/partial"
  lists_of deb trixie "$folder/lists"
  : >"$folder/lists/status" # nothing is installed
  apt-get "${options[@]}" -o "Dir::State::status=$folder/lists/status" -o "Dir::Cache=$folder/lists" -o APT::Install-Recommends=0 \
    -o Debug::NoLocking=1 --yes --download-only install emscripten >/dev/null || die "emscripten of Debian 13 cannot be had"
  for program in "$folder"/lists/archives/*.deb; do dpkg-deb --extract "$program" "$folder"; done
  rm -rf "$folder/lists"
  for program in "$folder"/usr/lib/llvm-*/bin/* "$folder"/usr/bin/wasm-*; do
    [[ -L "$program" || "$(head -c 4 "$program")" != $'\x7fELF' ]] ||
      patchelf --set-interpreter "$folder/usr/lib64/ld-linux-x86-64.so.2" --force-rpath --set-rpath "$system" "$program"
  done
  sed -i "s|'/usr/bin' #|'$folder/usr/bin' #|; s|'/usr' #|'$folder/usr' #|; s|'/usr/bin/node'|'$(command -v node)'|" "$share/.emscripten"
  ln -s ../nodejs "$share/node_modules"
  touch "$folder/ready"
}
