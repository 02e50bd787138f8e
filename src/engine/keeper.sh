#!/usr/bin/env bash
# The keeper: one per host process. It forks every shell, so that the host never has to, and it outlives the host. It
# reads requests from stdin and answers on stdout; protocol.ts describes both. pipe.sh makes pipes. Each forked child
# runs shim.sh. host-gone.sh and kill-all.sh clean up after the host; deputy.sh does this if the keeper was also killed.
#
# Needs only bash >= 4.4 and coreutils; uses grep if it is installed. The host runs a copy of these scripts, in DIR
# (keeper-scripts.ts). A sandboxed command may be able to write to the package, and bash would run the changed scripts
# outside the sandbox.
#
# Started as: keeper.sh BASH DIR TAG SHIFT KEY NAMESPACE [LIFELINE]
# TAG is "-" for no tag, KEY is "-" for no key, else KIB/SHIFT (host-key.ts). NAMESPACE is the number of the PID
# namespace. LIFELINE is 3 if fd 3 is a pipe that the host keeps open until its end. Without LIFELINE there is no
# deputy.
set -u

shell_path=$1 # not $BASH: that is the user's login shell if argv[0] is not in PATH
keeper_dir=$2 # private to this keeper: its scripts, the logger's link, fifos of sandboxed sessions
keeper_tag=$3 # this host's tag, with every bit below the host field set (tag.ts)
host_shift=$4 # tag >> host_shift is equal for all processes of this host
shell_shift=$((host_shift - 14)) # tag >> shell_shift is equal for all processes of one shell
host_key=${5%/*} # this host's key in KiB, with every bit below the key field set
key_shift=${5#*/} # key >> key_shift is equal for all processes of this host
namespace=$6
lifeline=${7-}
identity_key='' # the key as identities record it
has_grep=''  # set if grep is installed, which is faster than bash
inherited='' # set if an earlier keeper of this host left shells
clean='' # set if the host has proved that no command has left a process
hook=${BASH_SOURCE[0]%/*}/hook.sh
# For BASH_ENV, which bash expands like a word in double quotes. Without escapes, bash would not find the hook in a
# state root called $HOME, and would neither wait for its job nor be confined.
hook_env=${hook//\\/\\\\}
hook_env=${hook_env//\$/\\$}
hook_env=${hook_env//\`/\\\`}
# Resolve programs now: otherwise bash could run a program that appears in PATH later. Forks inherit the paths.
hash env cat mkdir mkfifo ln mv rm readlink
env_path=${BASH_CMDS[env]-}
hash grep 2>/dev/null && has_grep=1

# shellcheck source=src/engine/pipe.sh
. "${BASH_SOURCE[0]%/*}/pipe.sh"
# shellcheck source=src/engine/shim.sh
. "${BASH_SOURCE[0]%/*}/shim.sh"
# shellcheck source=src/engine/host-gone.sh
. "${BASH_SOURCE[0]%/*}/host-gone.sh"
# shellcheck source=src/engine/output-times.sh
. "${BASH_SOURCE[0]%/*}/output-times.sh"
# shellcheck source=src/engine/kill-all.sh
. "${BASH_SOURCE[0]%/*}/kill-all.sh"
# shellcheck source=src/engine/deputy.sh
. "${BASH_SOURCE[0]%/*}/deputy.sh"

main() {
  # A write to the pipe of a dead host raises SIGPIPE, which must not end the keeper during the cleanup. A Ctrl-C or a
  # hang-up is meant for the host.
  trap '' PIPE INT HUP QUIT TERM
  # Change the name in the process table, because agents run `pkill bash`.
  printf nacre-keeper >"/proc/$BASHPID/comm" 2>/dev/null
  close_leaked_fds
  handshake || exit 1

  local kind
  while read_field kind; do
    case $kind in
      env) request_env ;;
      slot) request_slot ;;
      log) request_log ;;
      clean) clean=1 ;;
      *) answer error protocol "$kind" && break ;;
    esac
  done
  host_is_gone
  dismiss_deputy
  rm -rf -- "$keeper_dir"
}

# --- requests: NUL-terminated fields, which can contain any path or value ---------------------------

read_field() {
  # shellcheck disable=SC2229 # the name of the variable to fill is the argument
  IFS= read -r -d '' "$1"
}

# Each answer is one line, shorter than PIPE_BUF: shims write to the same pipe, and only such short writes are atomic.
# The keeper notices a dead host on stdin, not here.
answer() {
  printf '%s\n' "$*" 2>/dev/null
}

# env NAME COUNT NAME=VALUE...: stores an environment in memory for later slots, without exporting it here. Stores the
# variables that a shim cannot set, or that would change the shim's behavior, in a separate list: env(1) sets these
# for the next bash. Separating them once here is cheaper than separating them for each slot.
request_env() {
  local name count i value
  read_field name && read_field count || return
  unset "nacre_env_$name" "nacre_odd_$name"
  local -n plain=nacre_env_$name odd=nacre_odd_$name
  plain=() odd=()
  for ((i = 0; i < count; i++)); do
    read_field value || return
    case ${value%%=*} in
      UID | EUID | PPID | BASH* | IFS | FUNCNAME | GROUPS | DIRSTACK | RANDOM | SECONDS | EPOCH* | SRANDOM | LINENO | covered | nacre_*)
        odd+=("$value")
        ;;
      *) plain+=("$value") ;;
    esac
  done
}

# slot GENERATION DIR TAG CAP_KIB STREAMS ENV: forks a shim whose command waits for its job.
request_slot() {
  local generation dir tag cap streams env
  read_field generation && read_field dir && read_field tag &&
    read_field cap && read_field streams && read_field env || return
  restore_keeper_dir
  has_deputy || start_deputy
  # List the shell before a process runs in it, because the deputy and the next keeper must know every shell.
  cover "$dir"
  shim "$generation" "$dir" "$tag" "$cap" "$streams" "$env" &
  # bash keeps every job in a table until it is waited for. Remove this job, so that the table does not grow.
  disown $!
  ((${#covered[@]} < covered_max)) || forget_ended
}

# log NAME FIFO FILE CAP_KIB: forks another logger for a session, for example if a leftover keeps the pipes of its first
# loggers open. If the logger were a child of the session's bash, `wait` there would never return. A bash in a sandbox
# opens FIFO, because it cannot see the logger's process; without FIFO the logger reads from a pipe without a name.
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

# The directories of shells that may be alive: in memory, and on disk for the deputy and the next keeper. The keeper
# drops ended shells each time the list has doubled in size. So the cost per shell stays constant, and the list stays
# short.
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

# Replaces the file atomically: a reader of a partial list would end the durable shells that are missing from it.
write_covered() {
  printf '%s\0' "$@" 2>/dev/null >"$keeper_dir/covered.new" &&
    mv -f -- "$keeper_dir/covered.new" "$keeper_dir/covered" 2>/dev/null
}

# Reads the list of the previous keeper. Skips entries without a record: a full disk can have cut a path short.
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

# Closes fds that leaked from the host, except the lifeline, because every command would inherit them.
close_leaked_fds() {
  local path fd
  for path in "/proc/$BASHPID/fd/"*; do
    fd=${path##*/}
    # Keep the fd of this script, which bash reads while it runs.
    [[ $fd =~ ^[0-9]+$ && ! $path -ef ${BASH_SOURCE[0]} ]] && ((fd > 2 && fd != lifeline)) && eval "exec $fd>&-"
  done
}

