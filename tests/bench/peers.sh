#!/bin/bash
# CPU per request and latency of jkgate and of its peers, in one run, in turns, before the same back end.
#
#   bash tests/bench/peers.sh [ROUNDS] [SECONDS] [CONNECTIONS…]
#
# Prints one line per round: gateway, connections, µs of CPU per request (user and system, all processes of the
# gateway), requests per second, and latencies as wrk saw them; and at the end the medians. With CLOSE=1 each request
# comes on a connection of its own. The load generator and
# the back end share the machine with the gateway: requests per second say little, CPU per request is the figure.
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-5} seconds=${2:-4}
shift $(($# < 2 ? $# : 2))
connections=("${@:-50}")
size=${SIZE:-128} path=${TARGET:-/bench}
work=$(mktemp -d)
trap 'for pid in $(cat "$work"/*.pid 2>/dev/null); do kill "$pid" 2>/dev/null || true; done; wait; rm -rf "$work"' EXIT

cargo build --release --locked --quiet -p jkgate -p jk-worker
target/release/jk-worker --ajp 127.0.0.1:21009 --http 127.0.0.1:21080 --size "$size" & echo $! >"$work/backend.pid"

cat >"$work/workers.toml" <<TOML
[listener.main]
address = "127.0.0.1:21001"
[lb.lb]
[ajp13.t1]
address = "127.0.0.1:21009"
group = "lb"
connection_pool_size = 500
[uri]
"/*" = "lb"
[access_log]
target = "off"
[admin]
address = "off"
TOML
target/release/jkgate -c "$work/workers.toml" 2>"$work/jkgate.log" & echo $! >"$work/jkgate.pid"

cat >"$work/nginx.conf" <<NGINX
worker_processes 2; daemon off; pid $work/nginx-own.pid; error_log $work/nginx.log; events { worker_connections 5000; }
http { access_log off; keepalive_requests 100000000; client_body_temp_path $work; proxy_temp_path $work;
upstream b { server 127.0.0.1:21080; keepalive 500; keepalive_requests 100000000; }
server { listen 127.0.0.1:21002 reuseport; location / {
proxy_pass http://b; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host \$host; } } }
NGINX
nginx -c "$work/nginx.conf" 2>/dev/null & echo $! >"$work/nginx.pid"

cat >"$work/haproxy.cfg" <<HAPROXY
global
  nbthread 2
  maxconn 5000
defaults
  mode http
  timeout client 60s
  timeout server 60s
  timeout connect 5s
  http-reuse always
frontend f
  bind 127.0.0.1:21003
  default_backend b
backend b
  server s 127.0.0.1:21080 pool-max-conn 500
HAPROXY
haproxy -db -f "$work/haproxy.cfg" 2>"$work/haproxy.log" & echo $! >"$work/haproxy.pid"

modules=/usr/lib/apache2/modules
apache() { # name port directives…
    local name=$1 port=$2
    shift 2
    mkdir -p "$work/$name"
    {
        printf 'ServerRoot %s\nServerName localhost\nListen 127.0.0.1:%s\nPidFile %s\nErrorLog %s\n' \
            "$work/$name" "$port" "$work/$name/own.pid" "$work/$name/error.log"
        printf 'LoadModule mpm_event_module %s/mod_mpm_event.so\nLoadModule authz_core_module %s/mod_authz_core.so\n' \
            "$modules" "$modules"
        printf 'MaxKeepAliveRequests 0\nThreadsPerChild 200\nServerLimit 2\nStartServers 2\nMaxRequestWorkers 400\n'
        printf '%s\n' "$@"
    } >"$work/$name/httpd.conf"
    apache2 -DFOREGROUND -f "$work/$name/httpd.conf" 2>"$work/$name/out.log" & echo $! >"$work/$name.pid"
}
printf '%s\n' worker.list=t1 worker.t1.type=ajp13 worker.t1.host=127.0.0.1 worker.t1.port=21009 \
    worker.t1.connection_pool_size=200 >"$work/workers.properties"
apache mod_jk 21004 "LoadModule jk_module $modules/mod_jk.so" "JkWorkersFile $work/workers.properties" \
    "JkShmFile $work/mod_jk/shm" "JkLogFile $work/mod_jk/jk.log" "JkLogLevel error" "JkMount /* t1"
apache mod_proxy_ajp 21005 "LoadModule proxy_module $modules/mod_proxy.so" \
    "LoadModule proxy_ajp_module $modules/mod_proxy_ajp.so" "ProxyPass / ajp://127.0.0.1:21009/ max=200"

names=(jkgate nginx haproxy mod_jk mod_proxy_ajp)
ports=(21001 21002 21003 21004 21005)
for port in "${ports[@]}"; do
    curl -fsS -o /dev/null --retry 50 --retry-connrefused --retry-delay 1 "http://127.0.0.1:$port$path"
done

runtime() { # of a process and its descendants, in ns, as the scheduler counted it
    local pid queue=("$1")
    while ((${#queue[@]})); do
        pid=${queue[0]} queue=("${queue[@]:1}")
        cat "/proc/$pid/task/"*/schedstat 2>/dev/null || true
        mapfile -t -O "${#queue[@]}" queue < <(pgrep -P "$pid" || true)
    done | awk '{n += $1} END {printf "%.0f", n}'
}

cat >"$work/report.lua" <<'LUA'
done = function(summary, latency)
    local bad = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout
    io.write(string.format("RESULT %d %.0f %.2f %.2f %.2f %.2f %d\n", summary.requests, summary.requests / summary.duration * 1e6,
        latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency:percentile(99.9) / 1e3, latency.max / 1e3, bad))
end
LUA
header=()
[[ ${CLOSE:-} ]] && header=(-H 'Connection: close')

printf '%-14s %5s %9s %9s %8s %8s %8s %8s\n' gateway conns 'µs/req' req/s p50 p99 p99.9 max | tee "$work/out"
for round in $(seq "$rounds"); do
    for count in "${connections[@]}"; do
        for i in "${!names[@]}"; do
            pid=$(cat "$work/${names[i]}.pid")
            before=$(runtime "$pid")
            wrk -t1 -c"$count" -d"${seconds}s" "${header[@]}" -s "$work/report.lua" "http://127.0.0.1:${ports[i]}$path" >"$work/wrk"
            after=$(runtime "$pid")
            awk -v name="${names[i]}" -v count="$count" -v ns="$(echo "$after $before" | awk '{printf "%.0f", $1 - $2}')" '
                /^RESULT/ {
                    if ($8 > 0) print name ": " $8 " requests failed" > "/dev/stderr"
                    printf "%-14s %5d %9.2f %9.0f %8.2f %8.2f %8.2f %8.2f\n", name, count, ns / 1000 / $2, $3, $4, $5, $6, $7
                }' "$work/wrk" | tee -a "$work/out"
        done
    done
done
echo
echo "medians of $rounds rounds: µs of CPU per request (lowest to highest), p50, p99, p99.9 and largest latency in ms:"
median() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)], v[1], v[NR]}'; }
for count in "${connections[@]}"; do
    for name in "${names[@]}"; do
        column() { awk -v n="$name" -v c="$count" -v k="$1" '$1 == n && $2 == c {print $k}' "$work/out" | median; }
        read -r cpu low high < <(column 3)
        printf '%-14s %5d %9.2f (%.2f to %.2f)' "$name" "$count" "$cpu" "$low" "$high"
        for k in 5 6 7 8; do read -r middle _ < <(column "$k"); printf ' %8.2f' "$middle"; done
        echo
    done
done
