#!/usr/bin/env bash
# The keeper: one per host process. It forks every shell, so that the host never has to, and it
# is what remains when the host dies. It reads requests from stdin and answers on stdout; the
# protocol is described in protocol.ts. pipe.sh makes pipes, shim.sh holds what happens inside each forked child, host-gone.sh
# what is done at the end, and deputy.sh who does it where the keeper was killed, too.
#
# Needs bash >= 4.4 and coreutils, nothing else: the same program runs at the far end of a pipe.
# Runs from a copy of these scripts in DIR, which the host has made (keeper-scripts.ts): the package may lie where a
# sandboxed command can write, and what is read from there later would run outside of the sandbox.
#
# Started as: keeper.sh BASH DIR TAG SHIFT [LIFELINE]
# TAG is "-" where no tag may be used. LIFELINE is 3 where that fd is a pipe that the host holds open for as long
# as it lives; without one there is no deputy.
set -u

shell_path=$1 # not $BASH: that is the user's login shell where argv[0] is not found in PATH
keeper_dir=$2 # private to this keeper: its scripts, the logger's link, fifos of sandboxed sessions
keeper_tag=$3 # this host's tag with every bit below the host's own set, see tag.ts
host_shift=$4 # tags >> host_shift are equal for all that belongs to this host
shell_shift=$((host_shift - 14)) # and these for all that belongs to one shell
lifeline=${5-}
hook=${BASH_SOURCE[0]%/*}/hook.sh
# As BASH_ENV, which bash expands like a word in double quotes. Unescaped, a state root called $HOME would lead it
# elsewhere, and the bash would neither wait for its job nor be confined.
hook_env=${hook//\\/\\\\}
hook_env=${hook_env//\$/\\$}
hook_env=${hook_env//\`/\\\`}
env_path=$(type -P env)
# Looked up now, for good: a program of the same name that turns up earlier in PATH later is not run. Forks inherit it.
hash cat mkdir mkfifo ln mv rm readlink

# shellcheck source=src/engine/pipe.sh
. "${BASH_SOURCE[0]%/*}/pipe.sh"
# shellcheck source=src/engine/shim.sh
. "${BASH_SOURCE[0]%/*}/shim.sh"
# shellcheck source=src/engine/host-gone.sh
. "${BASH_SOURCE[0]%/*}/host-gone.sh"
# shellcheck source=src/engine/deputy.sh
. "${BASH_SOURCE[0]%/*}/deputy.sh"

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
      log) request_log ;;
      *) answer error protocol "$kind" && break ;;
    esac
  done
  host_is_gone
  dismiss_deputy
  rm -rf -- "$keeper_dir"
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

# slot GENERATION DIR TAG CAP_KIB STREAMS ENV: forks a shim whose command waits for its job.
request_slot() {
  local generation dir tag cap streams env
  read_field generation && read_field dir && read_field tag &&
    read_field cap && read_field streams && read_field env || return
  restore_keeper_dir
  has_deputy || start_deputy
  # Before anything runs in it: whoever comes after us must know which shells there are.
  cover "$dir"
  shim "$generation" "$dir" "$tag" "$cap" "$streams" "nacre_env_$env" &
  # bash remembers every job it started until it is waited for: that table must not grow.
  disown $!
  ((${#covered[@]} < covered_max)) || forget_ended
}

# log NAME FIFO FILE CAP_KIB: a logger for a session whose first ones are held by something it left running.
# A child of ours and not of the session: its `wait` would never return. FIFO is what a bash in a sandbox opens,
# which cannot see the logger's process; without one the logger reads from a pipe that has no name.
request_log() {
  local name fifo file cap
  read_field name && read_field fifo && read_field file && read_field cap || return
  restore_keeper_dir
  if [[ ! $fifo ]] || mkfifo -m 600 -- "$keeper_dir/$fifo"; then
    later_logger "$name" "$fifo" "$file" "$cap" &
    disown $!
  else
    answer no "$name"
  fi
}

# The directories of shells that may be alive; in memory, and on disk for the deputy and for the next keeper.
# Finished ones are dropped in bulk when the list has doubled, so the cost per shell stays constant and the list
# never outgrows the living.
covered=()
covered_max=64
cover() {
  covered+=("$1")
  printf '%s\0' "$1" 2>/dev/null >>"$keeper_dir/covered"
}

forget_ended() {
  local dir kept=()
  for dir in "${covered[@]}"; do
    is_pending "$dir" && kept+=("$dir")
  done
  covered=("${kept[@]}")
  ((covered_max = ${#covered[@]} * 2 + 64))
  write_covered "${kept[@]}"
}

# At no time may it be a part of the list: durable shells that are not on it would be ended.
write_covered() {
  printf '%s\0' "$@" 2>/dev/null >"$keeper_dir/covered.new" &&
    mv -f -- "$keeper_dir/covered.new" "$keeper_dir/covered" 2>/dev/null
}

# What was covered before us. Whatever else is in that file (a full disk may have cut a path short) is no shell.
read_covered() {
  local dir
  covered=()
  [[ -r $keeper_dir/covered ]] || return
  while read_field dir; do
    [[ -f $dir/record ]] && covered+=("$dir")
  done <"$keeper_dir/covered"
  return 0
}

# --- start ------------------------------------------------------------------------------------------

# fds that the host leaked into us would be leaked into every command. The lifeline is meant for us.
close_leaked_fds() {
  local path fd
  for path in "/proc/$BASHPID/fd/"*; do
    fd=${path##*/}
    # One of them is this script, which bash reads as it goes.
    [[ $fd =~ ^[0-9]+$ && ! $path -ef ${BASH_SOURCE[0]} ]] && ((fd > 2 && fd != lifeline)) && eval "exec $fd>&-"
  done
}

# Tells the host what it deals with, or why it cannot work.
handshake() {
  local tag_state=none boot='' ns=''
  if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
    answer fatal "it needs bash 4.4 or later, and $shell_path is $BASH_VERSION"
    return 1
  fi
  if ! make_keeper_dir; then
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
  command_line_of "$BASHPID" && command_line=$REPLY
  # A keeper before us may have left shells.
  read_covered || : >"$keeper_dir/covered"
  # From the first request on, and before the deputy of a keeper before us is told that it may go.
  start_deputy
  write_keeper_identity
  answer hello 2 "$BASHPID" "$REPLY" "$tag_state" "$identity_tail" "$BASH_VERSION"
}

make_keeper_dir() {
  mkdir -p -- "$keeper_dir" && ln -sf -- "$(type -P cat)" "$keeper_dir/nacre-log"
}

# The state directory can be removed while the host runs. The host puts the scripts back (keeper-scripts.ts); the rest
# of the directory is ours: without the link no logger starts, without the list and the identity no deputy acts.
restore_keeper_dir() {
  [[ -e $keeper_dir/identity && -e $keeper_dir/covered && -L $keeper_dir/nacre-log ]] && return
  make_keeper_dir && write_covered "${covered[@]}" && write_keeper_identity
}

# Who acts as the keeper. Leaves the start time in REPLY.
write_keeper_identity() {
  start_time "$BASHPID"
  printf '%s %s %s\n' "$BASHPID" "${REPLY:=0}" "$identity_tail" >"$keeper_dir/identity"
}

# Sets REPLY to the words that process $1 was started with; "+" before a tag says only that it is not a new one.
command_line_of() {
  local words=()
  { mapfile -d '' -t words <"/proc/$1/cmdline"; } 2>/dev/null
  REPLY=${words[*]/#+/}
  [[ $REPLY ]]
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

main
