#!/bin/sh
# Looks for unsafe settings in infra with checkov, offline. Quiet when there are none.
# Usage: tools/checkov.sh [--help] [WORD...]   (WORDs go to checkov, such as --check CKV_AWS_18)
# A waiver is a comment in the resource: # checkov:skip=ID:reason
# checkov pins packages that Penstock needs in other versions: it has an environment of its own,
# .cache/checkov, made from tools/checkov.lock. To renew the lock, see `make lock`.
set -eu
cd "$(dirname "$0")/.."

case "${1:-}" in
--help)
    sed -n '2,6s/^# //p' "$0"
    exit 0
    ;;
esac

home=.cache/checkov
wanted=$(sha256sum <tools/checkov.lock)

if [ "$(cat "$home/.packages" 2>/dev/null)" != "$wanted" ]; then
    printf '==> checkov into %s\n' "$home"
    rm -rf "$home"
    .venv/bin/python -m venv "$home"
    "$home/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes \
        --requirement tools/checkov.lock
    # Written last, so that a cut run is done again.
    printf '%s' "$wanted" >"$home/.packages"
fi

# Modules are checked by themselves: what is fetched for a call would come from the internet.
said=$("$home/bin/python" -W ignore "$home/bin/checkov" --directory infra --framework terraform \
    --download-external-modules false --skip-download --skip-results-upload --compact --quiet \
    "$@" 2>&1) || {
    printf '%s\n' "$said" >&2
    exit 1
}
