#!/bin/sh
# Generates the Go files of the views, folder by folder, so that errors name a
# template the same way however it was generated.
#
#   generate.sh         writes them
#   generate.sh check   and fails if that changed one: then a .templ file was
#                       edited without its Go file, or the Go file by hand
set -eu
cd "$(dirname "$0")/.."

sums() { find views -name '*_templ.go' -exec cksum {} + | sort -k 3; }

before=$(sums)
go tool templ version >/dev/null
templ=$(go tool -n templ)
find views -name '*.templ' -exec dirname {} \; | sort -u | while read -r dir; do
	"$templ" generate -path "$dir" -log-level warn
done
after=$(sums)

if [ "${1:-}" = check ] && [ "$before" != "$after" ]; then
	echo "These generated files were out of date; they are right now, commit them:"
	printf '%s\n%s\n' "$before" "$after" | sort | uniq -u | cut -d ' ' -f 3- | sort -u
	exit 1
fi
