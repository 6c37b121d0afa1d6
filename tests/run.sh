#!/bin/sh
# All tests: installs what is missing, then unit, gateway, Tomcat, peers and house-rule suites. Run from the project's root.
set -eu
sh tests/install.sh
exec cargo test --workspace --locked
