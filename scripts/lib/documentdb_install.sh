# shellcheck shell=bash
# Where the second engine comes from: FerretDB, which Go builds, over PostgreSQL with
# the extension DocumentDB, which Debian has. Its packages go into a folder of their own
# (debootstrap); nothing is installed on the machine.

FERRETDB_VERSION=2.7.0
POSTGRESQL_MAJOR=18
DOCUMENTDB_SUITE=forky # Debian 14, the first with postgresql-18-documentdb
DOCUMENTDB_MIRROR=${CATALOGUE_DEBIAN_MIRROR:-http://deb.debian.org/debian}
DOCUMENTDB_HOME=$CACHE/documentdb-ferretdb-$FERRETDB_VERSION-postgresql-$POSTGRESQL_MAJOR
DOCUMENTDB_ROOT=$DOCUMENTDB_HOME/root
FERRETDB_BIN=$DOCUMENTDB_HOME/bin/ferretdb
DOCUMENTDB_STEPS=1030 # lines that debootstrap writes, roughly; only for the progress lines

# A root shell that did not log in lacks these.
have chroot || PATH=$PATH:/usr/sbin:/sbin
DEBIAN_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# Where it cannot run, these do.
DOCUMENTDB_ELSE="an address in CATALOGUE_MONGODB_URI (for tests CATALOGUE_TEST_MONGODB_URI) or a Docker daemon (ENGINE=mongodb) serves instead"

# documentdb_possible tells whether the machine lets it be run and, where it is not there
# yet, installed. The reason of a "no" is left in DOCUMENTDB_REASON. The mirror is not asked.
documentdb_possible() {
  local tool
  DOCUMENTDB_REASON="it runs on Linux only"
  [ "$(uname -s)" = Linux ] || return 1
  DOCUMENTDB_REASON="it runs in a folder with a system of its own, which only root may enter"
  [ "$(id -u)" -eq 0 ] || return 1
  for tool in unshare mount chroot; do
    DOCUMENTDB_REASON="there is no $tool on this machine ($(tool_hint "$tool"))"
    have "$tool" || return 1
  done
  DOCUMENTDB_REASON="root may not mount here (unshare --mount fails: a container without CAP_SYS_ADMIN?)"
  unshare --mount mount --bind / / 2>/dev/null || return 1
  documentdb_installed || documentdb_installable
}

documentdb_installed() { [ -d "$DOCUMENTDB_HOME" ]; }

documentdb_installable() {
  local tool
  for tool in go wget gpgv; do
    DOCUMENTDB_REASON="there is no $tool to install it with ($(tool_hint "$tool"))"
    have "$tool" || return 1
  done
  if ! have debootstrap || [ ! -r "$DEBIAN_KEYRING" ]; then
    DOCUMENTDB_REASON="there is no debootstrap with Debian's keys, and no apt-get and dpkg-deb to fetch it with: it is installed on Debian and its like"
    have apt-get && have dpkg-deb || return 1
  fi
}

# documentdb_reachable asks, where it has yet to be installed, whether its packages can
# be fetched from here. The reason of a "no" is left in DOCUMENTDB_REASON.
documentdb_reachable() {
  DOCUMENTDB_REASON="$DOCUMENTDB_MIRROR does not answer"
  documentdb_installed || wget -q --tries=1 --timeout=20 --spider "$DOCUMENTDB_MIRROR/dists/$DOCUMENTDB_SUITE/InRelease"
}

# documentdb_install makes DOCUMENTDB_HOME exist.
documentdb_install() {
  documentdb_possible || fail "DocumentDB cannot be used here: $DOCUMENTDB_REASON; $DOCUMENTDB_ELSE"
  ! documentdb_installed || return 0
  lock 8 "$CACHE/build.lock" "installing a local service"
  documentdb_installed || documentdb_make
  unlock 8
}

# documentdb_make runs under the lock, so temporary folders that it finds were left by
# one that was killed. Whatever is at DOCUMENTDB_HOME is complete: it is renamed at the end.
documentdb_make() {
  local started=$SECONDS log=$CACHE/documentdb.log go_log=$CACHE/documentdb-ferretdb.log
  rm -rf --one-file-system "$CACHE"/documentdb-*.tmp.*
  DOCUMENTDB_TMP=$(mktemp -d "$DOCUMENTDB_HOME.tmp.XXXXXX")
  DEBOOTSTRAP_PID="" FERRETDB_PID=""
  trap documentdb_abort EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP

  say "installing FerretDB $FERRETDB_VERSION over PostgreSQL $POSTGRESQL_MAJOR with DocumentDB: once, two to five minutes, 600 MB"
  note "into $DOCUMENTDB_HOME, logs in $log and $go_log"
  documentdb_tools >"$log"
  documentdb_packages >>"$log"
  ferretdb_build >"$go_log"
  documentdb_await "$FERRETDB_PID" "$go_log" "$started" || documentdb_failed "$go_log" "FerretDB could not be built"
  FERRETDB_PID=""
  note "$((SECONDS - started)) s: FerretDB is built"
  documentdb_await "$DEBOOTSTRAP_PID" "$log" "$started" || documentdb_failed "$log" "debootstrap failed"
  DEBOOTSTRAP_PID=""
  documentdb_finish >>"$log" 2>&1 || documentdb_failed "$log" "the installation is not complete"
  mv "$DOCUMENTDB_TMP/home" "$DOCUMENTDB_HOME"
  trap - EXIT INT TERM HUP
  rm -rf --one-file-system "$DOCUMENTDB_TMP"
  say "$(documentdb_versions): installed ($((SECONDS - started)) s)"
}

# documentdb_tools leaves in DEBOOTSTRAP and DEBOOTSTRAP_FILES a debootstrap that knows
# the suite, and Debian's keys in KEYRING: those of the machine or, unpacked into the
# temporary folder, those of Debian's packages.
documentdb_tools() {
  KEYRING=$DEBIAN_KEYRING
  if [ ! -r "$KEYRING" ]; then
    documentdb_fetch debian-archive-keyring
    KEYRING=$DOCUMENTDB_TMP/debian-archive-keyring$DEBIAN_KEYRING
  fi
  DEBOOTSTRAP_FILES=$DOCUMENTDB_TMP/debootstrap/usr/share/debootstrap
  if have debootstrap; then
    DEBOOTSTRAP=$(command -v debootstrap)
    mkdir -p "${DEBOOTSTRAP_FILES%/*}"
    cp -R "${DEBOOTSTRAP_DIR:-/usr/share/debootstrap}" "$DEBOOTSTRAP_FILES"
  else
    documentdb_fetch debootstrap
    DEBOOTSTRAP=$DOCUMENTDB_TMP/debootstrap/usr/sbin/debootstrap
  fi
  # An older debootstrap has no script for the suite: all of them are the one of sid.
  [ -e "$DEBOOTSTRAP_FILES/scripts/$DOCUMENTDB_SUITE" ] || ln -s sid "$DEBOOTSTRAP_FILES/scripts/$DOCUMENTDB_SUITE"
}

# documentdb_fetch PACKAGE unpacks a package of the machine's distribution into the
# temporary folder. Its lists of packages are made new only where they do not serve.
documentdb_fetch() {
  local to=$DOCUMENTDB_TMP/$1
  mkdir -p "$to"
  if ! documentdb_download "$1" "$to"; then
    note "fetching the lists of packages (apt-get update)"
    # One list that fails, of a source that is not needed here, is no reason to give up.
    apt-get update 2>&1 || true
    documentdb_download "$1" "$to" || documentdb_failed "$CACHE/documentdb.log" "apt-get has no $1"
  fi
  dpkg-deb -x "$to/$1"_*.deb "$to"
}

documentdb_download() { (cd "$2" && exec apt-get download "$1" 2>&1); }

# documentdb_packages starts debootstrap in a process group of its own, so that an abort
# ends it, and in a mount namespace of its own, so that what it mounts in the folder
# vanishes with it. TMPDIR names no folder in there.
documentdb_packages() {
  set -m
  env -u TMPDIR -u TMP -u TEMP LC_ALL=C DEBIAN_FRONTEND=noninteractive DEBOOTSTRAP_DIR="$DEBOOTSTRAP_FILES" \
    unshare --mount "$DEBOOTSTRAP" --variant=minbase --force-check-gpg --keyring="$KEYRING" \
    --include="postgresql-$POSTGRESQL_MAJOR,postgresql-$POSTGRESQL_MAJOR-documentdb" \
    "$DOCUMENTDB_SUITE" "$DOCUMENTDB_TMP/home/root" "$DOCUMENTDB_MIRROR" </dev/null 2>&1 8>&- 9>&- &
  DEBOOTSTRAP_PID=$!
  set +m
}

# ferretdb_build runs outside of this module and with flags of its own: those of the user
# (-mod, -tags) are meant for other builds.
ferretdb_build() {
  mkdir -p "$DOCUMENTDB_TMP/home/bin" "$DOCUMENTDB_TMP/go"
  set -m
  (cd "$DOCUMENTDB_TMP/go" && GOWORK=off GOFLAGS=-buildvcs=auto GOBIN=$DOCUMENTDB_TMP/home/bin \
    exec go install "github.com/FerretDB/FerretDB/v2/cmd/ferretdb@v$FERRETDB_VERSION") </dev/null 2>&1 8>&- 9>&- &
  FERRETDB_PID=$!
  set +m
}

# documentdb_await PID LOG STARTED waits with a line every 15 s and returns the exit
# status of the process.
documentdb_await() {
  local shown=$SECONDS
  while kill -0 "$1" 2>/dev/null; do
    sleep 0.5
    [ $((SECONDS - shown)) -ge 15 ] || continue
    shown=$SECONDS
    note "$((SECONDS - $3)) s: $(grep -c '^I: ' "$CACHE/documentdb.log" || true) of about $DOCUMENTDB_STEPS steps of debootstrap${FERRETDB_PID:+, FerretDB is being built}"
  done
  wait "$1"
}

# documentdb_finish checks what was installed, notes the versions, which the suite
# decides, and removes what is not needed to run.
documentdb_finish() {
  local home=$DOCUMENTDB_TMP/home
  "$home/bin/ferretdb" --version
  [ -x "$home/root/usr/lib/postgresql/$POSTGRESQL_MAJOR/bin/postgres" ] || return 1
  dpkg-query --admindir="$home/root/var/lib/dpkg" -W -f '${Package} ${Version}\n' >"$home/versions" || return 1
  rm -rf --one-file-system "$home"/root/var/cache/apt/archives/*.deb "$home"/root/var/lib/apt/lists/* \
    "$home"/root/usr/share/{doc,man,locale} "$home"/root/{var/lib,etc}/postgresql/"$POSTGRESQL_MAJOR"
}

# documentdb_versions prints what is installed, for people: 18.6-3 of Debian is 18.6.
documentdb_versions() {
  local postgresql extension
  postgresql=$(sed -n "s/^postgresql-$POSTGRESQL_MAJOR \([^-]*\).*/\1/p" "$DOCUMENTDB_HOME/versions")
  extension=$(sed -n "s/^postgresql-$POSTGRESQL_MAJOR-documentdb \([^-]*\).*/\1/p" "$DOCUMENTDB_HOME/versions")
  printf 'FerretDB %s, PostgreSQL %s, DocumentDB %s' "$FERRETDB_VERSION" "$postgresql" "$extension"
}

# documentdb_failed LOG WHAT
documentdb_failed() {
  printf '    the log ends with:\n' >&2
  tail -n 25 "$1" | sed 's/^/    | /' >&2
  fail "$2 ($1); $DOCUMENTDB_ELSE"
}

documentdb_abort() {
  local pid
  for pid in $DEBOOTSTRAP_PID $FERRETDB_PID; do
    documentdb_end "$pid"
  done
  rm -rf --one-file-system "$DOCUMENTDB_TMP" 2>/dev/null || true
}

# documentdb_end PID ends a process group and returns when nothing of it writes any more.
documentdb_end() {
  local tries=0
  kill -- "-$1" 2>/dev/null || return 0
  while kill -0 -- "-$1" 2>/dev/null && [ "$tries" -lt 50 ]; do
    tries=$((tries + 1))
    sleep 0.1
  done
  kill -9 -- "-$1" 2>/dev/null || true
}
