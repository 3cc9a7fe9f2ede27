# shellcheck shell=bash
# Starting and stopping FerretDB and its PostgreSQL, which take seconds to come up: few
# starts, and more asked of each.

# documentdb CLONE COMMAND… is services with this engine.
documentdb() { ENGINE=documentdb services "$@"; }

# sql CLONE STATEMENT runs it in the PostgreSQL of run.
sql() {
  (
    cd "$WORK/$1" && . scripts/lib/all.sh
    postgres_command run psql -X -q -A -t -h 127.0.0.1 -p "$(postgres_port run)" -U postgres -c "$2"
    "${COMMAND[@]}"
  )
}

# processes CLONE prints the numbers of those that show the clone's path.
processes() { pgrep -f -- "(--state-dir|catalogue.data)=$WORK/$1/" || true; }

test_documentdb_comes_up_beside_the_local_engine_and_all_goes_down() {
  needs_documentdb || return 0
  clone both
  local local_engine first said
  local_engine=$(services both up)
  # what a start that was killed half-way has left
  mkdir -p "$WORK/both/.run/documentdb/run/data/new/base"
  first=$(documentdb both up 2>"$WORK/both.said")
  contains "$(cat "$WORK/both.said")" "FerretDB 2.7.0, PostgreSQL 18."
  equal "$(documentdb both up 2>/dev/null)" "$first"
  equal "$(services both up)" "$local_engine"
  equal "$(sql both "SELECT count(*) FROM pg_extension WHERE extname LIKE 'documentdb%'")" 3
  documentdb both up test

  said=$(services both status)
  contains "$said" "run   DocumentDB"
  contains "$said" "test  DocumentDB"
  contains "$said" "$(echo "$first" | head -n 1)"
  contains "$said" "$(echo "$local_engine" | head -n 1)"
  services both running

  services both down
  equal "$(processes both)" ""
  ! services both running || die "something counts as running"
  [ -d "$WORK/both/.run/documentdb/run/data/18" ] || die "the data of run are gone"
  [ ! -d "$WORK/both/.run/documentdb/test/data" ] || die "the data of test are left"
  services both reset
  [ ! -d "$WORK/both/.run" ] || die "reset leaves data"
}

test_a_killed_postgresql_is_started_anew_on_its_data_and_ports() {
  needs_documentdb || return 0
  clone felled
  local before
  before=$(documentdb felled up)
  sql felled "CREATE TABLE kept AS SELECT 7 AS n"
  kill -9 "$(cat "$WORK/felled/.run/documentdb/run/postgres.pid")"
  equal "$(documentdb felled up)" "$before"
  equal "$(sql felled "SELECT n FROM kept")" 7
  kill -9 "$(pid_of felled documentdb/run)"
  equal "$(documentdb felled up)" "$before"
  # as one whose start was cut short before the extensions were made
  kill -9 "$(pid_of felled documentdb/run)"
  sql felled "DROP EXTENSION documentdb_extended_rum"
  documentdb felled up
  equal "$(sql felled "SELECT count(*) FROM pg_extension WHERE extname LIKE 'documentdb%'")" 3
  services felled down
  equal "$(documentdb felled up)" "$before"
  equal "$(sql felled "SELECT n FROM kept")" 7
}

test_two_clones_with_documentdb_do_not_meet() {
  needs_documentdb || return 0
  clone east
  clone west
  local east west
  east=$(documentdb east up)
  # the ports of the other clone are noted here, and taken
  mkdir -p "$WORK/west/.run/documentdb/run"
  cp "$WORK/east/.run/documentdb/run/"{port,postgres.port} "$WORK/west/.run/documentdb/run/"
  west=$(documentdb west up)
  [ "$(echo "$east" | head -n 1)" != "$(echo "$west" | head -n 1)" ] || die "both clones use $west"
  sql east "CREATE TABLE mine (n int)"
  equal "$(sql west "SELECT count(*) FROM pg_class WHERE relname = 'mine'")" 0

  cp -R "$WORK/east" "$WORK/far"
  services far down
  services west down
  [ -n "$(processes east)" ] || die "the processes of another clone were ended"
  equal "$(documentdb east up)" "$east"
}

test_tests_are_told_what_documentdb_may_lack() {
  needs_documentdb || return 0
  clone told
  local said
  said=$(documentdb told env test)
  contains "$said" "export CATALOGUE_TEST_SKIP_MISSING=1"
  contains "$said" "unset CATALOGUE_TEST_ENGINE"
  lacks "$said" "export CATALOGUE_TEST_ENGINE"
  # ends only when nobody holds the pipe any more
  documentdb told up test 2>&1 | cat >/dev/null
  flock -n "$WORK/told/.run/lock" true || die "the lock is held"
}
