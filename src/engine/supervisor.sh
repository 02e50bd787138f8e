#!/usr/bin/env bash
# The first process of a sandboxed session. It starts one bash after another for the session's commands. When a bash
# ends, the leftovers of its command keep running, and the sandbox keeps its /tmp and its network.
#
# Started inside the sandbox as: supervisor.sh BASH
# It reads NUL-terminated fields from stdin. TOKEN DIRECTORY asks for the next bash. "held" follows when the host has
# opened the stdin of that bash, through which the host sends the script. "end" "" ends the sandbox. The supervisor
# answers through fd 9, a pipe to the host (session-reports.ts): with the PID of that bash inside the sandbox, and
# with how that bash ended. The bashes inherit neither stdin nor fd 9; they report through /proc/1/fd/9, which only
# processes inside the sandbox can open.
#
# The supervisor is the first process of its PID namespace: no signal from a command can end it, and orphans become
# its children.
set -u
bash_path=$1

# shellcheck source=src/engine/pipe.sh
. "${BASH_SOURCE[0]%/*}/pipe.sh"

main() {
  local token directory pid code=0
  while field token && field directory; do
    [[ $token == end ]] && break
    # This pipe carries the script of the next bash. Only the host can open it, through that bash.
    open_pipe 8
    # Job control makes bash the leader of its own process group and leaves INT and QUIT at their defaults.
    set -m
    become_bash "$token" "$directory" &
    pid=$!
    set +m
    # Keep the pipe open until the host has opened it: otherwise bash would read end-of-file.
    field REPLY
    exec 8>&-
    wait "$pid"
    code=$?
    report E "$token" "$code"
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
  # The bash itself reports its PID when its stdin is ready for the host, because its first command can end before the
  # supervisor runs again.
  report P "$1" "$BASHPID"
  # If the directory is gone, bash stays in its current directory, and the session notices.
  cd -- "$2" 2>/dev/null || :
  exec 9>&-
  exec -a bash "$bash_path" --noprofile --norc
}

report() {
  printf '%s\0%s\0%s\0\n' "$@" >&9
}

# When this process ends, the kernel kills everything in the sandbox. So wait until the processes that got a signal have
# ended. The host limits this wait.
until_alone() {
  local others
  open_pipe 8
  while others=(/proc/[0-9]*) && ((${#others[@]} > 1)); do
    read -r -t 0.02 -u 8 _
  done
}

main
