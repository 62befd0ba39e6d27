#!/usr/bin/env bash
# Packs a release: pack.sh VERSION TARGET FOLDER-OF-BINARIES. Completions and manual pages come from the binary itself.
set -euo pipefail

version="$1" target="$2" binaries="$3"
name="unbroken-$version-$target"
suffix=""
case "$target" in *windows*) suffix=.exe ;; esac
mkdir -p "dist/$name/completions"
cp "$binaries/unbroken$suffix" "$binaries/cargo-unbroken$suffix" LICENSE-APACHE LICENSE-MIT README.md "dist/$name/"
"$binaries/unbroken$suffix" man "dist/$name/man"
for shell in bash zsh fish elvish powershell; do
  "$binaries/unbroken$suffix" completions "$shell" >"dist/$name/completions/unbroken.$shell"
done
tar -czf "dist/$name.tgz" -C dist "$name"
rm -r "dist/${name:?}"
