#!/usr/bin/env bash
# Runs a test executable as Cargo would, and has it tell the time of each test where it can.
program=$1
if grep -q "report-time" "$program"; then
    RUSTC_BOOTSTRAP=1 exec "$@" -Zunstable-options --report-time
fi
exec "$@"
