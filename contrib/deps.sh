#!/bin/sh
# deps.sh build|test|long: install the Debian packages that are missing. Prints
# nothing and needs no root when all are there.
set -eu

build="autoconf automake gcc make pkg-config libc6-dev libfcgi-dev libyajl-dev
libsqlite3-dev libgnutls28-dev libpcre2-dev perl curl openssl ca-certificates"
# procps: ps for tests that look at threads. npm brings the Node that the
# JavaScript tests then replace by the one pinned in t/js/package.json.
test="sqlite3 wrk procps"
# The arm64 kernels are built and run here as well.
[ "$(uname -m)" != x86_64 ] ||
    test="$test gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static"
long="clang libclang-rt-dev"

have() { dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; }

case ${1-} in
build) want=$build ;;
test | long)
    want="$build $test"
    [ "$1" = test ] || want="$want $long"
    command -v npm >/dev/null 2>&1 || want="$want nodejs npm"
    ;;
*) echo "usage: contrib/deps.sh build|test|long" >&2; exit 2 ;;
esac

missing=
for p in $want; do
    have "$p" || missing="$missing $p"
done
# A compiler or a tool that came another way serves as well.
keep=
for p in $missing; do
    case $p in
    gcc) command -v cc >/dev/null 2>&1 && continue ;;
    autoconf | automake | make | pkg-config | perl | curl | openssl)
        command -v "$p" >/dev/null 2>&1 && continue ;;
    esac
    keep="$keep $p"
done
[ -n "$keep" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "These Debian packages (or their like) are missing:$keep" >&2
    exit 1
fi
if [ "$(id -u)" = 0 ]; then
    root=
elif command -v sudo >/dev/null 2>&1; then
    root=sudo
else
    echo "Missing packages, and neither root nor sudo to install them:$keep" >&2
    exit 1
fi
echo "Installing:$keep" >&2
export DEBIAN_FRONTEND=noninteractive
# An old package list names files that are gone: refresh it, then install.
# What is there stays: no package is removed for one of these.
$root env DEBIAN_FRONTEND=noninteractive apt-get -q update >&2
$root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
    --no-install-recommends --no-remove install $keep >&2
