#!/usr/bin/env bash
# The shim: one per shell, a fork of the keeper. It starts the loggers and a bash that waits for its job (hook.sh),
# waits for that bash to end, drains the loggers, writes the exit record and only then reports to the host. So
# everything is on disk when the host learns of the end.
#
# Its fds: 3 answers to the host, 4 exit record, 5 and 7 output files, 6 the job pipe, 8 and 9 the command's ends of the
# output pipes, 21 and 22 the end of the wait for the job. The command and the loggers inherit only the fds they need.
# The shim first closes fds 3 and 4 of the keeper (deputy.sh). After the start of the command, 6 is the report pipe of a
# session: its bash opens /proc/SHIM/fd/6 for each report, and the host opens it once. 8 and 9 stay open here until
# everything is written. So a logger that ends earlier was killed, and the kernel still has the byte count of a living
# logger.
# shellcheck disable=SC2154 # keeper_dir, hook, hook_env, shell_path, env_path, identity_key and identity_tail are set by keeper.sh

# shim GENERATION DIR TAG CAP_KIB STREAMS ENV
shim() {
  local generation=$1 dir=$2 tag=$3 cap=$4 streams=$5 env=$6
  local out_logger='' err_logger='' out_bytes=0 err_bytes=0 command_pid='' code='' flags='' REPLY=''
  exec 3>&1 4>&- </dev/null >/dev/null 2>/dev/null
  trap 'printf "failed %s\n" "$generation" >&3' EXIT
  printf nacre-shim >"/proc/$BASHPID/comm"

  # Connect the command to pipes, not to the files: `echo x >/dev/stderr` opens its target again, and would truncate a
  # file. The shim opens the files, so that it can read how much was written.
  exec 4<>"$dir/record" 5>>"$dir/out" || exit 1
  # Without the hook, bash would read its script at once: it would neither wait for its job nor be confined.
  [[ -r $hook ]] || exit 1
  open_pipe 6 || exit 1
  exec 8> >(log 5 "$cap")
  out_logger=$!
  if [[ $streams == split ]]; then
    exec 7>>"$dir/err" || exit 1
    exec 9> >(log 7 "$cap")
    err_logger=$!
  else
    exec 9>&8
  fi

  # The waiting bash closes fd 21 when it has its job, or ends.
  open_pipe 21 || exit 1
  # Job control makes the command the leader of its own process group and leaves INT and QUIT at their defaults. Without
  # job control, the command's bash would ignore both forever.
  set -m
  # The shim ignores TERM. Its fork must not: otherwise a TERM sent just after the start would be lost.
  trap - TERM
  run_command "$dir" "$tag" "$env" 3>&- 4>&- 5>&- 7>&- &
  command_pid=$!
  trap '' TERM
  set +m
  # Until the job is here, the waiting bash must not read end-of-file from the job pipe, unless this shim dies
  # (hook.sh). Open fd 22 only for writing: with another reader, the host could send a job to a dead slot without an
  # error.
  exec 22>"/proc/$BASHPID/fd/6" 21<"/proc/$BASHPID/fd/21"
  open_pipe 6
  write_identity "$dir" "$command_pid" "$tag"
  trap - EXIT
  printf 'ready %s %s %s %s %s %s\n' \
    "$generation" "$BASHPID" "$command_pid" "$REPLY" "$out_logger" "${err_logger:-$out_logger}" >&3

  # When bash has its job, close the job pipe. The pipe can become the command's stdin, which would otherwise never
  # reach end-of-file.
  read -r -u 21 _
  exec 21<&- 22>&-
  # Without job control `wait` does not return for a command that is only stopped.
  wait "$command_pid"
  code=$?
  end_of_logger "$out_logger"
  [[ -n $err_logger ]] && end_of_logger "$err_logger"
  lost_bytes 5 "$out_logger" && out_bytes=$REPLY
  [[ -n $err_logger ]] && lost_bytes 7 "$err_logger" && err_bytes=$REPLY
  [[ -e $dir/trailer ]] && write_trailer "$dir" "$code" >&5
  restore_output "$dir"
  written 5 && ((out_bytes += REPLY))
  written 7 && ((err_bytes += REPLY))
  local uptime
  read -r uptime _ </proc/uptime

  # Overwrite the record in place, in one write: a full disk can refuse a new file, but not this write.
  local record="$code ${flags:--} $out_bytes $err_bytes ${uptime:-0.00}"
  printf 'X %-124s.\n' "$record" >&4
  restore_file 4 "$dir/record"
  printf 'exit %s %s\n' "$generation" "$record" >&3
  reap_loggers
  exit 0
}

