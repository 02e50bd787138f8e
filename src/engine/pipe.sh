#!/usr/bin/env bash
# Pipes without a name, for the keeper and its shims, and for the supervisor in a sandbox.

# open_pipe FD: a new, empty pipe without a name, open for reading and writing as this fd. Not a fifo, because every
# process that sees the path of a fifo can open it, and because mkfifo is another program.
open_pipe() {
  # bash 5.1 and later pass a short here-string through a pipe. Earlier versions use a file.
  eval "exec $1<<<''"
  if [[ -p /proc/$BASHPID/fd/$1 ]]; then
    eval "exec $1<>/proc/$BASHPID/fd/$1"
    read -r -u "$1" _
  else
    eval "exec $1< <(:)" && eval "exec $1<>/proc/$BASHPID/fd/$1"
  fi
}
