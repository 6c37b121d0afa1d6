#!/bin/sh
# Installs what the tests need and is missing: Tomcat, Apache with mod_jk, a JDK, Python's pip, and Chromium. Debian 12 or later, or a system like it.
set -eu

wanted="tomcat10 tomcat10-examples apache2 libapache2-mod-jk default-jdk-headless procps"

# For Salt's own modules, which the tests fetch, and for the browser that looks at the status page.
python3 -m pip --version >/dev/null 2>&1 || wanted="$wanted python3-pip"
command -v curl >/dev/null || wanted="$wanted curl"
command -v chromedriver >/dev/null || wanted="$wanted chromium chromium-driver"

fail() {
    echo "tests/install.sh: $1" >&2
    exit 1
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    fail "this is no Debian; the tests need what these packages of Debian hold, at the same places: $wanted"
fi

missing=""
for package in $wanted; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done

if [ -n "$missing" ]; then
    run=""
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail "run this as root, or install:$missing"
        run="sudo"
    fi
    echo "tests/install.sh: installing$missing"
    $run apt-get update -qq || fail "apt-get cannot read its package lists; missing are:$missing"
    # Servers are started by the tests themselves; the packages' own services stay off.
    $run env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends $missing >/dev/null ||
        fail "apt-get cannot install:$missing"
fi

for file in /usr/share/tomcat10/bin/catalina.sh /usr/share/tomcat10/etc/web.xml /usr/share/tomcat10-examples/examples \
    /usr/sbin/apache2 /usr/lib/apache2/modules/mod_jk.so /usr/lib/apache2/modules/mod_mpm_worker.so; do
    [ -e "$file" ] || fail "$file is missing although its package is installed"
done
for program in javac kill sha256sum curl python3 chromium chromedriver; do
    command -v "$program" >/dev/null || fail "$program is missing"
done
