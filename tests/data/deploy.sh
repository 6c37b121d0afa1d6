#!/bin/sh
# Rolls an application out behind a status page, as such scripts have done since mod_jk 1.2: one member after the other is disabled,
# looked at until nothing is under way, stopped, "deployed", and activated again.
#
#   sh deploy.sh URL GROUP MEMBER…
set -eu
url=$1 group=$2
shift 2

update() { # member, activation
    curl -fsS "$url/?cmd=update&mime=txt&w=$group&sw=$1&vwa=$2" | grep -i result || true
}

show() { # member, property
    curl -fsS "$url/?cmd=show&mime=prop&w=$group&sw=$1" | sed -n "s/^worker\\.$1\\.$2=//p"
}

for member in "$@"; do
    echo "$member was $(show "$member" activation)"
    update "$member" 1
    until [ "$(show "$member" busy)" = 0 ]; do sleep 1; done
    update "$member" 2
    echo "$member is $(show "$member" activation)"
    update "$member" 0
    echo "$member is $(show "$member" activation)"
done
