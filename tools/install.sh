#!/bin/sh
# Sets up this clone: a virtual environment, the pinned Python packages and the jars, all inside it.
# Usage: tools/install.sh [--help]   (PYTHON=/path/to/python3 chooses the interpreter)
# Run it again at any time: it does only what is not done yet.
set -eu
cd "$(dirname "$0")/.."

case "${1:-}" in
--help)
    sed -n '2,4s/^# //p' "$0"
    exit 0
    ;;
esac

say() { printf '==> %s\n' "$*"; }
fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

# --- what the machine must have -------------------------------------------------------------

missing=""
lacks() { missing="$missing
  - $1"; }

usable_python() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null
}

find_python() {
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
        if usable_python "$candidate"; then
            printf '%s' "$candidate"
            return
        fi
    done
}

usable_jdk() {
    case "$("$1" -version 2>/dev/null)" in
    "javac 17"* | "javac 21"*) ;;
    *) return 1 ;;
    esac
}

check_machine() {
    case "$PWD" in
    *[[:space:]]*) fail "Java cannot use a folder whose path has a blank: clone into another one than $PWD" ;;
    esac
    python=$(find_python)
    [ -n "$python" ] ||
        lacks "Python 3.11, 3.12 or 3.13 with venv: apt install python3 python3-venv, or pyenv install 3.13"
    usable_jdk javac ||
        lacks "JDK 17 or 21 (javac on PATH): apt install openjdk-17-jdk-headless, or adoptium.net"
    [ -z "${JAVA_HOME:-}" ] || usable_jdk "$JAVA_HOME/bin/javac" ||
        lacks "JDK 17 or 21 in JAVA_HOME, which is $JAVA_HOME: unset it, or set it to such a JDK"
    mvn -version >/dev/null 2>&1 || lacks "Maven 3.8 or later (mvn): apt install maven"
    case "$(CHECKPOINT_DISABLE=1 terraform version 2>/dev/null)" in
    "Terraform v1."1[1-9]* | "Terraform v1."[2-9][0-9]* | "Terraform v"[2-9]*) ;;
    *) lacks "Terraform 1.11 or later (terraform): developer.hashicorp.com/terraform/install" ;;
    esac
    [ -z "$missing" ] || fail "This machine lacks what Penstock needs:$missing
Install these, then run the command again"
}

# --- what goes into the clone ---------------------------------------------------------------

# A stamp holds the hash of what a folder was made from; it is written last, so a cut run is redone.
fingerprint() { sha256sum <"$1" | cut -d' ' -f1; }
is_made_from() { [ -f "$1" ] && [ "$(cat "$1")" = "$(fingerprint "$2")" ]; }

