# shellcheck shell=bash
# The PostgreSQL below the second engine: its data, starting and stopping it. Like the
# local engine a clone has up to two of them, for `make run` and for tests.

POSTGRES_START_SECONDS=120 # recovery after a crash reads the log again
POSTGRES_STOP_SECONDS=60   # writing out what is in memory
POSTGRES_TRIES=20

documentdb_dir() { printf '%s/documentdb/%s' "$RUN_DIR" "$1"; }
postgres_data() { printf '%s/data' "$(documentdb_dir "$1")"; }
postgres_pid() { cat "$(documentdb_dir "$1")/postgres.pid" 2>/dev/null || true; }
postgres_port() { cat "$(documentdb_dir "$1")/postgres.port" 2>/dev/null || true; }
postgres_runs() { is_running "$(postgres_pid "$1")" "$(postgres_mark "$1")"; }

# All see their data at the same path, so the clone's own is told in a setting that
# PostgreSQL takes and ignores.
postgres_mark() { printf -- '-c catalogue.data=%s ' "$(postgres_data "$1")"; }

# The shell line that enters the folder with PostgreSQL's system: the data ($1) at /mnt of
# that folder ($2), for this process and its children alone, and gone with them.
# shellcheck disable=SC2016 # expanded in there
POSTGRES_ENTER='mount --bind "$1" "$2/mnt" && mount -t tmpfs tmpfs "$2/dev/shm" || exit
  root=$2
  shift 2
  exec chroot --userspec=postgres:postgres "$root" "$@"'

# postgres_command NAME PROGRAM ARGUMENT… leaves in COMMAND what runs a program of
# PostgreSQL's on the data of NAME, with nothing of the user's environment (PGDATA, …).
postgres_command() {
  COMMAND=(unshare --mount env -i "PATH=$PATH" LC_ALL=C.UTF-8 TZ=UTC
    sh -c "$POSTGRES_ENTER" sh "$(postgres_data "$1")" "$DOCUMENTDB_ROOT"
    "/usr/lib/postgresql/$POSTGRESQL_MAJOR/bin/$2" "${@:3}")
}

# postgres_up NAME needs the lock of this clone and what documentdb_install installs.
postgres_up() {
  local name=$1 last port tries=0 log
  log=$(documentdb_dir "$name")/postgres.log
  if postgres_runs "$name"; then
    answers 127.0.0.1 "$(postgres_port "$name")" && return
    note "the PostgreSQL of '$name' runs but does not answer: it is started anew"
    postgres_down "$name"
  elif [ -n "$(postgres_pid "$name")" ]; then
    note "the PostgreSQL of '$name' has ended without 'make stop': it is started anew on the same data"
  fi
  postgres_init "$name"
  postgres_unlock "$name"
  last=$(postgres_port "$name")
  while [ "$tries" -lt "$POSTGRES_TRIES" ]; do
    tries=$((tries + 1))
    # It cannot choose a port by itself. One may be taken between the look and the start.
    port=$last
    [ -n "$port" ] && ! answers 127.0.0.1 "$port" || port=$(random_port)
    postgres_start "$name" "$port" && return
    if grep -q "shared memory block .* still in use" "$log"; then
      sleep 0.5 # children of one that was killed are about to end
    elif grep -q "Address already in use" "$log"; then
      last=""
    else
      break
    fi
  done
  documentdb_failed "$log" "PostgreSQL does not start"
}

# postgres_unlock NAME: the lock of one that was killed names a process that may still be
# ending, or whose number somebody else has by now. It is not ours, so its number is
# replaced by one that no process has; what else the lock tells stays good for the check
# that nobody uses the data.
postgres_unlock() {
  local file content
  file=$(postgres_data "$1")/$POSTGRESQL_MAJOR/postmaster.pid
  [ -s "$file" ] || return 0
  content=$(sed '1s/.*/99999999/' "$file")
  printf '%s\n' "$content" >"$file" # in place: the owner stays
}

