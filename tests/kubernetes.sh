#!/usr/bin/env bash
# Holds the manifests that `halite cluster eks` writes (cli/tests/cluster/eks.yaml) to the schema of Kubernetes, which the package
# `kubernetes-validate` brings along: unknown keys are refused.
#
#   tests/kubernetes.sh [--install FOLDER]     with --install, only makes the environment of Python for it
set -euo pipefail
cd "$(dirname "$0")/.."

install() {
    python3 -m venv "$1"
    "$1/bin/pip" install --quiet --disable-pip-version-check kubernetes-validate==1.37.0
}

if [ "${1:-}" = --install ]; then
    install "$2"
    exit
fi
environment=${HALITE_KUBERNETES_ENVIRONMENT:-}
if [ ! -d "$environment" ]; then
    environment=$(mktemp -d)
    trap 'rm -rf "$environment"' EXIT
    install "$environment"
fi
# Versions from the oldest that EKS had when this was written to the newest that the package knows.
for version in 1.31 1.34 1.37; do
    "$environment/bin/kubernetes-validate" --strict --kubernetes-version "$version" cli/tests/cluster/eks.yaml
done
