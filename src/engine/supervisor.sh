#!/usr/bin/env bash
# The first process of a sandboxed session. One bash after another takes the session's commands; what they leave
# running lives on in here when a bash ends, and so does the sandbox: its /tmp, its network.
#
# Started inside the sandbox as: supervisor.sh BASH
# Its stdin is where it is told, in fields that end with NUL: TOKEN DIRECTORY for the next bash, and "held" when the
# host has opened that bash's stdin, which it sends the script through; or "end", "". Its fd 9 is a pipe to the host,
# through which it answers (session-reports.ts): which pid that bash has in here, and how it ended. The bashes have
# neither; they report through /proc/1/fd/9, which is in here only.
#
# As the first process of its pid namespace no signal of a command can end it, and it takes in orphans.
set -u
bash_path=$1

# shellcheck source=src/engine/pipe.sh
. "${BASH_SOURCE[0]%/*}/pipe.sh"

main() {
  local token directory pid code=0
  while field token && field directory; do
    [[ $token == end ]] && break
    # Its script comes through this one, which the host opens through that bash, and nobody else can.
    open_pipe 8
    # Job control makes it the leader of a group of its own and lets it start with INT and QUIT at their defaults.
    set -m
    become_bash "$token" "$directory" &
    pid=$!
    set +m
    # Until the host has it, this keeps it from being at its end.
    field REPLY
    exec 8>&-
    wait "$pid"
    code=$?
    tell E "$token" "$code"
  done
  until_alone
  exit "$code"
}

field() {
  # shellcheck disable=SC2229 # the name of the variable to fill is the argument
  IFS= read -r -d '' "$1"
}

become_bash() {
  exec </proc/self/fd/8 8>&-
  # By itself, when its stdin is what the host will open: its first command may have ended before the supervisor
  # gets to run again.
  tell P "$1" "$BASHPID"
  # Where that is gone it stays where it is; the session sees where that is.
  cd -- "$2" 2>/dev/null || :
  exec 9>&-
  exec -a bash "$bash_path" --noprofile --norc
}

tell() {
  printf '%s\0%s\0%s\0\n' "$@" >&9
}

# Our end is the end of everything in here. Whoever was asked to end gets to do so; its host does not wait for ever.
until_alone() {
  local others
  open_pipe 8
  while others=(/proc/[0-9]*) && ((${#others[@]} > 1)); do
    read -r -t 0.02 -u 8 _
  done
}

main