# Sends the greeting, or the reason why this keeper cannot work.
handshake() {
  local tag_state=none boot=''
  if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
    answer fatal "it needs bash 4.4 or later, and $shell_path is $BASH_VERSION"
    return 1
  fi
  if ! make_keeper_dir; then
    answer fatal "cannot write to $keeper_dir"
    return 1
  fi
  if [[ $keeper_tag != - ]]; then
    # A host without a key needs a host number that no other host has.
    if tag_is_taken; then
      answer fatal tag-taken
      return 1
    fi
    # Probe the tag and the key: set them, then read them back.
    if ulimit -x "$keeper_tag" 2>/dev/null && tag_of "$BASHPID" && [[ $REPLY == "$keeper_tag" ]]; then
      tag_state=tag
      if [[ $host_key != - ]] && ! { ulimit -m "$host_key" 2>/dev/null && tag_of "$BASHPID" && ((key_limit == host_key << 10)); }; then
        answer fatal no-key
        return 1
      fi
    fi
  fi
  IFS= read -r boot 2>/dev/null </proc/sys/kernel/random/boot_id
  identity_tail="${boot:-unknown} $namespace"
  [[ $keeper_tag == - || $host_key == - ]] || identity_key=:$host_key
  command_line_of "$BASHPID" && command_line=$REPLY
  # The host may have had an earlier keeper, which has left shells.
  if read_covered; then inherited=1; else : >"$keeper_dir/covered"; fi
  # Start the deputy before the host relieves the deputy of an earlier keeper: otherwise there would be no deputy for
  # a moment.
  start_deputy
  write_keeper_identity
  answer hello 2 "$BASHPID" "$REPLY" "$tag_state" "$identity_tail" "$BASH_VERSION"
}

