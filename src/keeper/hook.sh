#!/usr/bin/env bash
# Sourced (BASH_ENV) by a bash that was started before its job was known. It waits for the job, takes
# it over and leaves no trace: after it bash opens the script it was given, as if started just now.
__nacre_job() {
  # The job: working directory, the BASH_ENV the command is to have (or nothing), number of variables,
  # NAME=VALUE each, all NUL-terminated.
  # Names with this prefix only: a variable of the job must not hit a local one.
  local __nacre_dir __nacre_count __nacre_pair
  IFS='' builtin read -r -d '' -u 6 __nacre_dir
  builtin unset BASH_ENV
  IFS='' builtin read -r -d '' -u 6 __nacre_pair
  [[ -z $__nacre_pair ]] || builtin export BASH_ENV="$__nacre_pair"
  IFS='' builtin read -r -d '' -u 6 __nacre_count
  while ((__nacre_count-- > 0)); do
    IFS='' builtin read -r -d '' -u 6 __nacre_pair
    # shellcheck disable=SC2163 # the pair is NAME=VALUE
    builtin export "$__nacre_pair"
  done
  # Not through `builtin`: that would undo the redirection again.
  exec 6>&-
  if ! builtin cd -- "$__nacre_dir" 2>/dev/null; then
    builtin printf 'cwd\n' >"${0%/*}/fault"
    builtin exit 126
  fi
  builtin unset OLDPWD
}
__nacre_job
builtin unset -f __nacre_job
SECONDS=0
if [[ -n ${BASH_ENV-} && -r $BASH_ENV ]]; then builtin . "$BASH_ENV"; fi
