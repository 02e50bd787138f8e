#!/usr/bin/env bash
# Cleans up after a dead host. Runs in its keeper or, if the keeper was killed, in its deputy (deputy.sh). Ends every
# shell that is not durable, with all its processes (kill-all.sh), and enforces the deadlines of the durable ones. If
# the host has ended its commands itself, it sends the request `clean`: then only its waiting slots must be ended.
# shellcheck disable=SC2154 # clean, inherited, covered, keeper_dir, hook_env, shell_shift, command_line and deputy_pid are set elsewhere

host_is_gone() {
  local dir
  # durable: directory to deadline, in seconds since boot. shim_of: directory to shim PID. spared_tags: tag to
  # directory. spared_shims: shim PID to start time. Keep the tables local: otherwise a command could not have
  # variables with these names.
  local -A durable=() shim_of=() spared_tags=() spared_shims=()
  # An unset variable must not end this program before it is done.
  set +u
  list_durable
  mark_times "${!durable[@]}"
  # The cause is on disk before the first signal, so that every later reader agrees on it.
  for dir in "${covered[@]}"; do
    if [[ -n ${durable[$dir]-} || ! -e $dir/meta ]] || ! is_pending "$dir"; then continue; fi
    if has_begun "$dir"; then write_cause "$dir" host-ended; else write_cause "$dir" never-started; fi
  done
  # Use end_slots only without inherited shells, because the shims of an earlier keeper are not children of this
  # process.
  { [[ $clean && ! $inherited ]] && has_only_slots && end_slots; } || kill_all
  for dir in "${covered[@]}"; do
    # A slot without a job has no output and no record to keep.
    [[ -e $dir/meta ]] || rm -rf -- "$dir"
  done
  answer gone
  keep_deadlines
}

# Whether each covered shell has ended, is durable, or is a slot without a job. If so, no command is left that must
# end.
has_only_slots() {
  local dir
  for dir in "${covered[@]}"; do
    if [[ -z ${durable[$dir]-} && -e $dir/meta ]] && is_pending "$dir"; then return 1; fi
  done
  return 0
}

# Ends the slots that wait for a job, including slots that are still being opened. All shims are children of this
# process, so no scan of other processes is needed. Waits until the shims, which exit by themselves, are gone: a shim
# can create a removed directory again. Fails if a child does not end in time, or if the kernel does not list
# children.
end_slots() {
  local shim pid rest children
  SECONDS=0
  while ((SECONDS < 3)); do
    children_of "$BASHPID" || return
    rest=0
    for shim in "${children[@]}"; do
      if [[ $shim == "$deputy_pid" || -n ${spared_shims[$shim]-} ]] || ! is_alive "$shim"; then continue; fi
      # Skip a logger, which has another command line: it ends with its session.
      if ! command_line_of "$shim" || [[ $REPLY != "$command_line" ]]; then continue; fi
      rest=1
      continue_stopped "$shim"
      # Kill a new logger after one second: without its session, it would wait for ten seconds. A logger is not called
      # nacre-shim.
      if ((SECONDS)) && read -r REPLY <"/proc/$shim/comm" && [[ $REPLY != nacre-shim ]]; then kill -KILL "$shim"; fi
      children_of "$shim" || return
      for pid in "${children[@]}"; do
        waits_for_job "$pid" && kill -KILL "$pid" 2>/dev/null
      done
    done
    ((rest)) || return 0
    pause
  done
  return 1
}

# Sets the variable children to the children of process $1, which has one thread.
children_of() {
  [[ -e /proc/$1/task/$1/children ]] || return
  read -r -a children <"/proc/$1/task/$1/children"
  return 0
} 2>/dev/null

is_pending() {
  local state=
  IFS= read -r -n 1 state 2>/dev/null <"$1/record"
  [[ $state == P ]]
}

# A slot that still waits for its job has not begun, and its dead host cannot send the job. A slot that got its job has
# begun, even if it has not read the whole job, because the host may have reported the start. The bash of such a slot is
# awake. A bash that sleeps in read() of fd 6 has no job.
has_begun() {
  local pid stat call tries=0
  read -r _ _ pid _ 2>/dev/null <"$1/identity" || return 0
  while waits_for_job "$pid" && ((++tries < 1000)); do
    if IFS= read -r stat 2>/dev/null <"/proc/$pid/stat" && [[ ${stat##*) } == S* ]]; then
      IFS= read -r call 2>/dev/null <"/proc/$pid/syscall" || return 1
      [[ $call == '0 0x6 '* || $call == '63 0x6 '* ]] && return 1
    fi
    pause
  done
  return 0
}

# Whether process $1 is a bash in hook.sh: it was started with that file, has the job pipe open, and has not opened its
# script (fd 255). The same test is in attach.ts.
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
    # Check the fields first: arithmetic with anything but a number would end this program, and then no process would
    # enforce the deadlines.
    [[ $deadline =~ ^[0-9]+$ && $shim =~ ^[0-9]+$ && $tag =~ ^([0-9]+(:[0-9]+)?|-)$ ]] || continue
    tag=${tag%:*}
    if ! is_pending "$dir" || ! has_begun "$dir"; then continue; fi
    durable[$dir]=$deadline
    shim_of[$dir]=$shim
    spared_shims[$shim]=$start
    [[ $tag == - ]] || spared_tags[$((tag >> shell_shift))]=$dir
  done
}

# Runs until no durable shell is left. Ends durable shells at their deadlines, and ends the leftovers of durable
# shells that have ended, as the host would have done.
keep_deadlines() {
  local dir uptime deadline tag kept left=("${!durable[@]}")
  while ((${#left[@]})); do
    mark_times "${left[@]}"
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
      # Assign an empty value instead of using unset, because unset (like arithmetic) would expand special characters
      # of the path again.
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

# Whether the command's first process is alive. When this process ends, the shim records the end at once, unless the
# shim is stopped.
has_command() {
  local pid start
  { read -r _ _ pid start _ <"$1/identity"; } 2>/dev/null || return 1
  start_time "$pid" && [[ $REPLY == "$start" ]] && is_alive "$pid"
}

# Whether the shell's shim is alive. Without its shim, a shell never gets an exit record.
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

# Writes the cause into the second half of the record (end-record.ts), unless the record already has one: the first
# cause wins.
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
