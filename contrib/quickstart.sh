#!/bin/bash
# quickstart.sh: from a fresh clone to a streamed answer over HTTPS.
#
#   contrib/quickstart.sh [--model FILE] [--port N] [--once]
#   contrib/quickstart.sh stop
#
#   --model FILE  a GGUF file (default: the demo model)
#   --port N      where the private nginx listens (default 8443)
#   --once        stop everything at the end; the exit status tells
#
# Installs missing Debian packages, builds into build/, starts penstockd and a
# private nginx with a self-signed certificate under build/run/, asks one
# question and shows the ledger row. A system nginx is never touched.
set -eu
from=$PWD
cd "$(dirname "$0")/.."
top=$(pwd -P)
run=$top/build/run

say() { printf '\n== %s\n' "$*"; }
die() { echo "quickstart: $*" >&2; exit 1; }

# ours PID: does a process with this folder on its command line live? A pid
# file may be older than the last boot, and its number somebody else's now.
ours() {
    kill -0 "$1" 2>/dev/null &&
        tr '\0' ' ' <"/proc/$1/cmdline" 2>/dev/null | grep -qF "$run/"
}

# Stop what an earlier run left.
stop_all() {
    local f pid
    for f in "$run"/nginx.pid "$run"/penstockd.pid; do
        [ -f "$f" ] || continue
        pid=$(cat "$f")
        if [ -n "$pid" ] && ours "$pid"; then
            kill "$pid" 2>/dev/null || true
            for _ in $(seq 100); do
                kill -0 "$pid" 2>/dev/null || break
                sleep 0.1
            done
            kill -0 "$pid" 2>/dev/null && kill -9 "$pid" 2>/dev/null
        fi
        rm -f "$f"
    done
    if [ -f "$run/socket-folder" ]; then
        rm -rf "$(cat "$run/socket-folder")"
        rm -f "$run/socket-folder"
    fi
    return 0
}

model=contrib/demo-model/penstock-demo-q8_0.gguf
port=8443
once=
while [ $# -gt 0 ]; do
    case $1 in
    stop) stop_all; echo "quickstart: stopped"; exit 0 ;;
    --once) once=1 ;;
    --model) [ $# -gt 1 ] || die "--model needs a file"
        case $2 in /*) model=$2 ;; *) model=$from/$2 ;; esac
        shift ;;
    --port) [ $# -gt 1 ] || die "--port needs a number"; port=$2; shift ;;
    --help) sed -n '2,14s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "quickstart: no option '$1'; see --help" >&2; exit 2 ;;
    esac
    shift
done
case $port in '' | *[!0-9]*) die "--port takes a number, not '$port'" ;; esac
[ "$port" -ge 1 ] && [ "$port" -le 65535 ] || die "--port takes 1 to 65535"
[ -f "$model" ] || die "no model file $model"

say "packages"
contrib/deps.sh build
nginx=$(contrib/get-nginx)
echo "nginx: $nginx"

say "build (build/)"
contrib/build.sh build

stop_all
if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
    die "port $port is taken; choose another with --port N"
fi

say "start"
umask 077
mkdir -p "$run/nginx"
# The path of a Unix socket holds 107 bytes, and the daemon needs some for
# the names beside it: a deep clone moves it to /tmp.
socket=$run/penstock.sock
if [ "${#socket}" -gt 90 ]; then
    folder=$(mktemp -d /tmp/penstock.XXXXXX)
    echo "$folder" >"$run/socket-folder"
    socket=$folder/penstock.sock
fi
# Not an authority: Codex (rustls) takes no authority for a server.
openssl x509 -in "$run/cert.pem" -noout -checkend 86400 >/dev/null 2>&1 ||
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
        -days 30 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost,IP:127.0.0.1 \
        -addext basicConstraints=critical,CA:FALSE \
        -keyout "$run/key.pem" -out "$run/cert.pem" 2>/dev/null
db=$run/penstock.db
name=quickstart-$(date +%s)-$$
key=$(build/penstock key add "$name" --db "$db" --json |
    perl -MJSON::PP -0ne 'print decode_json($_)->{key}')

build/penstockd --model "$model" --socket "$socket" --db "$db" \
    >"$run/penstockd.log" 2>&1 &
echo $! >"$run/penstockd.pid"
daemon=$!
# Until all has worked, and always with --once.
trap stop_all EXIT

contrib/private-nginx "$run/nginx" "$port" "$socket" "$run/cert.pem" \
    "$run/key.pem" >"$run/nginx.conf"
tenths=0
until [ -S "$socket" ]; do
    kill -0 "$daemon" 2>/dev/null || { cat "$run/penstockd.log" >&2; die "penstockd did not start"; }
    sleep 0.1
    tenths=$((tenths + 1))
    [ $((tenths % 50)) -ne 0 ] || echo "loading the model, $((tenths / 10)) s"
done
"$nginx" -e "$run/nginx/error.log" -p "$run/nginx/" -c "$run/nginx.conf" \
    -g "pid \"$run/nginx.pid\";" ||
    die "nginx did not start; see $run/nginx/error.log"
url=https://localhost:$port
echo "penstockd and nginx are up: $url/v1"

say "one streamed question: What is the capital of France?"
curl -sS -N --fail-with-body --noproxy '*' --cacert "$run/cert.pem" "$url/v1/chat/completions" \
    -H "Authorization: Bearer $key" -H 'Content-Type: application/json' \
    -d '{"messages":[{"role":"user","content":"What is the capital of France?"}],"stream":true,"temperature":0,"max_tokens":64}' |
    contrib/sse-print

say "its row in the ledger ($db)"
build/penstock ledger --db "$db" --limit 1

if [ -n "$once" ]; then
    stop_all
    echo
    echo "quickstart: all done"
    exit 0
fi
trap - EXIT
cat <<EOF

Running. Point any OpenAI client at it, or one of Anthropic's:
  base URL     $url/v1   (Anthropic's: $url)
  certificate  $run/cert.pem   (Node: NODE_EXTRA_CA_CERTS, curl: --cacert)
  key          $key
  try          curl --cacert $run/cert.pem -H "Authorization: Bearer $key" $url/v1/models
  ledger       build/penstock ledger --db $db
  stop         contrib/quickstart.sh stop
EOF
