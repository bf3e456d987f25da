#!/bin/sh
# Installs Glee @VERSION@ into ~/.local/bin, or into the folder GLEE_INSTALL_DIR:
#   curl -fsSL @REPOSITORY@/releases/download/v@VERSION@/install.sh | sh
# It downloads one archive, compares its SHA-256 with the one below, and writes one file.
set -eu

fail() {
  printf 'error: %s\n' "$1" >&2
  exit 1
}
digest() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

main() {
  case $(uname -sm) in
@PLATFORMS@
  *) fail "there is no package for $(uname -sm): compile Glee with \`cargo install --locked @NAME@\`" ;;
  esac
  name=@NAME@-v@VERSION@-$target
  into=${GLEE_INSTALL_DIR:-$HOME/.local/bin}
  from=${GLEE_DOWNLOADS:-@REPOSITORY@/releases/download/v@VERSION@}/$name.tar.gz
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  echo "downloading $from"
  curl -fsSL "$from" -o "$folder/archive" || fail "the download failed"
  [ "$(digest "$folder/archive")" = "$sum" ] || fail "the archive has another SHA-256 than $sum: nothing was installed"
  tar -xzf "$folder/archive" -C "$folder"
  mkdir -p "$into"
  # A rename: a running program keeps its file, and nobody sees half of the new one.
  cp "$folder/$name/glee" "$into/.glee.new"
  mv -f "$into/.glee.new" "$into/glee"
  echo "installed $("$into/glee" --version) as $into/glee"
  case :$PATH: in *":$into:"*) ;; *) echo "add $into to your PATH" ;; esac
}

# Nothing runs before the whole script is there.
main
