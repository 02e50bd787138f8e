#!/usr/bin/env bash
# The keeper: one per host process. It forks every shell, so that the host never has to, and it
# is what remains when the host dies. It reads requests from stdin and answers on stdout; the
# protocol is described in protocol.ts. shim.sh holds what happens inside each forked child.
#
# Needs bash >= 4.4 and coreutils, nothing else: the same program runs at the far end of a pipe.
# Started as: keeper.sh STATE_DIR TAG SHIFT   (TAG "-" where no tag may be used)
set -u

keeper_dir=$1 # private to this keeper: fifos, the logger's link
keeper_tag=$2 # this host's tag with every bit below the host's own set, see tag.ts
host_shift=$3 # tags >> host_shift are equal for all that belongs to this host
hook=${BASH_SOURCE[0]%/*}/hook.sh
shell_path=$BASH

# shellcheck source=src/keeper/shim.sh
. "${BASH_SOURCE[0]%/*}/shim.sh"

main() {
  # A dead host must not end us while we clean up after it (a write to its pipe raises SIGPIPE),
  # and a Ctrl-C or a hang-up meant for the host is no business of ours.
  trap '' PIPE INT HUP QUIT TERM
  # Not "bash" in the process table: agents run `pkill bash`.
  printf nacre-keeper >"/proc/$BASHPID/comm" 2>/dev/null
  close_leaked_fds
  handshake || exit 1

  local kind
  while read_field kind; do
    case $kind in
      env) request_env ;;
      slot) request_slot ;;
      cover) request_cover ;;
      *) answer error protocol "$kind" && break ;;
    esac
  done
  host_is_gone
}

# --- requests: NUL-terminated fields, so that any path or value can be one -----------------------

read_field() {
  # shellcheck disable=SC2229 # the name of the variable to fill is the argument
  IFS= read -r -d '' "$1"
}

# One line per answer, shorter than PIPE_BUF: shims write to the same pipe, and only such writes
# are atomic. A host that is gone is noticed on stdin, not here.
answer() {
  printf '%s\n' "$*" 2>/dev/null
}

# env NAME COUNT NAME=VALUE...: keeps an environment in memory (never exported here) for the slots to come.
request_env() {
  local name count i value
  read_field name && read_field count || return
  unset "env_$name"
  local -n target=env_$name
  target=()
  for ((i = 0; i < count; i++)); do
    read_field value || return
    target+=("$value")
  done
}

# slot GENERATION DIR FIFO TAG CAP_KIB STREAMS ENV: forks a shim whose command waits for its job.
request_slot() {
  local generation dir fifo tag cap streams env
  read_field generation && read_field dir && read_field fifo && read_field tag &&
    read_field cap && read_field streams && read_field env || return
  [[ -p $keeper_dir/$fifo ]] || mkfifo -m 600 -- "$keeper_dir/$fifo"
  shim "$generation" "$dir" "$keeper_dir/$fifo" "$tag" "$cap" "$streams" "env_$env" &
  # bash remembers every job it started until it is waited for: that table must not grow.
  disown $!
  cover "$dir"
}

# cover DIR: a shell that a former keeper of this host forked; end it, too, when the host is gone.
request_cover() {
  local dir
  read_field dir && cover "$dir"
}

# The directories of shells that may be alive. Finished ones are dropped in bulk when the list has
# doubled, so the cost per shell stays constant and the list never outgrows the living.
covered=()
covered_max=64
cover() {
  covered+=("$1")
  ((${#covered[@]} < covered_max)) && return
  local dir state kept=()
  for dir in "${covered[@]}"; do
    state=
    IFS= read -r -n 1 state 2>/dev/null <"$dir/record"
    [[ $state == P ]] && kept+=("$dir")
  done
  covered=("${kept[@]}")
  ((covered_max = ${#covered[@]} * 2 + 64))
}

# --- start ------------------------------------------------------------------------------------------

# fds that the host leaked into us would be leaked into every command.
close_leaked_fds() {
  local path fd
  for path in "/proc/$BASHPID/fd/"*; do
    fd=${path##*/}
    # 255 is where bash keeps this script open.
    [[ $fd =~ ^[0-9]+$ ]] && ((fd > 2 && fd != 255)) && eval "exec $fd>&-"
  done
}

