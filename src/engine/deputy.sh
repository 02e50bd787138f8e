#!/usr/bin/env bash
# The deputy: a fork of the keeper that does nothing but outlive it. If host and keeper are killed at the same moment, the
# deputy cleans up instead (host-gone.sh): otherwise slots would wait forever for a job, and commands would never end.
#
# It waits for end-of-file on two pipes: first on one that only the keeper has open for writing (its fd 4), then on the
# lifeline, which the host has open (fd 3). Shims and loggers close both. A stopped keeper closes nothing and does not
# notice that its host is dead, so the deputy checks the lifeline periodically and continues the keeper.
# It leads its own process group, so that a signal to the keeper's group does not reach it.
# shellcheck disable=SC2154 # keeper_dir and lifeline are set by keeper.sh

deputy_pid='' deputy_start=''

start_deputy() {
  [[ $lifeline ]] || return 0
  open_pipe 4
  # Expanded here: in the fork it would be the PID of the deputy.
  local keeper=$BASHPID
  set -m
  # Opened through its own copy of fd 4: that works even if the keeper is killed now. It answers through the lifeline.
  deputy "$keeper" </proc/self/fd/4 4>&- >&3 &
  deputy_pid=$!
  set +m
  disown "$deputy_pid"
  start_time "$deputy_pid" && deputy_start=$REPLY
}

has_deputy() {
  [[ ! $lifeline ]] || { [[ $deputy_pid ]] && start_time "$deputy_pid" && [[ $REPLY == "$deputy_start" ]]; }
}

# The keeper has cleaned up: nothing is left for the deputy.
dismiss_deputy() {
  [[ $deputy_pid ]] || return 0
  printf 'done\0' >&4
  has_deputy && continue_stopped "$deputy_pid"
}

# Sets REPLY to the field that the keeper wrote, or to nothing if it is dead. Fails while it lives and has written nothing.
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
    # Readable without a field: the host is dead. The keeper cleans up as soon as it runs.
    read -r -t 0 -u 3 && continue_stopped "$1"
  done
  [[ $REPLY ]] && exit
  read_field REPLY <&3 && exit
  # The host was starting another keeper, which has its own deputy.
  read -r acting _ <"$keeper_dir/identity" && [[ $acting == "$1" ]] || exit
  # Without the list no process knows which shells are durable.
  read_covered || exit
  write_keeper_identity
  host_is_gone
  rm -rf -- "$keeper_dir"
  exit
} 2>/dev/null
