# shellcheck shell=bash
# Starting and stopping a local Valkey or Redis. Like the engine a clone has up to
# two of them, for `make run` and for tests. It keeps nothing: it is a cache.

REDIS_START_SECONDS=20
REDIS_PORT_TRIES=20

redis_dir() { printf '%s/%s/redis' "$RUN_DIR" "$1"; }
redis_pid() { cat "$(redis_dir "$1")/pid" 2>/dev/null || true; }
redis_port() { cat "$(redis_dir "$1")/port" 2>/dev/null || true; }
redis_url() { printf 'redis://127.0.0.1:%s/0' "$(redis_port "$1")"; }

# The server shows its own title in place of its arguments, and that begins with the
# name it was started by: a link in this clone's folder.
redis_mark() { printf '%s/server ' "$(redis_dir "$1")"; }
redis_runs() { is_running "$(redis_pid "$1")" "$(redis_mark "$1")"; }

# redis_up NAME needs the lock of this clone and REDIS_BIN.
redis_up() {
  local name=$1 last tries=0
  if redis_runs "$name"; then
    answers 127.0.0.1 "$(redis_port "$name")" && return
    note "the Redis of '$name' runs but does not answer: it is started anew"
    stop_process "$(redis_pid "$name")" "$(redis_mark "$name")"
  fi
  # The port of last time first, so that a running catalogue finds its cache again.
  last=$(redis_port "$name")
  if [ -n "$last" ] && ! answers 127.0.0.1 "$last" && redis_start "$name" "$last"; then
    return
  fi
  # It cannot choose a port by itself. One may be taken between the look and the start.
  while [ "$tries" -lt "$REDIS_PORT_TRIES" ]; do
    tries=$((tries + 1))
    redis_start "$name" "$(random_port)" && return
    grep -q "in use" "$(redis_dir "$name")/log" || break
  done
  tail -n 20 "$(redis_dir "$name")/log" 2>/dev/null | sed 's/^/    | /' >&2
  REDIS_REASON="$REDIS_BIN does not start ($(redis_dir "$name")/log)"
  return 1
}

redis_start() {
  local name=$1 port=$2 dir
  dir=$(redis_dir "$name")
  mkdir -p "$dir"
  : >"$dir/log"
  ln -sf "$REDIS_BIN" "$dir/server"
  # The server does not start in a locale that the machine does not have.
  LC_ALL=C detach "$dir/log" "$dir/server" --bind 127.0.0.1 --port "$port" --dir "$dir" \
    --save "" --appendonly no --maxmemory 64mb --maxmemory-policy allkeys-lru
  printf '%s\n' "$DETACHED" >"$dir/pid"
  redis_wait "$name" "$port"
}

# redis_wait NAME PORT returns when the server takes connections.
redis_wait() {
  local dir
  dir=$(redis_dir "$1")
  if await_ready "$REDIS_START_SECONDS" "" redis_ready "$1" "$2"; then
    printf '%s\n' "$2" >"$dir/port"
    return 0
  fi
  stop_process "$DETACHED" "$(redis_mark "$1")"
  rm -f "$dir/pid"
  return 1
}

redis_ready() { grep -qi "ready to accept connections" "$(redis_dir "$1")/log" && answers 127.0.0.1 "$2"; }

# redis_down NAME; the port stays noted for the next start.
redis_down() {
  if redis_runs "$1"; then
    stop_process "$(redis_pid "$1")" "$(redis_mark "$1")"
    say "stopped the local Redis of '$1'"
  fi
  rm -f "$(redis_dir "$1")/pid"
}
