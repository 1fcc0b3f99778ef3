# Shared by the scripts that compile Debian's sources for another system: fetches them. Sourced, never run; needs
# dpkg-dev.
# shellcheck shell=bash

# The sources of NAME in SUITE, with Debian's patches, in FOLDER/NAME, once; apt checks who signed them. A mirror may
# lack the newest version, so then an older one is taken.
fetch_source() { # folder name suite
  local folder="$1" name="$2" suite="$3" lists targets keys version options
  [[ ! -e "$folder/$name/debian/changelog" ]] || return 0
  lists="$folder/$suite"
  rm -rf "${folder:?}/$name"
  mkdir -p "$lists/lists/partial"
  keys="/usr/share/keyrings/$(sed -n 's/^ID=//p' /etc/os-release)-archive-keyring.gpg"
  # The release before its security updates: apt asks the first archive that lists a version. That of updates lists
  # some that it has no more.
  targets="$(apt-get indextargets --format "deb-src [signed-by=$keys] \$(REPO_URI) \$(RELEASE) main" 'Created-By: Packages' 'Component: main' | sort -u | sort -s -k4,4)"
  if ! grep -E " $suite(-[a-z]+)? main$" <<<"$targets" >"$lists/sources.list"; then # a release that this system is not of
    sed -nE "/-security main$/!{s/ [^ ]+ main$/ $suite main/p;q}" <<<"$targets" >"$lists/sources.list"
  fi
  options=(-qq -o "Dir::Etc::SourceList=$lists/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$lists/lists"
    -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update 2>/dev/null || true # a list that a mirror lacks
  for version in $(apt-cache "${options[@]:1}" showsrc "$name" 2>/dev/null | sed -n 's/^Version: //p' | sort -rV); do
    rm -rf "$lists/unpacked" && mkdir "$lists/unpacked"
    (cd "$lists/unpacked" && apt-get "${options[@]}" source "$name=$version" >/dev/null 2>&1) && break
    warn "$name $version cannot be had from this mirror"
  done
  compgen -G "$lists/unpacked/*/" >/dev/null || die "Debian's sources of $name ($suite) cannot be had. Unpack them into $folder/$name, with their folder debian"
  mv "$lists"/unpacked/*/ "$folder/$name"
  rm -rf "$lists/unpacked"
}
