#!/bin/sh
# Gives each fuzz test some time: fuzz.sh 20s
set -eu
cd "$(dirname "$0")/.."
grep -rlE --include='*_test.go' --exclude-dir=node_modules '^func Fuzz' cmd handlers views static jobs db | while read -r file; do
	sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' "$file" | while read -r name; do
		go test -run='^$' -fuzz="^$name\$" -fuzztime="${1:-20s}" -fuzzminimizetime=1x "./$(dirname "$file")" </dev/null
	done
done