packages_stamp=.venv/.packages
project_stamp=.venv/.project
poms="jars/*/pom.xml localcloud/tests/jars/pom.xml"
jars_folder() {
    case "$1" in
    localcloud/*) printf 'localcloud/.cache/jars/tests' ;;
    *) printf '%s/lib' "${1%/pom.xml}" ;;
    esac
}
jars_stamp() { printf '%s/.jars' "$(jars_folder "$1")"; }

packages_ready() {
    is_made_from "$packages_stamp" requirements.lock && version=$(.venv/bin/python -V 2>&1) &&
        { [ -z "${PYTHON:-}" ] || [ "$version" = "$("$PYTHON" -V 2>&1)" ]; }
}
projects() { cat pyproject.toml localcloud/pyproject.toml | fingerprint /dev/stdin; }
project_ready() { [ -f "$project_stamp" ] && [ "$(cat "$project_stamp")" = "$(projects)" ]; }
jars_ready() { is_made_from "$(jars_stamp "$1")" "$1"; }
decoder_stamp=jars/decoder/lib/.sources
decoder_sources() {
    cat requirements.lock jars/decoder/src/penstock/spark/*.java jars/decoder/src/penstock/spark/*/*.java |
        fingerprint /dev/stdin
}
decoder_ready() {
    [ -f src/penstock/spark/decoding/penstock-decoder.jar ] && [ -f "$decoder_stamp" ] &&
        [ "$(cat "$decoder_stamp")" = "$(decoder_sources)" ]
}
# It names the jars that localcloud fetches itself.
fetched_jars=localcloud/src/localcloud/jars.toml
fetched_stamp=localcloud/.cache/.fetched
localcloud_ready() { is_made_from "$fetched_stamp" "$fetched_jars"; }
provider_stamp=.cache/terraform/.fetched
provider_ready() { is_made_from "$provider_stamp" tools/terraform.py; }
classes_ready() { for archive in localcloud/.cache/spark-classes/*.jsa; do [ -f "$archive" ]; done; }

nothing_to_do() {
    packages_ready && project_ready && decoder_ready && localcloud_ready && classes_ready &&
        provider_ready || return 1
    for pom in $poms; do
        jars_ready "$pom" || return 1
    done
}

# Each process would compile them again where Python writes no bytecode. Packages bring tests, a fifth
# of all, and files for other versions of Python.
compile_modules() { .venv/bin/python -m compileall -qq -j 0 -x 'site-packages/.*/tests?/' "$@" || true; }

install_packages() {
    packages_ready && return
    say "Python packages into .venv ($(grep -c '^[a-z]' requirements.lock) of them, pinned by hash)"
    rm -rf .venv
    "$python" -m venv .venv
    # PySpark comes as source alone. Left to itself, an installer would build it with any newest
    # setuptools, and compress its jars again. uv keeps the wheel that it built for the next time.
    # The lock file names all dependencies; to find them once more, uv would fetch PySpark twice.
    sed -n '/^\(setuptools\|uv\)==/,/[^\\]$/p' requirements.lock |
        .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement /dev/stdin
    .venv/bin/python -m uv pip install --quiet --python .venv/bin/python --no-deps --require-hashes \
        --no-build-isolation --config-settings-package 'pyspark:--build-option=--compression=stored' \
        --requirement requirements.lock
    compile_modules .venv/lib
    fingerprint requirements.lock >"$packages_stamp"
}

# The build backend is in the lock file too, so nothing unpinned is fetched for it.
install_project() {
    project_ready && return
    say "Penstock and localcloud themselves, editable"
    .venv/bin/python -m uv pip install --quiet --python .venv/bin/python \
        --no-build-isolation --no-deps --editable . --editable ./localcloud
    compile_modules src localcloud/src demo
    projects >"$project_stamp"
}

# Compiled against the jars of PySpark and of Spark's Kafka source.
build_decoder() {
    decoder_ready && return
    say "The decoder in Java into src/penstock/spark/decoding"
    .venv/bin/python -m tools.build_decoder >/dev/null
    mkdir -p "${decoder_stamp%/*}"
    decoder_sources >"$decoder_stamp"
}

# One Maven for all of them: its start costs more than what it does.
fetch_jars() {
    stale=""
    for pom in $poms; do
        jars_ready "$pom" && continue
        say "Jars into $(jars_folder "$pom")"
        rm -rf "$(jars_folder "$pom")"
        case "$pom" in
        jars/*) name=${pom#jars/} ;;
        *) name=../$pom ;;
        esac
        stale="${stale:+$stale,}${name%/pom.xml}"
    done
    [ -n "$stale" ] || return 0
    # Without colours too, it writes their escape codes as it ends.
    said=$(MAVEN_OPTS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC ${MAVEN_OPTS:-}" \
        mvn --quiet --batch-mode -Dstyle.color=never --threads 2 --file jars/pom.xml --projects "$stale" \
        initialize dependency:copy-dependencies -DoutputDirectory=lib 2>&1) || fail "$said"
    for pom in $poms; do
        jars_ready "$pom" && continue
        fingerprint "$pom" >"$(jars_stamp "$pom")"
    done
}

fetch_provider() {
    provider_ready && return
    .venv/bin/python -m tools.terraform fetch
    mkdir -p "${provider_stamp%/*}"
    fingerprint tools/terraform.py >"$provider_stamp"
}

# Which archive fits is the tool's to know: it does nothing where there is one.
record_classes() {
    say "The classes that Spark jobs load into localcloud/.cache"
    .venv/bin/python tools/record_classes.py
}

# Its jars, and what the first cluster and the first function would otherwise wait for.
prepare_localcloud() {
    say "What localcloud runs into localcloud/.cache"
    .venv/bin/python -m localcloud fetch >/dev/null
    fingerprint "$fetched_jars" >"$fetched_stamp"
}

case "$(uname -s)/$(uname -m)" in
Linux/x86_64 | Linux/aarch64) ;;
*) fail "Penstock runs on Linux (x86_64, arm64, WSL2 on Windows); this machine is $(uname -s) on $(uname -m)" ;;
esac

if nothing_to_do; then
    exit 0
fi
started=$(date +%s)
check_machine
trap wait EXIT # a failure beside something else ends when that does
fetch_jars &
jars=$!
install_packages
install_project
fetch_provider &
provider=$!
wait "$jars"
build_decoder
.venv/bin/python -m localcloud fetch s3 >/dev/null # what Spark jobs load
record_classes &
classes=$!
prepare_localcloud
wait "$classes"
wait "$provider"
say "Installed in $(($(date +%s) - started)) s"
