#!/usr/bin/env bash
# Gives each fuzz test some time on one core: fuzz.sh 10s [PACKAGE...]
#
# A fuzz test is stopped by SIGINT when its time is over and not by -fuzztime, whose
# end Go 1.26 may report as a failure, "context deadline exceeded" without an input
# (go.dev/issue/75804). What it then still fails with is a finding.
set -euo pipefail
cd "$(dirname "$0")/.."
export span=${1:-10s} bin cache
shift || true
bin=$(mktemp -d) && trap 'rm -rf "$bin"' EXIT
cache=$(go env GOCACHE)/fuzz

# prints PACKAGE NAME, a line for each fuzz test
tests() {
	grep -rE --include='*_test.go' --exclude-dir=node_modules '^func Fuzz' "$@" | sed -E 's|^(.*)/[^/]*:func (Fuzz[A-Za-z0-9_]*).*|\1 \2|'
}

# An input that takes for ever is no failure to Go: it shows as seconds without a try,
# among known inputs ("75/126 completed") or new ones ("(0/sec)").
hangs() {
	tail -n 2 | awk '{ still = still && ($7 == at || /\(0\/sec\)/); at = $7 } NR == 1 { still = /baseline.*completed$/ || /\(0\/sec\)/ } END { exit !still }'
}

one() {
	local at=$bin/${1//\//.}
	local out=$at.$2.out
	cd "$1"
	if timeout --foreground --preserve-status -s INT -k 60s "$span" "$at.test" -test.run='^$' -test.fuzz="^$2\$" -test.fuzzcachedir="$cache/herald/$1" \
		-test.fuzzminimizetime=1x -test.parallel=1 </dev/null >"$out" 2>&1 && ! grep '^fuzz: elapsed' "$out" | hangs; then
		printf '%-32s %s\n' "$1" "$(grep '^fuzz: elapsed' "$out" | tail -n 1 | sed "s/^fuzz: elapsed/$2/")"
	else
		cat "$out"
		echo "$1: $2 failed, or did nothing in its last seconds"
		return 255 # which ends xargs
	fi
}
export -f one hangs

list=$(tests ${@:-cmd handlers views static jobs db})
for dir in $(cut -d' ' -f1 <<<"$list" | sort -u); do
	go test -c -fuzz=. -o "$bin/${dir//\//.}.test" "./$dir"
done
xargs -P "$(nproc)" -n 2 bash -c 'one "$@"' _ <<<"$list"
