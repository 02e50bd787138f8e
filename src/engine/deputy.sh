#!/usr/bin/env bash
# The deputy: a fork of the keeper that does nothing but outlive it. Where host and keeper are killed at the same
# moment it does what the keeper would have done (host-gone.sh): no shell waits for a job that nobody will send, and
# no command runs on that nobody would end.
#
# It waits for two ends of file: that of a pipe which the keeper alone has open for writing (its fd 4), and then that
# of the lifeline, which the host has (fd 3). Shims and loggers close both. A keeper that is stopped closes nothing and
# does not see that its host is dead, so the deputy looks at the lifeline now and then and continues the keeper.
# It leads a group of its own, so that a signal to the keeper's group leaves it.
# shellcheck disable=SC2154 # keeper_dir and lifeline are set by keeper.sh

deputy_pid='' deputy_start=''

start_deputy() {
  [[ $lifeline ]] || return 0
  open_pipe 4
  # Expanded here: in the fork it would be the deputy's own.
  local keeper=$BASHPID
  set -m
  # Opened through its own copy of fd 4: that works also if we are killed now. Its answers go where it hears from the
  # host.
  deputy "$keeper" </proc/self/fd/4 4>&- >&3 &
  deputy_pid=$!
  set +m
  disown "$deputy_pid"
  start_time "$deputy_pid" && deputy_start=$REPLY
}

has_deputy() {
  [[ ! $lifeline ]] || { [[ $deputy_pid ]] && start_time "$deputy_pid" && [[ $REPLY == "$deputy_start" ]]; }
}

# All is done that it could have to do.
dismiss_deputy() {
  [[ $deputy_pid ]] || return 0
  printf 'done\0' >&4
  has_deputy && continue_stopped "$deputy_pid"
}

# Leaves in REPLY what the keeper wrote, or nothing if it is dead. Fails while it lives and has written nothing.
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
  # A field says that this deputy may go. End-of-file says that the keeper is dead.
  until wait_for_keeper; do
    # Readable without a field: the host is dead. The keeper does the rest once it runs.
    read -r -t 0 -u 3 && continue_stopped "$1"
  done
  [[ $REPLY ]] && exit
  read_field REPLY <&3 && exit
  # The host was about to be served by another keeper, which has a deputy of its own.
  read -r acting _ <"$keeper_dir/identity" && [[ $acting == "$1" ]] || exit
  # Without the list nobody could tell what is durable.
  read_covered || exit
  write_keeper_identity
  host_is_gone
  rm -rf -- "$keeper_dir"
  exit
} 2>/dev/null