# Waits for the loggers to exit. A logger that outlives the shim becomes a child of PID 1. In some containers PID 1
# never reaps, and each command would leave zombies. bash reaps its children by itself while it waits. Stop waiting
# after 50 tries, because a leftover can keep the pipes open.
reap_loggers() {
  local tries
  exec 3>&- 8>&- 9>&-
  for ((tries = 0; tries < 50; tries++)); do
    [[ -e /proc/$out_logger || -e /proc/${err_logger:-$out_logger} ]] || break
    pause
  done
}

# The state directory can be removed while the command runs. The files are still open here: restore their content before
# the host learns of the end. Otherwise the output and the exit code would be lost.
restore_output() {
  [[ $1/out -ef /proc/$BASHPID/fd/5 ]] || (umask 077 && mkdir -p -- "$1")
  restore_file 5 "$1/out"
  [[ $streams == split ]] && restore_file 7 "$1/err"
}

# restore_file FD PATH: copies the file that is open as FD to PATH, unless PATH still is that file.
restore_file() {
  [[ $2 -ef /proc/$BASHPID/fd/$1 ]] && return
  (umask 077 && cat <"/proc/$BASHPID/fd/$1" >"$2.restored" && mv -f -- "$2.restored" "$2")
}

# write_trailer DIR CODE: prints how the command ended, for readers that see only the output file. A fault file means
# that the command never began: hook.sh or the start script of a sandbox has written the reason to it.
# shell/outcome.ts handles the same reasons.
write_trailer() {
  local fault=''
  [[ -e $1/fault ]] && read -r fault <"$1/fault"
  case $fault in
    cwd) printf '\n\n[background process error: the working directory was gone when it started]\n' ;;
    limits) printf '\n\n[background process error: its limits could not be set]\n' ;;
    sandbox) printf '\n\n[background process error: its sandbox could not be set up]\n' ;;
    *)
      if (($2 == 0)); then
        printf '\n\n[background process completed]\n'
      else
        printf '\n\n[background process failed: exit code %s]\n' "$2"
      fi
      ;;
  esac
}

# The logger: copies its stdin to the file on fd $1. The disk cap is the logger's file size limit, which the kernel
# enforces to the byte, even if host and keeper are dead. The limit does not apply to other files that the command
# writes. The logger runs through a link, so that it is not called "cat" in the process table: agents run `pkill cat`.
log() {
  trap - PIPE INT HUP QUIT TERM
  ulimit -f "$2"
  # shellcheck disable=SC2261 # the redirections name different fds
  exec >&"$1" 3>&- 4>&- 5>&- 6>&- 7>&- 8>&-
  exec -a cat "$keeper_dir/nacre-log"
}

# later_logger NAME FIFO FILE CAP_KIB: a logger for a running session. After the answer, the host opens the logger's
# stdin for writing and sends an empty line. A dead host sends nothing, and the logger exits.
later_logger() {
  exec 3>&1 4>&- </dev/null >/dev/null 2>/dev/null
  exec 5>>"$3" || { printf 'no %s\n' "$1" >&3 && exit 1; }
  # Keep the pipe open for writing until the host has opened it: otherwise the logger would read end-of-file. log closes
  # fd 6: otherwise the logger would never end. Open a fifo before the answer, because the host removes the fifo's name
  # as soon as the session has opened the fifo.
  if [[ $2 ]]; then exec 6<>"$keeper_dir/$2"; else open_pipe 6; fi || { printf 'no %s\n' "$1" >&3 && exit 1; }
  exec </proc/self/fd/6
  # Answer in a fork: the kernel counts what this process writes, and the count must include only output.
  local pid=$BASHPID
  (printf 'logging %s %s\n' "$1" "$pid" >&3)
  read -r -t 10 _ || exit 1
  log 5 "$4"
}

