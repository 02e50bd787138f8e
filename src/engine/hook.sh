#!/usr/bin/env bash
# Sourced (BASH_ENV) by a bash that was started before its job was known. It waits for the job, takes
# it over and leaves no trace: after it bash opens the script it was given, as if started just now.
#
# The job comes through fd 6, a pipe without a name: only the host can write to it, through /proc. A fifo
# could be opened by every process that sees its path, and whatever it wrote would be run here.
__nacre_job() {
  # The job: an empty field, working directory, the BASH_ENV the command is to have (or nothing), "rest" where stdin
  # is what follows the job in this pipe (or nothing), number of variables, NAME=VALUE each, all NUL-terminated.
  # Names with this prefix only: a variable of the job must not hit a local one.
  local __nacre_dir __nacre_count __nacre_pair __nacre_stdin
  # This bash has the pipe open for writing, too, and so never reads end-of-file. It exits when its shim is dead:
  # without one, no host would ever use it. Only this read has a timeout, which costs a system call for every byte.
  until IFS='' builtin read -r -d '' -t 10 -u 6 __nacre_pair; do
    (($? > 128)) || builtin exit 126
    builtin read -r _ _ _ __nacre_pair _ <"/proc/$BASHPID/stat"
    [[ $__nacre_pair == "$PPID" ]] || builtin exit 126
  done
  IFS='' builtin read -r -d '' -u 6 __nacre_dir
  builtin unset BASH_ENV
  IFS='' builtin read -r -d '' -u 6 __nacre_pair
  [[ -z $__nacre_pair ]] || builtin export BASH_ENV="$__nacre_pair"
  IFS='' builtin read -r -d '' -u 6 __nacre_stdin
  IFS='' builtin read -r -d '' -u 6 __nacre_count
  while ((__nacre_count-- > 0)); do
    IFS='' builtin read -r -d '' -u 6 __nacre_pair
    # A locale that does not exist would be complained about in our name.
    # shellcheck disable=SC2163 # the pair is NAME=VALUE
    builtin export "$__nacre_pair" 2>/dev/null
  done
  # Not through `builtin`: that would undo the redirection again. Opened anew, for reading only: fd 6 can be
  # written to as well, and whoever holds such an end of its own stdin never sees end-of-file.
  [[ -z $__nacre_stdin ]] || exec <"/proc/$BASHPID/fd/6"
  exec 6>&-
  if ! builtin cd -- "$__nacre_dir" 2>/dev/null; then
    builtin printf 'cwd\n' >"${0%/*}/fault"
    builtin exit 126
  fi
  # As in a bash that was started there: none, but exported once there is one.
  builtin unset OLDPWD
  builtin export OLDPWD
}
__nacre_job
builtin unset -f __nacre_job
SECONDS=0
# What has to happen first: it takes on its limits, or becomes a sandbox with another bash inside.
# shellcheck source=/dev/null
if [[ -e ${0%/*}/start ]]; then builtin . "${0%/*}/start"; fi
# The command's own BASH_ENV, as bash would: expanded like a word in double quotes, and not looked up in PATH.
if [[ -n ${BASH_ENV-} ]]; then
  builtin eval "__nacre_file=\"${BASH_ENV//\"/\\\"}\""
  [[ $__nacre_file == */* ]] || __nacre_file=./$__nacre_file
  # shellcheck source=/dev/null
  if [[ -r $__nacre_file ]]; then builtin . "$__nacre_file"; fi
  builtin unset __nacre_file
fi
