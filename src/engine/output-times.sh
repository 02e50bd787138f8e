#!/usr/bin/env bash
# Records when the output of durable shells arrives, after their host has died. Until then, the host records it
# (output-times.ts, which describes the format). Runs in the loop of keep_deadlines and forks nothing.
# shellcheck disable=SC2154 # shim_of is a table of host_is_gone

# mark_times DIR...: adds a mark for each stream that has grown. The shim shares fds 5 and 7 with the loggers, so the
# positions of these fds are the sizes of the two output files.
mark_times() {
  local dir shim fd now name size key
  # Declare the global table only here: no command starts after this point, so none can have a variable of this name.
  declare -gA marks
  for dir; do
    shim=${shim_of[$dir]}
    # bash 4.4 has only whole seconds: use the end of the second, because a mark must not be too early.
    now=${EPOCHREALTIME-}
    if [[ $now ]]; then now=${now%[.,]*}${now#*[.,]} && now=${now%???}; else printf -v now '%(%s)T999' -1; fi
    for fd in 5 7; do
      size=''
      key=$shim.$fd
      { read -r _ size <"/proc/$shim/fdinfo/$fd"; } 2>/dev/null
      [[ $size =~ ^[0-9]+$ ]] || continue
      if ((size == ${marks[$key.size]:-0})); then
        marks[$key.since]=$now
        continue
      fi
      # Write fewer marks for an older shell: otherwise the file would grow without limit.
      : "${marks[$shim.first]:=$now}"
      ((now - ${marks[$key.at]:-0} < (now - ${marks[$shim.first]}) / 4096)) && continue
      if ((fd == 5)); then name=out; else name=err; fi
      { printf '%s %s %s %s\n' "$name" "$size" "$now" "${marks[$key.since]:-0}" >>"$dir/times"; } 2>/dev/null
      marks[$key.size]=$size marks[$key.at]=$now marks[$key.since]=$now
    done
  done
}
