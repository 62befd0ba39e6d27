#!/usr/bin/env bash
# Brings `unbroken` onto PATH for the steps that follow. A release is used only if its checksum is the published one.
set -euo pipefail

version="${UNBROKEN_VERSION:-source}"
releases="${UNBROKEN_RELEASES:-https://github.com/unbroken-mcp/unbroken/releases/download}"
folder="${RUNNER_TEMP:?}/unbroken"

case "$version" in
  installed)
    unbroken --version
    exit 0
    ;;
  source)
    cargo install --locked --quiet --root "$folder" --path "${GITHUB_ACTION_PATH:?}/cli"
    ;;
  *)
    case "$(uname -s)-$(uname -m)" in
      Linux-x86_64) target=x86_64-unknown-linux-gnu ;;
      Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-gnu ;;
      Darwin-arm64) target=aarch64-apple-darwin ;;
      Darwin-x86_64) target=x86_64-apple-darwin ;;
      *)
        echo "::error title=unbroken::there is no release for $(uname -s) on $(uname -m)%0Aset version to source"
        exit 2
        ;;
    esac
    name="unbroken-v${version#v}-$target"
    mkdir -p "$folder/bin"
    cd "$folder"
    for file in "$name.tgz" SHA256SUMS; do
      curl --fail --silent --show-error --location --retry 3 --output "$file" "$releases/v${version#v}/$file"
    done
    # The line of our file alone: the list names the other targets too.
    if ! grep -F "  $name.tgz" SHA256SUMS | sha256sum --check --status; then
      echo "::error title=unbroken::the checksum of $name.tgz is not the published one"
      exit 2
    fi
    tar -xzf "$name.tgz" --strip-components=1 -C bin
    ;;
esac
"$folder/bin/unbroken" --version
echo "$folder/bin" >>"${GITHUB_PATH:?}"
