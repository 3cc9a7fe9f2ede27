# shellcheck shell=bash
# The second engine: FerretDB, which speaks MongoDB's protocol, and the PostgreSQL below
# it. Starting and stopping both.

FERRETDB_START_SECONDS=60
FERRETDB_PORT_TRIES=20

ferretdb_state() { printf '%s/ferretdb' "$(documentdb_dir "$1")"; }
ferretdb_pid() { cat "$(documentdb_dir "$1")/pid" 2>/dev/null || true; }
ferretdb_port() { cat "$(documentdb_dir "$1")/port" 2>/dev/null || true; }
ferretdb_mark() { printf -- '--state-dir=%s ' "$(ferretdb_state "$1")"; }
ferretdb_runs() { is_running "$(ferretdb_pid "$1")" "$(ferretdb_mark "$1")"; }

documentdb_uri() { printf 'mongodb://127.0.0.1:%s/?directConnection=true' "$(ferretdb_port "$1")"; }

# documentdb_runs: both of them, or what is left of them.
documentdb_runs() { ferretdb_runs "$1" || postgres_runs "$1"; }

# documentdb_up NAME needs the lock of this clone and what documentdb_install installs.
documentdb_up() {
  local name=$1 before
  before=$(postgres_pid "$name")
  mkdir -p "$(documentdb_dir "$name")"
  postgres_up "$name"
  # One that was started anew may have another port.
  [ "$(postgres_pid "$name")" = "$before" ] || ferretdb_down "$name"
  ferretdb_up "$name"
}

ferretdb_up() {
  local name=$1 last tries=0
  if ferretdb_runs "$name"; then
    ferretdb_answers "$name" "$(ferretdb_port "$name")" && return
    note "the FerretDB of '$name' runs but does not answer: it is started anew"
    ferretdb_down "$name"
  fi
  postgres_extend "$name"
  # The port of last time first, so that a running catalogue finds its database again.
  last=$(ferretdb_port "$name")
  if [ -n "$last" ] && ! answers 127.0.0.1 "$last" && ferretdb_start "$name" "$last"; then
    return
  fi
  while [ "$tries" -lt "$FERRETDB_PORT_TRIES" ]; do
    tries=$((tries + 1))
    ferretdb_start "$name" "$(random_port)" && return
    grep -q "address already in use" "$(documentdb_dir "$name")/ferretdb.log" || break
  done
  documentdb_failed "$(documentdb_dir "$name")/ferretdb.log" "FerretDB does not start"
}

# ferretdb_command NAME PORT [COMMAND] leaves in COMMAND what runs FerretDB, with nothing
# of the user's environment (FERRETDB_…), and telling nobody.
ferretdb_command() {
  COMMAND=(env -i "PATH=$PATH" DO_NOT_TRACK=1 "$FERRETDB_BIN" "${@:3}"
    "--listen-addr=127.0.0.1:$2" --debug-addr=- --no-auth --telemetry=disable --log-level=WARN
    "--postgresql-url=postgres://postgres@127.0.0.1:$(postgres_port "$1")/postgres" "--state-dir=$(ferretdb_state "$1")")
}

# ferretdb_start NAME PORT
ferretdb_start() {
  local name=$1 port=$2 dir
  dir=$(documentdb_dir "$name")
  mkdir -p "$(ferretdb_state "$name")"
  [ ! -f "$dir/ferretdb.log" ] || mv -f "$dir/ferretdb.log" "$dir/ferretdb.log.previous"
  ferretdb_command "$name" "$port"
  detach "$dir/ferretdb.log" "${COMMAND[@]}"
  printf '%s\n' "$DETACHED" >"$dir/pid"
  ferretdb_wait "$name" "$port"
}

# ferretdb_wait NAME PORT returns when the server answers.
ferretdb_wait() {
  if await_ready "$FERRETDB_START_SECONDS" "" ferretdb_ready "$1" "$2"; then
    printf '%s\n' "$2" >"$(documentdb_dir "$1")/port"
    return 0
  fi
  ferretdb_down "$1"
  return 1
}

# ferretdb_ready NAME PORT: it writes no line of its own, so that only its life tells it from another.
ferretdb_ready() { answers 127.0.0.1 "$2" && ferretdb_answers "$1" "$2" && kill -0 "$DETACHED" 2>/dev/null; }

# ferretdb_answers NAME PORT: does it answer, and PostgreSQL below it?
ferretdb_answers() {
  ferretdb_command "$1" "$2" ping
  within 10 "${COMMAND[@]}" </dev/null >/dev/null 2>&1
}

ferretdb_down() {
  stop_process "$(ferretdb_pid "$1")" "$(ferretdb_mark "$1")"
  rm -f "$(documentdb_dir "$1")/pid"
}

# documentdb_down NAME; the ports stay noted for the next start.
documentdb_down() {
  if documentdb_runs "$1"; then
    ferretdb_down "$1"
    postgres_down "$1"
    say "stopped the FerretDB and PostgreSQL of '$1'"
  fi
  rm -f "$(documentdb_dir "$1")/pid" "$(documentdb_dir "$1")/postgres.pid"
  [ "$1" != test ] || rm -rf "$(postgres_data "$1")" "$(ferretdb_state "$1")"
}
