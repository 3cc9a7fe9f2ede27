# shellcheck shell=bash
# Starting and stopping: two clones, crashes, races.

test_second_up_uses_the_running_engine() {
  clone twice
  local first second
  first=$(services twice up)
  second=$(services twice up)
  equal "$first" "$second"
  contains "$first" "directConnection=true"
}

test_up_twice_at_once_starts_one_engine() {
  clone race
  services race up >"$WORK/race.1" &
  local other=$!
  services race up >"$WORK/race.2"
  wait "$other"
  equal "$(cat "$WORK/race.1")" "$(cat "$WORK/race.2")"
  equal "$(pgrep -c -f -- "--storage-path $WORK/race/.run/run/data" || true)" 1
}

test_two_clones_do_not_meet() {
  clone left
  clone right
  local left right
  left=$(services left up)
  right=$(services right up)
  [ "$left" != "$right" ] || die "both clones use $left"
  services left down
  contains "$(services right status)" "$(echo "$right" | head -n 1)"
  contains "$(services right status)" "$(echo "$right" | tail -n 1)"
}

test_a_copied_clone_does_not_stop_the_original() {
  clone original
  services original up
  cp -R "$WORK/original" "$WORK/copied"
  services copied down
  kill -0 "$(pid_of original run)" || die "the engine of the original is gone"
}

test_a_killed_engine_is_started_anew_on_its_data_and_port() {
  clone killed
  local before after
  before=$(services killed up)
  kill -9 "$(pid_of killed run)"
  echo "still here" >"$WORK/killed/.run/run/data/marker"
  after=$(services killed up)
  equal "$before" "$after"
  [ -f "$WORK/killed/.run/run/data/marker" ] || die "the data was made anew"
}

test_a_taken_port_of_last_time_is_no_obstacle() {
  clone moved
  local uri port
  services moved up
  port=$(cat "$WORK/moved/.run/run/port")
  services moved down
  services warm down
  echo "$port" >"$WORK/warm/.run/run/port"
  contains "$(services warm up)" ":$port/"
  uri=$(services moved up)
  lacks "$uri" ":$port/"
}

test_a_foreign_process_with_our_number_is_left_alone() {
  clone reused
  services reused up
  services reused down
  sleep 60 &
  local foreign=$!
  echo "$foreign" >"$WORK/reused/.run/run/pid"
  services reused down
  kill -0 "$foreign" || die "a foreign process was ended"
  kill "$foreign"
}

test_down_keeps_run_and_drops_test() {
  clone data
  services data up run
  services data up test
  services data down
  [ -d "$WORK/data/.run/run/data" ] || die "the data of run is gone"
  [ ! -d "$WORK/data/.run/test/data" ] || die "the data of test is left"
  services data down # a second time changes nothing
  services data reset
  [ ! -d "$WORK/data/.run" ] || die "reset leaves data"
}

test_a_given_address_wins_and_is_masked() {
  clone given
  local said
  said=$(CATALOGUE_MONGODB_URI='mongodb://me:secret@db.example/x' services given up 2>&1)
  contains "$said" "mongodb://***@db.example/x"
  lacks "$said" secret
  [ ! -f "$WORK/given/.run/run/pid" ] || die "an engine was started"
}

test_the_engine_leaves_pipes_and_locks_alone() {
  clone pipes
  # Ends only when nobody holds the pipe any more.
  services pipes up 2>&1 | cat >/dev/null
  flock -n "$WORK/pipes/.run/lock" true || die "the lock is held"
}

test_env_names_the_engine_that_tests_may_kill() {
  clone engine
  local said
  said=$(services engine env test)
  (
    eval "$said"
    "$CATALOGUE_TEST_ENGINE" --version
  )
  lacks "$(services engine env run)" ENGINE
  lacks "$(CATALOGUE_TEST_MONGODB_URI=mongodb://db.example/x services engine env test)" ENGINE
}