# Tells the host what it deals with, or why it cannot work.
handshake() {
  local tag_state=none boot='' ns='' start=''
  if ! mkdir -p -- "$keeper_dir" || ! ln -sf -- "$(type -P cat)" "$keeper_dir/nacre-log"; then
    answer fatal "cannot write to $keeper_dir"
    return 1
  fi
  if [[ $keeper_tag != - ]]; then
    if tag_is_taken; then
      answer fatal tag-taken
      return 1
    fi
    # The probe: set it, read it back.
    if ulimit -x "$keeper_tag" 2>/dev/null && tag_of "$BASHPID" && [[ $REPLY == "$keeper_tag" ]]; then
      tag_state=tag
    fi
  fi
  IFS= read -r boot 2>/dev/null </proc/sys/kernel/random/boot_id
  ns=$(readlink /proc/self/ns/pid 2>/dev/null)
  ns=${ns//[!0-9]/}
  identity_tail="${boot:-unknown} ${ns:-0}"
  start_time "$BASHPID" && start=$REPLY
  mkfifo -m 600 -- "$keeper_dir/idle" 2>/dev/null
  answer hello 1 "$BASHPID" "${start:-0}" "$tag_state" "$identity_tail" "$BASH_VERSION"
}

# Another keeper with our number would take our shells for its own. Ours from before (the host
# restarted us) is no stranger: its keeper is dead and its shims carry the very same tag, so the host
# says "+TAG" then.
tag_is_taken() {
  if [[ $keeper_tag == +* ]]; then
    keeper_tag=${keeper_tag#+}
    return 1
  fi
  local path prefix=$((keeper_tag >> host_shift))
  for path in /proc/[0-9]*; do
    tag_of "${path#/proc/}" && ((REPLY >> host_shift == prefix)) && return 0
  done
  return 1
}

# Sets REPLY to the tag (hard limit on file locks) of a process; fails where it has none.
tag_of() {
  local line
  while IFS= read -r line; do
    if [[ $line == 'Max file locks'* ]]; then
      # shellcheck disable=SC2086 # split into words on purpose
      set -- $line
      REPLY=$5
      [[ $REPLY != unlimited ]]
      return
    fi
  done 2>/dev/null <"/proc/$1/limits"
  return 1
}

# --- the host is gone ---------------------------------------------------------------------------------

host_is_gone() {
  local dir state
  # The reason is on disk before the first signal: whoever looks later sees why they ended.
  for dir in "${covered[@]}"; do
    state=
    IFS= read -r -n 1 state 2>/dev/null <"$dir/record"
    [[ $state == P && -e $dir/meta ]] && write_cause "$dir" host-ended
  done
  if [[ $keeper_tag != - ]]; then
    kill_tagged
  else
    kill_groups
  fi
  for dir in "${covered[@]}"; do
    # A slot that never got a job leaves nothing worth keeping.
    [[ -e $dir/meta ]] || rm -rf -- "$dir"
  done
  rm -rf -- "$keeper_dir"
}

# The cause is the second half of the record (end-record.ts); the first reason wins.
write_cause() {
  local part
  {
    IFS= read -r -N 128 part && IFS= read -r -N 128 part && [[ $part == -* ]]
  } 2>/dev/null <"$1/record" || return
  {
    IFS= read -r -N 128 part <&4
    printf '%-126s.\n' "C $2" >&4
  } 4<>"$1/record"
}

# Freeze what bears the tag until a scan finds nothing new, then kill it all: a process that is
# stopped cannot fork away from under us. Shims and loggers bear the keeper's own tag and are spared:
# they record the end and go by themselves.
kill_tagged() {
  local -A seen=()
  local path pid new round prefix=$((keeper_tag >> host_shift))
  for ((round = 0; round < 50; round++)); do
    new=0
    for path in /proc/[0-9]*; do
      pid=${path#/proc/}
      [[ -n ${seen[$pid]-} ]] && continue
      tag_of "$pid" || continue
      ((REPLY >> host_shift == prefix && REPLY != keeper_tag)) || continue
      kill -STOP "$pid" 2>/dev/null
      seen[$pid]=1
      new=1
    done
    ((new)) || break
  done
  ((${#seen[@]})) && kill -KILL "${!seen[@]}" 2>/dev/null
}

# Without tags: the group of each command and what still hangs below it.
kill_groups() {
  local dir pid rest
  for dir in "${covered[@]}"; do
    read -r _ _ _ _ pid rest 2>/dev/null <"$dir/identity" || continue
    [[ $pid =~ ^[0-9]+$ ]] && ((pid > 1)) && kill_tree "$pid" && kill -KILL -- "-$pid" 2>/dev/null
  done
}

kill_tree() {
  local child children=''
  kill -STOP "$1" 2>/dev/null
  IFS= read -r children 2>/dev/null <"/proc/$1/task/$1/children"
  for child in $children; do kill_tree "$child"; done
  kill -KILL "$1" 2>/dev/null
  return 0
}

main
