#!/usr/bin/env bash
# The first process of a sandboxed session. One bash after another takes the session's commands; what they leave
# running lives on in here when a bash ends, and so does the sandbox: its /tmp, its network.
#
# Started inside the sandbox as: supervisor.sh BASH CONTROL REPORT
# CONTROL is a fifo that it is told through, in fields that end with NUL: TOKEN SCRIPT DIRECTORY for the next bash,
# which reads its script from the fifo SCRIPT; or "end", "", "". It answers through the fifo REPORT (session-reports.ts):
# which pid that bash has in here, and how it ended.
#
# As the first process of its pid namespace no signal of a command can end it, and it takes in orphans.
set -u
bash_path=$1 control=$2 report=$3

main() {
  local token script directory pid code=0
  # For writing, too: it does not end when its host closes it for a moment. No bash gets to see it.
  exec 9<>"$control"
  while field token && field script && field directory; do
    [[ $token == end ]] && break
    # Job control makes it the leader of a group of its own and lets it start with INT and QUIT at their defaults.
    set -m
    become_bash "$token" "$script" "$directory" &
    pid=$!
    set +m
    wait "$pid"
    code=$?
    tell E "$token" "$code"
  done
  until_alone
  exit "$code"
}

field() {
  # shellcheck disable=SC2229 # the name of the variable to fill is the argument
  IFS= read -r -d '' -u 9 "$1"
}

become_bash() {
  # By itself: its first command may have ended before the supervisor gets to run again.
  tell P "$1" "$BASHPID"
  # Where that is gone it stays where it is; the session sees where that is.
  cd -- "$3" 2>/dev/null || :
  exec 9>&-
  exec -a bash "$bash_path" --noprofile --norc <"$2"
}

# Opened for reading, too: that waits for nobody.
tell() {
  printf '%s\0%s\0%s\0\n' "$@" 1<>"$report"
}

# Our end is the end of everything in here. Whoever was asked to end gets to do so; its host does not wait for ever.
until_alone() {
  local others
  while others=(/proc/[0-9]*) && ((${#others[@]} > 1)); do
    read -r -t 0.02 -u 9 _
  done
}

main
