#!/bin/bash
# CPU per request and latency of jkgate and of its peers, in one run, in turns, before the same back end.
#
#   bash tests/bench/peers.sh [ROUNDS] [SECONDS] [CONNECTIONS…]
#
# Prints one line per round: gateway, connections, µs of CPU per request (user and system, all processes of the
# gateway), requests per second, p50 and p99 as wrk saw them; and at the end the medians. The load generator and
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

ticks() { # of a process and its children, in clock ticks of 10 ms
    local pid
    for pid in "$1" $(pgrep -P "$1" || true); do
        awk '{sub(/.*\) /, ""); print $12 + $13}' "/proc/$pid/stat"
    done | awk '{n += $1} END {print n}'
}

printf '%-14s %5s %9s %9s %9s %9s\n' gateway conns 'µs/req' req/s p50 p99 | tee "$work/out"
for round in $(seq "$rounds"); do
    for count in "${connections[@]}"; do
        for i in "${!names[@]}"; do
            pid=$(cat "$work/${names[i]}.pid")
            before=$(ticks "$pid")
            wrk -t1 -c"$count" -d"${seconds}s" --latency "http://127.0.0.1:${ports[i]}$path" >"$work/wrk"
            after=$(ticks "$pid")
            requests=$(awk '/requests in/ {print $1}' "$work/wrk")
            awk -v name="${names[i]}" -v count="$count" -v ticks=$((after - before)) -v requests="$requests" '
                /^ +50%/ {p50 = $2} /^ +99%/ {p99 = $2} /^Requests\/sec/ {rate = $2}
                /Non-2xx|Socket errors/ {print name ": " $0 > "/dev/stderr"}
                END {printf "%-14s %5d %9.2f %9.0f %9s %9s\n", name, count, ticks * 10000 / requests, rate, p50, p99}
            ' "$work/wrk" | tee -a "$work/out"
        done
    done
done
echo
echo "medians of $rounds rounds, CPU µs per request:"
for count in "${connections[@]}"; do
    for name in "${names[@]}"; do
        awk -v n="$name" -v c="$count" '$1 == n && $2 == c {print $3}' "$work/out" | sort -n |
            awk -v n="$name" -v c="$count" '{v[NR] = $1} END {printf "%-14s %5d %9.2f   (%.2f to %.2f)\n", n, c, v[int((NR + 1) / 2)], v[1], v[NR]}'
    done
done
