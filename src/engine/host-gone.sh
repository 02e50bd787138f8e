#!/usr/bin/env bash
# Cleans up after a dead host. Runs in its keeper or, if the keeper was killed, in its deputy (deputy.sh). Ends every
# shell that is not durable, with all its processes, and enforces the deadlines of the durable ones.
# shellcheck disable=SC2154 # keeper_dir, hook_env, keeper_tag, host_shift and command_line are set by keeper.sh

host_is_gone() {
  local dir
  # Deadline (in seconds since boot) and shim by directory of a durable shell; directory by tag; start time by shim. Not
  # global, because then a command could not have a variable of such a name.
  local -A durable=() shim_of=() spared_tags=() spared_shims=()
  # An unset variable must not end this program before it is done.
  set +u
  list_durable
  # The cause is on disk before the first signal, so that every later reader agrees on it.
  for dir in "${covered[@]}"; do
    if [[ -n ${durable[$dir]-} || ! -e $dir/meta ]] || ! is_pending "$dir"; then continue; fi
    if has_begun "$dir"; then write_cause "$dir" host-ended; else write_cause "$dir" never-started; fi
  done
  kill_all
  for dir in "${covered[@]}"; do
    # A slot without a job has no output and no record to keep.
    [[ -e $dir/meta ]] || rm -rf -- "$dir"
  done
  answer gone
  keep_deadlines
}

is_pending() {
  local state=
  IFS= read -r -n 1 state 2>/dev/null <"$1/record"
  [[ $state == P ]]
}

