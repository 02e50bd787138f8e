#!/usr/bin/env bash
# Scans all processes to find and kill every process of a host's commands, except the processes of durable shells.
# host-gone.sh uses this file. The tables of durable shells that the functions here read are variables of
# host_is_gone.
# shellcheck disable=SC2154 # has_grep, keeper_tag, host_shift, shell_shift and command_line are set by keeper.sh

# Stops the processes of the commands until a scan finds nothing new, then kills them all, because a stopped process
# cannot fork. Repeats this until nothing is left: the death of a group's leader wakes the stopped members of the
# group, and a new shim may start its command during the kill. Spares shims and loggers, which record the end and exit
# by themselves, and continues those that are stopped.
kill_all() {
  local -A seen=() groups=() cookies=()
  local pid pids new rest rounds hit deadline=5
  # Limit the time, not the rounds: a process that cannot be killed must not keep this program busy.
  SECONDS=0
  while ((SECONDS < deadline)); do
    # Repeat this in each round, because a shim may have written its identity only now.
    [[ $keeper_tag == - ]] && list_related
    seen=()
    rest=0
    # If three scans in a row find something new, a process forks faster than a scan. kill_newest handles that.
    for ((new = 1, rounds = 0; new && rounds < 3; rounds++)); do
      new=0
      list_candidates
      for pid in "${pids[@]}"; do
        [[ -n ${seen[$pid]-} || $pid == "$BASHPID" ]] && continue
        belongs_to "$pid"
        case $? in
          0) kill -STOP "$pid" 2>/dev/null && seen[$pid]=1 && new=1 ;;
          2)
            rest=1
            continue_stopped "$pid"
            ;;
          3) continue_stopped "$pid" ;;
        esac
      done
    done
    ((${#seen[@]})) && kill -KILL "${!seen[@]}" 2>/dev/null
    kill_newest
    # Extend the deadline: killing a process that forks this fast takes several attempts, and no other program will
    # try.
    [[ $hit ]] && deadline=30
    [[ $hit ]] || ((${#seen[@]} || rest)) || break
    pause
  done
}

# Sets pids to all processes that can belong to a command. grep reads a process three times as fast as bash. Every tag
# has 19 digits. This process has a tag, so if grep finds no process at all, grep has failed, for example because of
# too many arguments.
list_candidates() {
  pids=()
  if [[ $has_grep && $keeper_tag != - ]]; then
    mapfile -t pids < <(grep -lsE '^Max file locks +[^ ]+ +[0-9]{19} ' /proc/[0-9]*/limits)
    pids=("${pids[@]%/limits}")
  fi
  ((${#pids[@]})) || pids=(/proc/[0-9]*)
  pids=("${pids[@]#/proc/}")
} 2>/dev/null

# Kills a chain in which each process forks one child and exits. When a scan reaches such a process, the process is
# gone, and its child appeared after the scan began. But the kernel assigns PIDs in order and reports the latest in
# /proc/loadavg. Usually one of the first few attempts kills that process before it forks. Sets hit if a process was
# found. Uses the tables of kill_all.
kill_newest() {
  local pid last before=0 quiet=0
  hit=''
  # The loop ends after 200 checks without a hit, which take about 10 ms, or after fewer checks if the kernel has
  # assigned no PID at all.
  while ((quiet < 200 && SECONDS < deadline)); do
    read -r _ _ _ _ last </proc/loadavg || return
    ((quiet += last == before ? 20 : 1))
    # Check the two newest PIDs, because another process may have forked since.
    for ((pid = last; pid > 1 && pid > last - 2; pid--)); do
      is_of_command "$pid" || continue
      kill -KILL "$pid" 2>/dev/null
      # An unchanged PID can belong to a zombie, so it does not count as a new process.
      ((last == before)) || hit=1 quiet=0
    done
    before=$last
  done
}

# Whether the process, dead or alive, belongs to a command that must end.
is_of_command() {
  if [[ $keeper_tag == - ]]; then
    is_related "$1"
    return
  fi
  has_host_tag "$1" && [[ $REPLY != "$keeper_tag" ]] &&
    [[ -z ${spared_tags[$((REPLY >> shell_shift))]-} ]]
}

# Continues process $1 if it is stopped. A command can stop its shim and its loggers. Without this function, they
# would stay stopped forever.
continue_stopped() {
  local stat
  IFS= read -r stat 2>/dev/null <"/proc/$1/stat" && [[ ${stat##*) } == [Tt]* ]] && kill -CONT "$1" 2>/dev/null
}

# Returns 0 for a process of a command, 2 for a shim that must end, 3 for another process of nacre, and 1 for a
# process that is unrelated, spared or ended.
belongs_to() {
  if [[ $keeper_tag == - ]]; then
    is_related "$1"
    return
  fi
  has_host_tag "$1" && is_alive "$1" || return 1
  if [[ $REPLY == "$keeper_tag" ]]; then
    is_young_shim "$1" && return 2
    return 3
  fi
  [[ -z ${spared_tags[$((REPLY >> shell_shift))]-} ]]
}

# Whether process $1 is a shim, of this or an earlier keeper, that must end and may not have started its command yet. A
# fork of the keeper that runs no other program has the keeper's command line. Unlike a keeper or a deputy, a shim
# does not lead a process group.
is_young_shim() {
  local pid=$1 stat
  [[ -z ${spared_shims[$1]-} ]] && IFS= read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
  # shellcheck disable=SC2086 # split into words on purpose
  set -- ${stat##*) }
  [[ $3 != "$pid" ]] && command_line_of "$pid" && [[ $REPLY == "$command_line" ]]
}

# False for a zombie: /proc shows the limits of a zombie until its parent reaps it. A process whose first thread has
# ended also looks like a zombie, but is alive while other threads run.
is_alive() {
  local stat
  IFS= read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
  # shellcheck disable=SC2086 # split into words on purpose
  set -- ${stat##*) }
  # $1 is the state, the 18th the number of threads.
  [[ $1 != [ZX] ]] || ((${18} > 1))
}

# Finds processes without tags: by the process groups of the commands, by the cookie, and by descent from such
# processes.
list_related() {
  local dir pid start
  for dir in "${covered[@]}"; do
    [[ -n ${durable[$dir]-} ]] && continue
    cookies[NACRE_SHELL=${dir##*/}]=1
    read -r _ _ pid start _ 2>/dev/null <"$dir/identity" || continue
    # The kernel does not reuse a PID that is still the ID of a group: if no process has it, the group is the shell's.
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
