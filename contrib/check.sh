#!/bin/bash
# check.sh [--asan|--tsan|--long] [TEST...]: install what tests need, build,
# run every test (or those named), end with "N passed, N failed".
#
#   (nothing)  all tests, in build/
#   --asan     the functional tests under Address- and UBSanitizer
#   --tsan     the functional tests under ThreadSanitizer
#   --long     also fuzzers, kills and soak (needs clang)
set -eu
cd "$(dirname "$0")/.."

mode=plain
case ${1-} in
--asan | --tsan | --long) mode=${1#--}; shift ;;
--help) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
-*) echo "check.sh: no option '$1'; see contrib/check.sh --help" >&2; exit 2 ;;
esac

if [ $mode = long ]; then contrib/deps.sh long; else contrib/deps.sh test; fi
case $mode in
plain | long) dir=build options= ;;
asan) dir=build-asan options=--enable-asan ;;
tsan) dir=build-tsan options=--enable-tsan ;;
esac
# shellcheck disable=SC2086
contrib/build.sh $dir --enable-werror $options
echo "penstock: building the tests"
make -C $dir -j"$(nproc)" --no-print-directory tests

export BUILD=$PWD/$dir
PENSTOCK_NGINX=$(contrib/get-nginx)
export PENSTOCK_NGINX
if [ ! -f t/js/node_modules/.installed ] ||
    [ t/js/package-lock.json -nt t/js/node_modules/.installed ]; then
    echo "penstock: installing the JavaScript tests' packages"
    t/js/install.sh
fi

export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:exitcode=99
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=0:exitcode=66:second_deadlock_stack=1
export PENSTOCK_SANITIZER=
case $mode in asan | tsan) PENSTOCK_SANITIZER=$mode ;; esac

if [ $# -gt 0 ]; then
    tests=("$@")
else
    tests=(t/[0-8]*.t)
    while read -r unit; do tests+=("$dir/$unit"); done < <(make -s -C $dir print-unit-tests)
    case $mode in
    asan | tsan)
        # t/not-under-sanitizers: FILE, or FILE and the one sanitizer meant.
        keep=()
        for f in "${tests[@]}"; do
            grep -qxF -e "$f" -e "$f $mode" t/not-under-sanitizers || keep+=("$f")
        done
        tests=("${keep[@]}")
        ;;
    long) tests+=(t/9*.t) ;;
    esac
fi

out=$dir/check.log
set +e
PERL5LIB=$PWD/t/lib${PERL5LIB:+:$PERL5LIB} prove -j"${JOBS:-2}" --timer --formatter Pen::Summary "${tests[@]}" 2>&1 | tee "$out"
last=$(tail -n 1 "$out")
case $last in
*" passed, 0 failed"*) exit 0 ;;
*) exit 1 ;;
esac
