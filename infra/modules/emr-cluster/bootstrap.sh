#!/bin/bash
# Installs the archives of Python packages that it is given, for the driver, which runs as the user hadoop. The first
# word is for Terraform, which makes another cluster when it changes.
set -euo pipefail
shift
target="$HOME/penstock/packages"
mkdir -p "$target"
for archive in "$@"; do
  aws s3 cp --only-show-errors "$archive" "$HOME/penstock/archive.zip" || {
    echo "aws s3 cp of $archive failed: the role of the instances, the endpoint for S3 and EMR's aws must work" >&2
    exit 1
  }
  python3 -m zipfile -e "$HOME/penstock/archive.zip" "$target"
  rm "$HOME/penstock/archive.zip"
done