# Becomes the bash that waits for its job in hook.sh and then reads DIR/cmd as its script.
run_command() {
  trap - PIPE INT HUP QUIT TERM EXIT
  exec 6<"/proc/$BASHPID/fd/6"
  [[ $2 == - ]] || ulimit -x "$2"
  export -n PATH LC_ALL OLDPWD
  local -n nacre_plain=nacre_env_$3 nacre_odd=nacre_odd_$3
  # Copy everything used below to names that no variable of the command can have.
  local nacre_hook=$hook_env nacre_bash=$shell_path nacre_env=$env_path nacre_script=$1/cmd
  # shellcheck disable=SC2163 # each is NAME=VALUE
  ((${#nacre_plain[@]})) && export "${nacre_plain[@]}"
  # Redirect only now, because a warning of this bash (about a locale, for example) is not output of the command.
  exec >&8 2>&9 8>&- 9>&-
  if ((${#nacre_odd[@]})); then
    # Other users can see these variables in the command line. That is safe: no variable with such a name holds a
    # secret.
    exec "$nacre_env" "${nacre_odd[@]}" BASH_ENV="$nacre_hook" "$nacre_bash" "$nacre_script"
  fi
  export BASH_ENV=$nacre_hook
  exec -a bash "$nacre_bash" "$nacre_script"
}

# Writes the PIDs with their start times, because the kernel can reuse a PID. Sets REPLY to the start time of the
# command.
write_identity() {
  local own tag=$3
  start_time "$BASHPID" && own=$REPLY
  start_time "$2"
  [[ $tag == - ]] || tag+=$identity_key
  printf '%s %s %s %s %s %s\n' "$BASHPID" "${own:-0}" "$2" "${REPLY:-0}" "$tag" "$identity_tail" >"$1/identity"
}

# Sets REPLY to the start time (clock ticks since boot) of process $1.
start_time() {
  local stat
  REPLY=
  IFS= read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
  # The name can hold spaces and parentheses: count fields after the last parenthesis.
  # shellcheck disable=SC2086 # split into words on purpose
  set -- ${stat##*) }
  REPLY=${20}
}

# Waits until logger $1 has written everything that the command printed. If the logger has ended, adds a flag that
# says how it ended.
end_of_logger() {
  local sure=1 tries=0 woken='' stat state call
  while IFS= read -r stat <"/proc/$1/stat"; do
    state=${stat##*) }
    state=${state%% *}
    case $state in
      Z | X) break ;;
      S)
        # The logger is done if it sleeps in read() of its stdin: the pipe is empty, and the command is dead. The sleep
        # alone proves nothing, because write() also sleeps on a slow file system.
        if IFS= read -r call <"/proc/$1/syscall"; then
          [[ $call == '0 0x0 '* || $call == '63 0x0 '* ]] && return
        else
          ((sure && tries > 20)) && sure=0 && break
        fi
        ;;
      T)
        # Another process has stopped the logger: continue it once. Leave it stopped if this happens again, because
        # that is probably intended.
        [[ $woken ]] || kill -CONT "$1"
        woken=1
        ;;
    esac
    if ((++tries > 2500)); then
      sure=0
      break
    fi
    ((tries > 20)) && pause
  done
  if ((!sure)); then
    flags+=u
    # The logger ends by itself when its pipe closes, unless it stays stopped.
    kill -CONT "$1"
  fi
  [[ -e /proc/$1 && ${state:-} != Z ]] && return
  wait "$1"
  case $? in
    0 | 127) ;;
    153) flags+=c ;; # SIGXFSZ: the cap
    1) flags+=f ;;   # cat could not write: no space
    *) flags+=l ;;   # another process, or the kernel, killed it
  esac
}

pause() {
  wait_seconds 0.002
}

# Waits without forking `sleep`: reads from a pipe that no process ever writes to. Creates the pipe unless this process
# has one; a fork inherits it.
wait_seconds() {
  [[ -p /proc/$BASHPID/fd/$waiting_fd ]] || open_pipe "$waiting_fd"
  read -r -t "$1" -u "$waiting_fd" _
}
waiting_fd=20

# lost_bytes FD LOGGER: sets REPLY to the number of bytes that a truncation has removed from the logger's file. Fails
# if no byte is lost, or if the logger is gone, because the kernel then no longer has the byte count.
lost_bytes() {
  local at total
  written "$1" && at=$REPLY || return
  # After a truncation the output begins at 0 again.
  ((at > 0)) || return
  { read -r _ && read -r _ total; } 2>/dev/null <"/proc/$2/task/$2/io" && ((total > at)) && ((REPLY = total - at))
}

# Sets REPLY to the write position of fd $1, which the logger shares.
written() {
  local key
  { read -r key REPLY <"/proc/$BASHPID/fdinfo/$1"; } 2>/dev/null && [[ $key == pos: ]]
}
