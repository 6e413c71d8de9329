#!/bin/sh
# Fails and names the Go files that gofmt would change.
set -eu
cd "$(dirname "$0")/.."
files=$(find cmd handlers views static jobs db -name node_modules -prune -o -name '*.go' -print | xargs gofmt -l)
if [ -n "$files" ]; then
	echo "gofmt would change these; run gofmt -w on them:"
	echo "$files"
	exit 1
fi