# A slot that still waits for its job has not begun, and its dead host cannot send the job. A slot that got its job has
# begun, even if it has not read the whole job, because the host may have reported the start. The bash of such a slot is
# awake. A bash that sleeps in pselect6 until fd 6 is readable has no job.
has_begun() {
  local pid stat call tries=0
  read -r _ _ pid _ 2>/dev/null <"$1/identity" || return 0
  while waits_for_job "$pid" && ((++tries < 1000)); do
    if IFS= read -r stat 2>/dev/null <"/proc/$pid/stat" && [[ ${stat##*) } == S* ]]; then
      IFS= read -r call 2>/dev/null <"/proc/$pid/syscall" || return 1
      [[ $call == '270 0x7 '* || $call == '72 0x7 '* ]] && return 1
    fi
    pause
  done
  return 0
}

# Whether process $1 is a bash in hook.sh: it was started with that file, has the job pipe, and has not opened its
# script, which bash opens as fd 255. The same test is in attach.ts.
waits_for_job() {
  local variable variables=()
  [[ -p /proc/$1/fd/6 && ! -e /proc/$1/fd/255 ]] || return
  { mapfile -d '' -t variables <"/proc/$1/environ"; } 2>/dev/null
  for variable in "${variables[@]}"; do
    [[ $variable == "BASH_ENV=$hook_env" ]] && return
  done
  return 1
}

list_durable() {
  local dir deadline shim start tag
  for dir in "${covered[@]}"; do
    deadline='' shim='' tag=''
    { read -r deadline _ <"$dir/durable"; } 2>/dev/null
    { read -r shim start _ _ tag _ <"$dir/identity"; } 2>/dev/null
    # Arithmetic with anything but a number would end this program, and no deadline would be kept.
    [[ $deadline =~ ^[0-9]+$ && $shim =~ ^[0-9]+$ && $tag =~ ^([0-9]+|-)$ ]] || continue
    if ! is_pending "$dir" || ! has_begun "$dir"; then continue; fi
    durable[$dir]=$deadline
    shim_of[$dir]=$shim
    spared_shims[$shim]=$start
    [[ $tag == - ]] || spared_tags[$((tag >> shell_shift))]=$dir
  done
}

# Runs as long as a durable shell lives. Ends durable shells at their deadlines, and the leftovers of ended ones, as the
# host would have done.
keep_deadlines() {
  local dir uptime deadline tag kept left=("${!durable[@]}")
  while ((${#left[@]})); do
    wait_seconds 1
    [[ -d $keeper_dir ]] || return
    read -r uptime _ </proc/uptime
    covered=() kept=()
    for dir in "${left[@]}"; do
      if is_pending "$dir" && has_shim "$dir"; then
        has_command "$dir" || continue_stopped "${shim_of[$dir]}"
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
      # Assign instead of unset, because unset (like arithmetic) would expand characters of the path again.
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
    for dir in "${covered[@]}"; do
      if has_shim "$dir"; then continue_stopped "${shim_of[$dir]}"; fi
    done
  done
}

# Whether the command's first process lives. When it ends, a shim that is not stopped records the end at once.
has_command() {
  local pid start
  { read -r _ _ pid start _ <"$1/identity"; } 2>/dev/null || return 1
  start_time "$pid" && [[ $REPLY == "$start" ]] && is_alive "$pid"
}

# Whether the shell's shim lives. Without its shim, a shell never gets a record.
has_shim() {
  local shim=${shim_of[$1]}
  start_time "$shim" && [[ $REPLY == "${spared_shims[$shim]}" ]] && is_alive "$shim"
}

# Whether another host owns the shell now (lease.ts). That host then decides about its leftovers.
is_taken_over() {
  local link
  for link in "$1"/owner.*; do
    [[ -L $link && $(readlink "$link") != none ]] && return
  done
  return 1
}

# Prints the deadline as requested, in milliseconds: the second field of the durable mark (durable-mark.ts).
deadline_of() {
  local ms
  read -r _ ms <"$1/durable"
  printf '%s' "${ms:-0}"
}

# The cause is the second half of the record (end-record.ts); the first cause wins.
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

# Stops the processes of the commands until a scan finds nothing new, then kills them all, because a stopped process
# cannot fork. Repeats this until nothing is left, because the death of a group's leader wakes its stopped members, and
# a shim that was just forked may start its command only now. Spares shims and loggers, which record the end and exit by
# themselves, and continues those that are stopped.
kill_all() {
  local -A seen=() groups=() cookies=()
  local path pid new rest rounds hit deadline=5
  # Limited by time and not by rounds: a process that cannot be killed must not keep this program busy.
  SECONDS=0
  while ((SECONDS < deadline)); do
    # Repeat this in each round, because a shim may have written its identity only now.
    [[ $keeper_tag == - ]] && list_related
    seen=()
    rest=0
    # If three scans in a row find something new, a process forks faster than a scan. kill_newest handles that.
    for ((new = 1, rounds = 0; new && rounds < 3; rounds++)); do
      new=0
      for path in /proc/[0-9]*; do
        pid=${path#/proc/}
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
    # Killing such a process takes several attempts, and no other program will try.
    [[ $hit ]] && deadline=30
    [[ $hit ]] || ((${#seen[@]} || rest)) || break
    pause
  done
}

# A process that forks one child and exits is gone when a scan reaches it, and its child appeared after the scan began.
# But the kernel assigns PIDs in order and reports the latest in /proc/loadavg. One of a few attempts kills that process
# before it forks. Sets hit if it found a process. Uses the tables of kill_all.
kill_newest() {
  local pid last before=0 quiet=0
  hit=''
  # Ends after 200 checks without a hit, about 10 ms; after fewer if the kernel has assigned no PID at all.
  while ((quiet < 200 && SECONDS < deadline)); do
    read -r _ _ _ _ last </proc/loadavg || return
    ((quiet += last == before ? 20 : 1))
    # Check the two newest PIDs, because another process may have forked since.
    for ((pid = last; pid > 1 && pid > last - 2; pid--)); do
      is_of_command "$pid" || continue
      kill -KILL "$pid" 2>/dev/null
      # An unchanged PID can be that of a zombie, so it does not count as a new process.
      ((last == before)) || hit=1 quiet=0
    done
    before=$last
  done
}

# Whether the process belongs to a command that must end, dead or alive.
is_of_command() {
  if [[ $keeper_tag == - ]]; then
    is_related "$1"
    return
  fi
  tag_of "$1" && ((REPLY >> host_shift == keeper_tag >> host_shift)) && [[ $REPLY != "$keeper_tag" ]] &&
    [[ -z ${spared_tags[$((REPLY >> shell_shift))]-} ]]
}

# Continues process $1 if it is stopped. A command can stop its shim and its loggers, which would then stay forever.
continue_stopped() {
  local stat
  IFS= read -r stat 2>/dev/null <"/proc/$1/stat" && [[ ${stat##*) } == [Tt]* ]] && kill -CONT "$1" 2>/dev/null
}

# 0: part of a command; 2: a shim that must end; 3: another process of nacre; 1: unrelated, or gone.
belongs_to() {
  if [[ $keeper_tag == - ]]; then
    is_related "$1"
    return
  fi
  tag_of "$1" && ((REPLY >> host_shift == keeper_tag >> host_shift)) && is_alive "$1" || return 1
  if [[ $REPLY == "$keeper_tag" ]]; then
    is_young_shim "$1" && return 2
    return 3
  fi
  [[ -z ${spared_tags[$((REPLY >> shell_shift))]-} ]]
}

# Whether process $1 is a shim, of this or an earlier keeper, that must end and may not have started its command yet. A
# fork of the keeper that runs no other program has the keeper's command line. A group leader is a keeper or a deputy.
is_young_shim() {
  local pid=$1 stat
  [[ -z ${spared_shims[$1]-} ]] && IFS= read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
  # shellcheck disable=SC2086 # split into words on purpose
  set -- ${stat##*) }
  [[ $3 != "$pid" ]] && command_line_of "$pid" && [[ $REPLY == "$command_line" ]]
}

# False for a zombie, which shows its limits until its parent reaps it. A process whose first thread has ended looks
# like a zombie while its other threads live on.
is_alive() {
  local stat
  IFS= read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
  # shellcheck disable=SC2086 # split into words on purpose
  set -- ${stat##*) }
  # $1 is the state, the 18th the number of threads.
  [[ $1 != [ZX] ]] || ((${18} > 1))
}

# Without tags: the process groups of the commands, processes with the cookie, and their descendants.
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
