# shellcheck shell=bash
# make run, with a catalogue that only reports how it was called.

test_run_migrates_seeds_and_serves() {
  clone runs
  local said
  said=$("$WORK/runs/scripts/run" 2>&1 </dev/null)
  contains "$said" "catalogue migrate up"
  contains "$said" "catalogue seed --creatives 5000 --tasks 2000 --seed 1 --if-empty"
  contains "$said" "catalogue serve addr=127.0.0.1:"
  contains "$said" "key=64 env=development"
  contains "$said" "/creatives?limit=3"
  lacks "$said" "$(cat "$WORK/runs/.run/cursor.key")"
  equal "$(find "$WORK/runs/.run/cursor.key" -perm 600)" "$WORK/runs/.run/cursor.key"
}

test_run_keeps_its_cursor_key() {
  clone keeps
  "$WORK/keeps/scripts/run" >/dev/null 2>&1
  local key
  key=$(cat "$WORK/keeps/.run/cursor.key")
  "$WORK/keeps/scripts/run" >/dev/null 2>&1
  equal "$(cat "$WORK/keeps/.run/cursor.key")" "$key"
}

# The warm engine stands in for whoever holds port 8080: the first port is a
# setting of the test, since 8080 itself may be taken here or not.
test_run_takes_the_next_port_where_one_is_taken() {
  clone ports
  local port said
  services warm up >/dev/null
  port=$(cat "$WORK/warm/.run/run/port")
  sed -i.bak "s/FIRST_PORT=8080 LAST_PORT=8179/FIRST_PORT=$port LAST_PORT=$((port + 50))/" "$WORK/ports/scripts/run"
  said=$("$WORK/ports/scripts/run" 2>&1)
  contains "$said" "because port $port is taken"
  lacks "$said" "serve addr=127.0.0.1:$port "
}

test_run_takes_a_given_address_as_it_is() {
  clone address
  local said
  said=$(CATALOGUE_HTTP_ADDR=127.0.0.1:1 "$WORK/address/scripts/run" 2>&1)
  contains "$said" "serve addr=127.0.0.1:1 "
}
