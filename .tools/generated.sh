#!/bin/sh
# Fails if generating the views changes a file that is there: then a .templ file
# was edited without its Go file, or the Go file by hand.
set -eu
cd "$(dirname "$0")/.."
sums() { find views -name '*_templ.go' -exec cksum {} + | sort -k 3; }
before=$(sums)
go tool templ generate -path views -log-level warn
after=$(sums)
if [ "$before" != "$after" ]; then
	echo "These generated files were out of date; they are right now, commit them:"
	printf '%s\n%s\n' "$before" "$after" | sort | uniq -u | cut -d ' ' -f 3- | sort -u
	exit 1
fi
