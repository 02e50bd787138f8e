#!/usr/bin/env bash
# Sourced (BASH_ENV) by a bash that was started before its job was known. It waits for the job, takes
# it over and leaves no trace: after it bash opens the script it was given, as if started just now.
__nacre_job() {
  # The job: working directory, the BASH_ENV the command is to have (or nothing), what to read as stdin (or
  # nothing), number of variables, NAME=VALUE each, all NUL-terminated.
  # Names with this prefix only: a variable of the job must not hit a local one.
  local __nacre_dir __nacre_count __nacre_pair __nacre_stdin
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
  # Not through `builtin`: that would undo the redirection again.
  exec 6>&-
  # A fifo: this waits until the host is there to write.
  [[ -z $__nacre_stdin ]] || exec <"$__nacre_stdin"
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
