# shellcheck shell=bash
# Processes that outlive make: told apart by their command line, not their number.

# command_of PID prints the command line, nothing where there is no such process.
command_of() {
  if [ -r "/proc/$1/cmdline" ]; then
    tr '\0' ' ' <"/proc/$1/cmdline" 2>/dev/null || true
  elif have ps; then
    ps -p "$1" -o command= 2>/dev/null || true
  fi
}

# is_running PID MARK: numbers of processes get reused, and a copied clone carries
# the other clone's pid files. So a process counts as ours only while its command
# line holds MARK, which for an engine is the path of this clone's data.
is_running() {
  [ -n "$1" ] || return 1
  case "$(command_of "$1")" in
    *"$2"*) return 0 ;;
    *) return 1 ;;
  esac
}

# stop_process PID MARK [SIGNAL [SECONDS]] asks the process to end (by SIGTERM), and
# after 10 s or SECONDS makes it end.
stop_process() {
  local pid=$1 mark=$2 signal=${3:-TERM} seconds=${4:-10} tries=0
  is_running "$pid" "$mark" || return 0
  kill -s "$signal" "$pid" 2>/dev/null || true
  while is_running "$pid" "$mark"; do
    tries=$((tries + 1))
    if [ "$tries" -eq $((seconds * 10)) ]; then
      note "process $pid did not end within $seconds s and is killed"
      kill -9 "$pid" 2>/dev/null || true
    fi
    [ "$tries" -lt $((seconds * 10 + 20)) ] || fail "process $pid does not end"
    sleep 0.1
  done
}

# detach LOG COMMAND… starts a command that survives make, the terminal and
# Ctrl-C, and leaves its number in DETACHED. It takes none of our open files
# along: a held lock would never be free again, and a held pipe would keep
# `make … | tee` waiting.
detach() {
  local log=$1
  shift
  set -m # a process group of its own, which Ctrl-C does not reach
  nohup "$@" </dev/null >"$log" 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
  DETACHED=$!
  disown "$DETACHED"
  set +m
}

# await_ready SECONDS SLOW COMMAND… returns when COMMAND succeeds, and fails when the process
# in DETACHED has ended instead: whoever answers then is another. SLOW is said after some
# seconds; it may be empty. The mark does not tell: the first moments belong to nohup, whose
# command line has it already.
await_ready() {
  local seconds=$1 slow=$2 tries=0
  shift 2
  while [ "$tries" -lt $((seconds * 20)) ]; do
    ! "$@" || return 0
    kill -0 "$DETACHED" 2>/dev/null || return 1
    [ "$tries" -ne 100 ] || [ -z "$slow" ] || note "$slow"
    tries=$((tries + 1))
    sleep 0.05
  done
  return 1
}