# postgres_init makes the data of NAME where there are none. Those of another major
# version cannot be read, so its number is in the folder's name. Whatever has that name is
# complete: it is renamed at the end.
postgres_init() {
  local data log owner
  data=$(postgres_data "$1")
  log=$(documentdb_dir "$1")/initdb.log
  # the number of the user in there, whoever has it out here
  owner=$(sed -n 's/^postgres:[^:]*:\([0-9]*:[0-9]*\):.*/\1/p' "$DOCUMENTDB_ROOT/etc/passwd")
  rm -rf "$data/new"
  mkdir -p "$data"
  chown -R "$owner" "$data" # all of it, as a copied clone may belong to root
  [ ! -d "$data/$POSTGRESQL_MAJOR" ] || return 0
  postgres_command "$1" initdb -D /mnt/new -U postgres --auth=trust --encoding=UTF8 --locale=C.UTF-8 --no-instructions
  "${COMMAND[@]}" </dev/null >"$log" 2>&1 8>&- 9>&- || documentdb_failed "$log" "the data folder of PostgreSQL cannot be made"
  mv "$data/new" "$data/$POSTGRESQL_MAJOR"
}

# postgres_start NAME PORT
postgres_start() {
  local name=$1 port=$2 dir unsafe=()
  dir=$(documentdb_dir "$name")
  [ ! -f "$dir/postgres.log" ] || mv -f "$dir/postgres.log" "$dir/postgres.log.previous"
  : >"$dir/postgres.log" # postgres_wait may look before it has been opened
  # The data of tests are thrown away, also after a crash of the machine.
  [ "$name" != test ] || unsafe=(-c fsync=off -c synchronous_commit=off -c full_page_writes=off)
  # What clients do wrong is in FerretDB's log. Builds of indexes are looked for every
  # other second: neither a line nor a row is kept of that.
  postgres_command "$name" postgres -D "/mnt/$POSTGRESQL_MAJOR" \
    -c shared_preload_libraries=pg_cron,pg_documentdb_core,pg_documentdb,pg_documentdb_extended_rum \
    -c cron.database_name=postgres -c cron.log_statement=off -c cron.log_run=off \
    -c documentdb.alternate_index_handler_name=extended_rum \
    -c documentdb.rum_library_load_option=require_documentdb_extended_rum \
    -c listen_addresses=127.0.0.1 -c "port=$port" -c unix_socket_directories= \
    -c "shared_buffers=$(postgres_buffers)MB" -c max_connections=200 -c max_wal_size=4GB \
    -c log_min_messages=log ${unsafe[@]+"${unsafe[@]}"} -c "catalogue.data=$(postgres_data "$name")"
  detach "$dir/postgres.log" "${COMMAND[@]}"
  printf '%s\n' "$DETACHED" >"$dir/postgres.pid"
  postgres_wait "$name" "$port"
}

# postgres_buffers prints MB: a quarter of the machine's memory, between 128 and 1024.
postgres_buffers() {
  local quarter
  quarter=$(awk '/^MemTotal:/ { print int($2 / 4096) }' /proc/meminfo)
  if [ "$quarter" -gt 1024 ]; then quarter=1024; fi
  if [ "$quarter" -lt 128 ]; then quarter=128; fi
  printf '%s' "$quarter"
}

# postgres_wait NAME PORT returns when the server takes connections.
postgres_wait() {
  if await_ready "$POSTGRES_START_SECONDS" "PostgreSQL is still starting (after a crash it reads its log again)" \
    postgres_ready "$1" "$2"; then
    printf '%s\n' "$2" >"$(documentdb_dir "$1")/postgres.port"
    return 0
  fi
  postgres_down "$1"
  return 1
}

postgres_ready() {
  grep -q "ready to accept connections" "$(documentdb_dir "$1")/postgres.log" && answers 127.0.0.1 "$2"
}

# postgres_extend makes the extensions in the data of NAME, where a start that was cut short
# may have left one of them, or none.
postgres_extend() {
  local log
  log=$(documentdb_dir "$1")/extensions.log
  postgres_command "$1" psql -X -q -h 127.0.0.1 -p "$(postgres_port "$1")" -U postgres -d postgres -v ON_ERROR_STOP=1 \
    -c "SET client_min_messages = warning" -c "CREATE EXTENSION IF NOT EXISTS documentdb CASCADE" \
    -c "CREATE EXTENSION IF NOT EXISTS documentdb_extended_rum"
  "${COMMAND[@]}" </dev/null >"$log" 2>&1 8>&- 9>&- || documentdb_failed "$log" "the extension DocumentDB cannot be made"
}

# postgres_down ends it without waiting for its clients; that of tests without writing
# anything out. The port stays noted for the next start.
postgres_down() {
  local signal=INT
  [ "$1" != test ] || signal=QUIT
  stop_process "$(postgres_pid "$1")" "$(postgres_mark "$1")" "$signal" "$POSTGRES_STOP_SECONDS"
  rm -f "$(documentdb_dir "$1")/postgres.pid"
}
