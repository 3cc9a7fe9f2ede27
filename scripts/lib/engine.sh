# shellcheck shell=bash
# Starting and stopping the local engine. A clone has up to two of them:
#
#   run   the data of `make run`: kept, and flushed on every commit
#   test  databases of tests: 2.5 times faster without the flush, thrown away by
#         `make stop`. Its own engine also keeps the tests' writes out of the log
#         that the change streams of `make run` resume from.

ENGINE_START_SECONDS=120 # recovery after a crash reads the log again

engine_dir() { printf '%s/%s' "$RUN_DIR" "$1"; }
engine_pid() { cat "$(engine_dir "$1")/pid" 2>/dev/null || true; }
engine_port() { cat "$(engine_dir "$1")/port" 2>/dev/null || true; }
engine_mark() { printf -- '--storage-path %s/data ' "$(engine_dir "$1")"; }
engine_uri() { printf 'mongodb://127.0.0.1:%s/?directConnection=true' "$(engine_port "$1")"; }
engine_runs() { is_running "$(engine_pid "$1")" "$(engine_mark "$1")"; }

# engine_up NAME needs the lock of this clone and a built engine.
engine_up() {
  local name=$1
  if engine_runs "$name"; then
    answers 127.0.0.1 "$(engine_port "$name")" && return
    note "the engine of '$name' runs but does not answer: it is started anew"
    stop_process "$(engine_pid "$name")" "$(engine_mark "$name")"
  elif [ -n "$(engine_pid "$name")" ]; then
    note "the engine of '$name' has ended without 'make stop': it is started anew on the same data"
  fi

  # The port of last time is tried first, so that a running catalogue finds its
  # database again after a crash of the engine.
  local last
  last=$(engine_port "$name")
  if [ -n "$last" ] && ! answers 127.0.0.1 "$last" && engine_start "$name" "$last"; then
    return
  fi
  engine_start "$name" 0 && return
  tail -n 20 "$(engine_dir "$name")/log" | sed 's/^/    | /' >&2
  fail "the local engine does not start ($(engine_dir "$name")/log)"
}

# engine_start NAME PORT; port 0 lets the system choose one.
engine_start() {
  local name=$1 port=$2 dir sync=""
  dir=$(engine_dir "$name")
  mkdir -p "$dir"
  [ ! -f "$dir/log" ] || mv -f "$dir/log" "$dir/log.previous"
  : >"$dir/log"            # engine_wait may look before the engine has opened it
  : >"$dir/secantusd.toml" # named below, so that no configuration of the user's is picked up
  [ "$name" = test ] || sync=--sync-on-commit

  # shellcheck disable=SC2086 # an empty $sync is to vanish
  detach "$dir/log" "$ENGINE_BIN" --config "$dir/secantusd.toml" --host 127.0.0.1 --port "$port" \
    --storage-path "$dir/data" --cache-size 512M $sync
  printf '%s\n' "$DETACHED" >"$dir/pid"
  engine_wait "$name"
}

# engine_wait returns when the engine has printed its address and takes
# connections, and fails when it has ended instead.
engine_wait() {
  local dir
  dir=$(engine_dir "$1")
  if await_ready "$ENGINE_START_SECONDS" "the engine is still starting (after a crash it reads its log again)" \
    engine_ready "$1"; then
    engine_announced "$1" >"$dir/port"
    return 0
  fi
  stop_process "$DETACHED" "$(engine_mark "$1")"
  rm -f "$dir/pid"
  return 1
}

# engine_announced prints the port that the engine says it has, nothing before that.
engine_announced() {
  sed -n 's/.*listening on 127\.0\.0\.1:\([0-9][0-9]*\).*/\1/p' "$(engine_dir "$1")/log" | head -n 1
}

engine_ready() {
  local port
  port=$(engine_announced "$1")
  [ -n "$port" ] && answers 127.0.0.1 "$port"
}

# engine_down NAME; the port stays noted for the next start.
engine_down() {
  local dir
  dir=$(engine_dir "$1")
  if engine_runs "$1"; then
    stop_process "$(engine_pid "$1")" "$(engine_mark "$1")"
    say "stopped the local engine of '$1'"
  fi
  rm -f "$dir/pid"
  [ "$1" != test ] || rm -rf "$dir/data"
}
