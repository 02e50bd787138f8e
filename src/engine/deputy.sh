#!/usr/bin/env bash
# The deputy: a fork of the keeper that only waits. If host and keeper are killed at the same moment, the deputy cleans
# up instead (host-gone.sh). Otherwise slots would wait forever for a job, and commands would never end.
#
# The deputy waits for end-of-file on two pipes: first on a pipe that only the keeper has open for writing (its fd 4),
# then on the lifeline, which the host has open (fd 3). Shims and loggers close both. A stopped keeper does not close
# its pipe and does not notice that its host is dead. So the deputy also checks the lifeline periodically, and
# continues the keeper when the host is dead. The deputy leads its own process group, so that a signal to the keeper's
# group does not reach it.
# shellcheck disable=SC2154 # keeper_dir and lifeline are set by keeper.sh

deputy_pid='' deputy_start=''

start_deputy() {
  [[ $lifeline ]] || return 0
  open_pipe 4
  # Read the PID here, because BASHPID in the fork is the PID of the deputy.
  local keeper=$BASHPID
  set -m
  # The deputy opens the pipe through its own copy of fd 4, which works even if the keeper is killed now. It answers
  # through the lifeline.
  deputy "$keeper" </proc/self/fd/4 4>&- >&3 &
  deputy_pid=$!
  set +m
  disown "$deputy_pid"
  start_time "$deputy_pid" && deputy_start=$REPLY
}

has_deputy() {
  [[ ! $lifeline ]] || { [[ $deputy_pid ]] && start_time "$deputy_pid" && [[ $REPLY == "$deputy_start" ]]; }
}

# Lets the deputy exit when the keeper has cleaned up.
dismiss_deputy() {
  [[ $deputy_pid ]] || return 0
  printf 'done\0' >&4
  has_deputy && continue_stopped "$deputy_pid"
}

# Sets REPLY to the field that the keeper wrote, or to nothing if the keeper is dead. Fails if neither happens within
# 5 seconds.
wait_for_keeper() {
  local status
  IFS= read -r -d '' -t 5 REPLY
  status=$?
  ((status <= 128))
}

# deputy KEEPER
deputy() {
  local acting=''
  printf nacre-deputy >"/proc/$BASHPID/comm"
  # A field means that this deputy may exit. End-of-file means that the keeper is dead.
  until wait_for_keeper; do
    # If the lifeline is readable, the host is dead. Continue the keeper, so that it can clean up.
    read -r -t 0 -u 3 && continue_stopped "$1"
  done
  [[ $REPLY ]] && exit
  read_field REPLY <&3 && exit
  # Exit if the host had already started another keeper: that keeper has its own deputy.
  read -r acting _ <"$keeper_dir/identity" && [[ $acting == "$1" ]] || exit
  # Exit if the list of shells is missing: without it, the deputy cannot find out which shells are durable.
  read_covered || exit
  write_keeper_identity
  host_is_gone
  rm -rf -- "$keeper_dir"
  exit
} 2>/dev/null
