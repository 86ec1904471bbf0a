#!/bin/sh
# build.sh DIR [CONFIGURE-OPTION...]: configure (when needed) and build into
# DIR below the source tree. Shows one line per step. Without options what DIR
# is configured with stays.
set -eu
cd "$(dirname "$0")/.."
dir=$1
shift

if [ ! -x configure ] || [ configure.ac -nt configure ] || [ Makefile.am -nt configure ]; then
    echo "penstock: preparing configure"
    autoreconf -fi >autoreconf.log 2>&1 || { cat autoreconf.log >&2; exit 1; }
    rm -f autoreconf.log
fi
mkdir -p "$dir"
if [ ! -w "$dir" ] || { [ -d "$dir/src" ] && [ ! -w "$dir/src" ]; }; then
    echo "penstock: $dir belongs to $(stat -c %U "$dir"): build as that user, or remove it" >&2
    exit 1
fi
if [ $# -eq 0 ] && [ -f "$dir/.options" ]; then
    # shellcheck disable=SC2046
    set -- $(cat "$dir/.options")
fi
if [ ! -f "$dir/Makefile" ] || [ configure -nt "$dir/config.status" ] ||
    [ "$(cat "$dir/.options" 2>/dev/null)" != "$*" ]; then
    echo "penstock: configuring $dir"
    (cd "$dir" && ../configure -q "$@") || exit 1
    printf '%s\n' "$*" >"$dir/.options"
fi
echo "penstock: building in $dir"
make -C "$dir" -j"$(nproc)" --no-print-directory all
