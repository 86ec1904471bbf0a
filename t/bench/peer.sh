#!/bin/sh
# peer.sh [OPTION]... PATH_TO_LLAMA_BENCH MODEL...: penstock bench and
# llama.cpp's llama-bench take turns on the same files. See --help.
exec perl "$(dirname "$0")/peer.pl" "$@"
