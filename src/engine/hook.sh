#!/usr/bin/env bash
# nacre starts each bash before its job is known. BASH_ENV makes the bash read this file first. The code here waits for
# the job, applies it and leaves no trace. Then bash opens its script, as if it had just been started.
#
# The job comes through fd 6, a pipe without a name, so that only the host can write to it, through /proc. If it were a
# fifo, every process that sees its path could write a job, and this bash would run that job.
__nacre_wait() {
  # The shim keeps the pipe open for writing until the job has arrived. If the shim dies, `read` returns end-of-file
  # and this bash exits: no host uses a slot without a shim. Do not use `read -t`, which makes bash catch TERM from
  # then on: a bash that catches TERM loses a TERM that arrives while bash forks. A variable TMOUT would have the same
  # effect.
  builtin local TMOUT=0
  IFS='' builtin read -r -d '' -u 6 _
}
__nacre_job() {
  # The job: an empty field, the working directory, the command's BASH_ENV (or nothing), "rest" if its stdin follows the
  # job in this pipe, "keep" if this pipe is the input of a terminal (or nothing), the number of variables, and each as
  # NAME=VALUE, all NUL-terminated.
  # All local variables have the prefix __nacre_, so that a variable of the job does not overwrite them.
  local __nacre_dir __nacre_count __nacre_pair __nacre_stdin
  __nacre_wait || builtin exit 126
  IFS='' builtin read -r -d '' -u 6 __nacre_dir
  builtin unset BASH_ENV
  IFS='' builtin read -r -d '' -u 6 __nacre_pair
  [[ -z $__nacre_pair ]] || builtin export BASH_ENV="$__nacre_pair"
  IFS='' builtin read -r -d '' -u 6 __nacre_stdin
  IFS='' builtin read -r -d '' -u 6 __nacre_count
  while ((__nacre_count-- > 0)); do
    IFS='' builtin read -r -d '' -u 6 __nacre_pair
    # Discard stderr, because bash warns about a missing locale.
    # shellcheck disable=SC2163 # the pair is NAME=VALUE
    builtin export "$__nacre_pair" 2>/dev/null
  done
  # Do not use `builtin exec`, which would undo the redirection.
  if [[ $__nacre_stdin == rest ]]; then exec <&6; fi
  # Open the input of a terminal for reading and writing, so that the shell itself keeps the write end open. Otherwise
  # the input would end when the host exits.
  if [[ $__nacre_stdin == keep ]]; then exec 0<>"/proc/$BASHPID/fd/6"; fi
  # Closing fd 21 gives the shim an end-of-file. The shim then closes its end of the job pipe.
  exec 6<&- 21>&-
  if ! builtin cd -- "$__nacre_dir" 2>/dev/null; then
    builtin printf 'cwd\n' >"${0%/*}/fault"
    builtin exit 126
  fi
  # As in a bash that was started in this directory, OLDPWD is unset, but exported as soon as it is set.
  builtin unset OLDPWD
  builtin export OLDPWD
}
__nacre_job
builtin unset -f __nacre_job __nacre_wait
SECONDS=0
# The start script sets limits, or replaces this bash with a sandbox that runs another one.
# shellcheck source=/dev/null
if [[ -e ${0%/*}/start ]]; then builtin . "${0%/*}/start"; fi
# Source the file in the command's own BASH_ENV as bash would: expand the value like a word in double quotes, and do not
# search PATH.
if [[ -n ${BASH_ENV-} ]]; then
  builtin eval "__nacre_file=\"${BASH_ENV//\"/\\\"}\""
  [[ $__nacre_file == */* ]] || __nacre_file=./$__nacre_file
  # shellcheck source=/dev/null
  if [[ -r $__nacre_file ]]; then builtin . "$__nacre_file"; fi
  builtin unset __nacre_file
fi
