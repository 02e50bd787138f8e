#!/usr/bin/env bash
# Pipes without a name, for the keeper and its shims, and for the supervisor in a sandbox.

# open_pipe FD: a new pipe without a name, empty, open for reading and writing as this fd. No mkfifo: a name in the
# file system could be opened by whoever sees the path, and bash needs no other program for this.
open_pipe() {
  # From 5.1 on bash hands short texts over in a pipe; before that, in a file.
  eval "exec $1<<<''"
  if [[ -p /proc/$BASHPID/fd/$1 ]]; then
    eval "exec $1<>/proc/$BASHPID/fd/$1"
    read -r -u "$1" _
  else
    eval "exec $1< <(:)" && eval "exec $1<>/proc/$BASHPID/fd/$1"
  fi
}
