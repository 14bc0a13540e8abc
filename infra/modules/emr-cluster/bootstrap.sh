#!/bin/bash
# Installs the archives of Python packages that it is given, for the user hadoop of each instance.
set -euo pipefail
target="$HOME/penstock/packages"
mkdir -p "$target"
for archive in "$@"; do
  aws s3 cp --only-show-errors "$archive" "$HOME/penstock/archive.zip"
  python3 -m zipfile -e "$HOME/penstock/archive.zip" "$target"
  rm "$HOME/penstock/archive.zip"
done
