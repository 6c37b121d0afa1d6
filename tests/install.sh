#!/bin/sh
# Installs what the tests need and is missing: Tomcat, Apache with mod_jk, and a JDK. Debian 12 or later.
set -eu
wanted="tomcat10 tomcat10-examples apache2 libapache2-mod-jk default-jdk-headless curl"
missing=""
for package in $wanted; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
if [ -n "$missing" ]; then
    echo "tests/install.sh: installing$missing"
    run=""
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || { echo "tests/install.sh: run this as root, or install:$missing" >&2; exit 1; }
        run="sudo"
    fi
    $run apt-get update -qq
    # Servers are started by the tests themselves; the packages' own services stay off.
    $run env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi
for file in /usr/share/tomcat10/bin/catalina.sh /usr/share/tomcat10-examples/examples /usr/sbin/apache2 /usr/lib/apache2/modules/mod_jk.so; do
    [ -e "$file" ] || { echo "tests/install.sh: $file is missing although its package is installed" >&2; exit 1; }
done
command -v javac >/dev/null || { echo "tests/install.sh: javac is missing" >&2; exit 1; }
