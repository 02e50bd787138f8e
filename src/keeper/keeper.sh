#!/usr/bin/env bash
# The keeper: one per host process. It forks every shell, so that the host never has to, and it
# is what remains when the host dies. It reads requests from stdin and answers on stdout; the
# protocol is described in protocol.ts. shim.sh holds what happens inside each forked child.
#
# Needs bash >= 4.4 and coreutils, nothing else: the same program runs at the far end of a pipe.
# Started as: keeper.sh BASH DIR TAG SHIFT   (TAG "-" where no tag may be used)
set -u

shell_path=$1 # not $BASH: that is the user's login shell where argv[0] is not found in PATH
keeper_dir=$2 # private to this keeper: fifos, the logger's link
keeper_tag=$3 # this host's tag with every bit below the host's own set, see tag.ts
host_shift=$4 # tags >> host_shift are equal for all that belongs to this host
shell_shift=$((host_shift - 14)) # and these for all that belongs to one shell
hook=${BASH_SOURCE[0]%/*}/hook.sh
env_path=$(type -P env)

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
      fifo) request_fifo ;;
      log) request_log ;;
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
  unset "nacre_env_$name"
  local -n target=nacre_env_$name
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
  shim "$generation" "$dir" "$keeper_dir/$fifo" "$tag" "$cap" "$streams" "nacre_env_$env" &
  # bash remembers every job it started until it is waited for: that table must not grow.
  disown $!
  cover "$dir"
}

# fifo NAME: what a session's bash reports through.
request_fifo() {
  local name
  read_field name || return
  if mkfifo -m 600 -- "$keeper_dir/$name"; then answer fifo "$name"; else answer no "$name"; fi
}

# log NAME FILE CAP_KIB: a logger for a session whose first ones are held by something it left running.
# A child of ours and not of the session: its `wait` would never return.
request_log() {
  local name file cap
  read_field name && read_field file && read_field cap || return
  if mkfifo -m 600 -- "$keeper_dir/$name"; then
    fifo_logger "$name" "$file" "$cap" &
    disown $!
  else
    answer no "$name"
  fi
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
    # One of them is this script, which bash reads as it goes.
    [[ $fd =~ ^[0-9]+$ && ! $path -ef ${BASH_SOURCE[0]} ]] && ((fd > 2)) && eval "exec $fd>&-"
  done
}

# Tells the host what it deals with, or why it cannot work.
handshake() {
  local tag_state=none boot='' ns='' start=''
  if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
    answer fatal "it needs bash 4.4 or later, and $shell_path is $BASH_VERSION"
    return 1
  fi
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
  printf '%s %s %s\n' "$BASHPID" "${start:-0}" "$identity_tail" >"$keeper_dir/identity"
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

# Sets REPLY to the tag (hard limit on file locks) of a process; fails where it has none. Only that line is
# read, the twelfth: this is done for every process there is, several times.
tag_of() {
  local lines=()
  { mapfile -s 11 -n 1 lines <"/proc/$1/limits"; } 2>/dev/null
  [[ ${lines-} == 'Max file locks'* ]] || return
  # shellcheck disable=SC2086 # split into words on purpose
  set -- ${lines-}
  REPLY=$5
  [[ $REPLY != unlimited ]]
}

# --- the host is gone ---------------------------------------------------------------------------------

host_is_gone() {
  local dir
  # From here on nobody would notice our death: a mistake must not end us before the work is done.
  set +u
  list_durable
  # The reason is on disk before the first signal: whoever looks later sees why they ended.
  for dir in "${covered[@]}"; do
    if [[ -n ${durable[$dir]-} || ! -e $dir/meta ]] || ! is_pending "$dir"; then continue; fi
    if has_begun "$dir"; then write_cause "$dir" host-ended; else write_cause "$dir" never-started; fi
  done
  kill_all
  for dir in "${covered[@]}"; do
    # A slot that never got a job leaves nothing worth keeping.
    [[ -e $dir/meta ]] || rm -rf -- "$dir"
  done
  answer gone
  keep_deadlines
  rm -rf -- "$keeper_dir"
}

is_pending() {
  local state=
  IFS= read -r -n 1 state 2>/dev/null <"$1/record"
  [[ $state == P ]]
}

# A command that still waits at its fifo has not begun: nothing of it is worth keeping alive, and nobody
# will ever send it its job. One that was sent its job and has not read it yet, or all of it, has begun: its
# host may have told somebody so. That one is awake, so only who sleeps in a read of the fifo waits.
has_begun() {
  local pid stat call tries=0
  read -r _ _ pid _ 2>/dev/null <"$1/identity" || return 0
  while waits_at_fifo "$pid" && ((++tries < 1000)); do
    if IFS= read -r stat 2>/dev/null <"/proc/$pid/stat" && [[ ${stat##*) } == S* ]]; then
      IFS= read -r call 2>/dev/null <"/proc/$pid/syscall" || return 1
      [[ $call == '0 0x6 '* || $call == '63 0x6 '* ]] && return 1
    fi
    pause
  done
  return 0
}

waits_at_fifo() {
  local fifo
  [[ -p /proc/$1/fd/6 ]] && fifo=$(readlink "/proc/$1/fd/6") && [[ ${fifo%/*} -ef $keeper_dir ]]
}

# durable: the directories of shells that outlive their host, each with its deadline in seconds since
# boot; spared_tags and spared_shims: what belongs to them, the shims with their start times.
declare -A durable=() shim_of=() spared_tags=() spared_shims=()
list_durable() {
  local dir deadline shim start tag
  for dir in "${covered[@]}"; do
    deadline='' shim='' tag=''
    { read -r deadline _ <"$dir/durable"; } 2>/dev/null
    { read -r shim start _ _ tag _ <"$dir/identity"; } 2>/dev/null
    # What is not a number would end this program below, and with it the deadlines of all others.
    [[ $deadline =~ ^[0-9]+$ && $shim =~ ^[0-9]+$ && $tag =~ ^([0-9]+|-)$ ]] || continue
    if ! is_pending "$dir" || ! has_begun "$dir"; then continue; fi
    durable[$dir]=$deadline
    shim_of[$dir]=$shim
    spared_shims[$shim]=$start
    [[ $tag == - ]] || spared_tags[$((tag >> shell_shift))]=$dir
  done
}

# Stays for as long as a durable shell lives, and ends those whose time is over; and what an ended one left
# running, as the host would have at its end.
keep_deadlines() {
  local dir uptime deadline tag kept left=("${!durable[@]}")
  while ((${#left[@]})); do
    read -r -t 1 _ <>"$keeper_dir/idle" || [[ -p $keeper_dir/idle ]] || return
    read -r uptime _ </proc/uptime
    covered=() kept=()
    for dir in "${left[@]}"; do
      if is_pending "$dir" && has_shim "$dir"; then
        deadline=${durable[$dir]}
        if ((${uptime%%.*} < deadline)); then
          kept+=("$dir")
          continue
        fi
        write_cause "$dir" "timeout $(deadline_of "$dir")"
        covered+=("$dir")
      elif ! is_taken_over "$dir"; then
        covered+=("$dir")
      fi
      # Not unset, nor used in arithmetic: both would expand what is in the path once more.
      durable[$dir]=
    done
    left=("${kept[@]}")
    ((${#covered[@]})) || continue
    for tag in "${!spared_tags[@]}"; do
      for dir in "${covered[@]}"; do
        [[ ${spared_tags[$tag]} == "$dir" ]] && unset "spared_tags[$tag]" && break
      done
    done
    kill_all
  done
}

# A shell whose shim was killed is lost: no record will ever come.
has_shim() {
  local shim=${shim_of[$1]}
  start_time "$shim" && [[ $REPLY == "${spared_shims[$shim]}" ]] && is_alive "$shim"
}

# Whether another host answers for it now (lease.ts): that one decides about what it left running.
is_taken_over() {
  local link
  for link in "$1"/owner.*; do
    [[ -L $link && $(readlink "$link") != nobody ]] && return
  done
  return 1
}

# The deadline as it was asked for, in milliseconds: the second word of the mark.
deadline_of() {
  local ms
  read -r _ ms <"$1/durable"
  printf '%s' "${ms:-0}"
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

# Freezes what belongs to the commands until a scan finds nothing new, then kills it all: a process that
# is stopped cannot fork away from under us. And again, until nothing is left: the death of a group's
# leader wakes its stopped members, and a shim that was just forked may only now start its command.
# Shims and loggers are spared: they record the end and go by themselves.
kill_all() {
  local -A seen=() groups=() cookies=()
  local path pid new rest
  # By time and not by rounds: what cannot be killed must not keep us busy for long.
  SECONDS=0
  while ((SECONDS < 5)); do
    # Again each time: a shim may only now have written down whom it started.
    [[ $keeper_tag == - ]] && list_related
    seen=()
    rest=0
    for ((new = 1; new; )); do
      new=0
      for path in /proc/[0-9]*; do
        pid=${path#/proc/}
        [[ -n ${seen[$pid]-} || $pid == "$BASHPID" ]] && continue
        belongs_to "$pid"
        case $? in
          0) kill -STOP "$pid" 2>/dev/null && seen[$pid]=1 && new=1 ;;
          2) rest=1 ;;
        esac
      done
    done
    ((${#seen[@]})) && kill -KILL "${!seen[@]}" 2>/dev/null
    ((${#seen[@]} || rest)) || break
    pause
  done
}

# 0: part of a command; 2: a shim or a logger; 1: a stranger, or gone.
belongs_to() {
  if [[ $keeper_tag == - ]]; then
    is_related "$1"
    return
  fi
  tag_of "$1" && ((REPLY >> host_shift == keeper_tag >> host_shift)) && is_alive "$1" || return 1
  if [[ $REPLY == "$keeper_tag" ]]; then
    is_young_shim "$1" && return 2
    return 1
  fi
  [[ -z ${spared_tags[$((REPLY >> shell_shift))]-} ]]
}

# A shim of ours that is to go, and may not have started its command yet.
is_young_shim() {
  local stat
  [[ -z ${spared_shims[$1]-} ]] && IFS= read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
  # shellcheck disable=SC2086 # split into words on purpose
  set -- ${stat##*) }
  [[ $2 == "$BASHPID" ]]
}

# Not a zombie: those show their limits, too, until somebody takes note of them.
is_alive() {
  local stat
  IFS= read -r stat 2>/dev/null <"/proc/$1/stat" && [[ ${stat##*) } != [ZX]* ]]
}

# Without tags: the groups of the commands, whoever still carries the cookie, and what hangs below them.
list_related() {
  local dir pid start
  for dir in "${covered[@]}"; do
    [[ -n ${durable[$dir]-} ]] && continue
    cookies[NACRE_SHELL=${dir##*/}]=1
    read -r _ _ pid start _ 2>/dev/null <"$dir/identity" || continue
    # A pid stays reserved while it names a group: if nobody has it, the group is still ours.
    if ! start_time "$pid" || [[ $REPLY == "$start" ]]; then groups[$pid]=1; fi
  done
}

# Uses the tables of kill_all.
is_related() {
  local pid=$1 stat variable variables=()
  is_alive "$1" && IFS= read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
  mapfile -d '' -t variables 2>/dev/null <"/proc/$1/environ"
  for variable in "${variables[@]}"; do
    [[ $variable == NACRE_SHELL=* && -n ${cookies[$variable]-} ]] && return
  done
  # shellcheck disable=SC2086 # split into words on purpose
  set -- ${stat##*) }
  # $2 is the parent, $3 the group.
  [[ -n ${groups[$3]-} || -n ${seen[$2]-} ]] && return
  is_young_shim "$pid" && return 2
  return 1
}

main