make_keeper_dir() {
  { [[ -d $keeper_dir ]] || mkdir -p -- "$keeper_dir"; } && ln -sf -- "${BASH_CMDS[cat]}" "$keeper_dir/nacre-log"
}

# The state directory can be removed while the host runs. The host then restores the scripts (keeper-scripts.ts), and
# the keeper restores the rest. The rest includes the link to cat, which loggers need to start, and the list of shells
# and the identity, which a deputy needs.
restore_keeper_dir() {
  [[ -e $keeper_dir/identity && -e $keeper_dir/covered && -L $keeper_dir/nacre-log ]] && return
  make_keeper_dir && write_covered "${covered[@]}" && write_keeper_identity
}

# Records this process as the acting keeper. Sets REPLY to its start time.
write_keeper_identity() {
  start_time "$BASHPID"
  printf '%s %s %s\n' "$BASHPID" "${REPLY:=0}" "$identity_tail" >"$keeper_dir/identity"
}

# Sets REPLY to the arguments of process $1, without the "+" before a tag that an earlier keeper had.
command_line_of() {
  local words=()
  { mapfile -d '' -t words <"/proc/$1/cmdline"; } 2>/dev/null
  REPLY=${words[*]/#+/}
  [[ $REPLY ]]
}

# Whether another host has this host number. Without a key, the keeper of that host would treat our shells as its own. After
# a restart, the same host passes "+TAG": the shims of its dead keeper have this tag, but the number is not taken.
# Removes the "+".
tag_is_taken() {
  if [[ $keeper_tag == +* ]]; then
    keeper_tag=${keeper_tag#+}
    return 1
  fi
  [[ $host_key == - ]] || return
  local path prefix=$((keeper_tag >> host_shift))
  for path in /proc/[0-9]*; do
    tag_of "${path#/proc/}" && ((REPLY >> host_shift == prefix)) && return 0
  done
  return 1
}

# Sets REPLY to the tag (hard limit on file locks) of a process, and key_limit to its hard limit on resident memory; fails
# if it has no tag. Reads only the lines from the seventh to the twelfth, because this runs several times for every
# process on the machine.
tag_of() {
  local lines=()
  { mapfile -s 6 -n 6 lines <"/proc/$1/limits"; } 2>/dev/null
  [[ ${lines[5]-} == 'Max file locks'* ]] || return
  # shellcheck disable=SC2086 # split into words on purpose
  set -- ${lines[5]}
  REPLY=$5
  [[ $REPLY != unlimited ]] || return
  # shellcheck disable=SC2086
  set -- ${lines[0]}
  key_limit=$5
}
key_limit=''

# Whether process $1 has a tag of this host. Sets REPLY to it. Another host can have the same number, but not the same
# key. If a command has changed the limit that stores the key, compares only the number. Bit 61 marks a key.
has_host_tag() {
  tag_of "$1" && ((REPLY >> host_shift == keeper_tag >> host_shift)) || return
  [[ $host_key == - || $key_limit == unlimited ]] ||
    ((key_limit >> 61 != 1 || key_limit >> 10 >> key_shift == host_key >> key_shift))
}

main
