#!/bin/sh
# install.sh: the packages of the JavaScript tests into t/js/node_modules, as
# package.json and package-lock.json pin them.
#
# node-llama-cpp lists its binaries for every system as optional packages, some
# of hundreds of megabytes and some not published: all are left out but the
# one for this machine's CPU. (That is also why this is not `npm ci`, which
# insists on the missing ones.)
set -eu
cd "$(dirname "$0")"
version=$(sed -n 's/.*"node-llama-cpp": "\(.*\)".*/\1/p' package.json)
case $(uname -m) in
x86_64) binary=@node-llama-cpp/linux-x64@$version ;;
aarch64) binary=@node-llama-cpp/linux-arm64@$version ;;
*) binary= ;;
esac
npm install --no-save --omit=optional --no-audit --no-fund --loglevel=error \
    $binary
touch node_modules/.installed
