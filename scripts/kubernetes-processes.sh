# shellcheck shell=bash
# Sourced by kubernetes-up.sh and kubernetes-down.sh, which set `state`: the processes of the cluster. Each has a file
# STATE/pid/NAME with its PID and start time, because a PID alone is not unique: the kernel reuses it.

start_time_of() { # start_time_of PID: empty if there is no such process, or only its zombie
  sed -n 's/.*) \([^ZX]\)/\1/p' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20
}

is_running() { # is_running NAME
  local pid start
  read -r pid start 2>/dev/null <"${state:?}/pid/$1" && [ -n "$start" ] && [ "$(start_time_of "$pid")" = "$start" ]
}

pid_of() { # pid_of NAME
  local pid
  read -r pid _ <"$state/pid/$1" && echo "$pid"
}

launch() { # launch NAME PROGRAM ARGUMENT...: in a separate session, so that it outlives this shell
  local name=$1 pid
  shift
  # Close fd 9: otherwise the daemon inherits the lock of kubernetes-up.sh and holds it until the daemon ends.
  setsid "$@" >>"$state/log/$name.log" 2>&1 </dev/null 9>&- &
  pid=$!
  # setsid forks only if it leads a process group, and a background job of a script does not.
  echo "$pid $(start_time_of "$pid")" >"$state/pid/$name"
}

end_process() { # end_process NAME: TERM, and KILL after 10 s
  local pid tries
  pid=$(pid_of "$1" 2>/dev/null) || return 0
  if is_running "$1"; then
    kill -TERM "$pid"
    for ((tries = 0; tries < 100; tries++)); do
      is_running "$1" || break
      sleep 0.1
    done
    is_running "$1" && kill -KILL "$pid"
  fi
  rm -f "$state/pid/$1"
}

# run_ctr ARGUMENT...: containerd's own client, for the namespace of kubelet
run_ctr() { ctr --address "$state/run/c.sock" --namespace k8s.io "$@"; }
