// The shell scripts that run at the remote end before nacre does. They need only sh, and write only to a private
// directory of the user.

/** The directories that can contain builds. `mine` checks that only this user owns a directory and can write to it. */
const PLACES = `u=$(id -u)
mine() {
  [ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ] || return 1
  case $(ls -ld "$1") in d????-??-*) ;; *) return 1 ;; esac
}
private() {
  (umask 077; mkdir -p "$1") 2>/dev/null && mine "$1" && [ -w "$1" ]
}
each() {
  for b in "\${XDG_CACHE_HOME:-\${HOME:+$HOME/.cache}}" /var/tmp /tmp "/run/user/$u" /dev/shm; do
    case $b in /?*) "$1" "$b/nacre-$u" && return 0 ;; esac
  done
  return 1
}`;

/**
 * start: runs the relay of the build with the hash $1 in the directory $2. If the build is missing, prints facts about
 * the machine, one `nacre-probe NAME VALUE` per line, and exits.
 */
export const START_SCRIPT = `h=$1 d=$2
${PLACES}
go() {
  if [ -z "$NACRE_HOME" ]; then
    s=\${XDG_STATE_HOME:+$XDG_STATE_HOME/nacre}
    s=\${s:-$HOME/.local/state/nacre}
    (umask 077; mkdir -p "$s" && [ -w "$s" ]) 2>/dev/null || state "$1" || each state
  fi
  if [ -n "$d" ]; then
    cd -- "$d" || { echo "nacre-refused cwd"; exit 1; }
  fi
  exec "$2" "$3" serve --stdio
}
state() {
  case $1 in /?*) private "$1" && NACRE_HOME=$1/state && export NACRE_HOME ;; *) return 1 ;; esac
}
cached() {
  mine "$1" && [ -r "$1/$h/node" ] && IFS= read -r n <"$1/$h/node" && [ -x "$n" ] || return 1
  go "$1" "$n" "$1/$h/dist/cli/main.js"
}
each cached
p=$(command -v nacre) && p=$(readlink -f "$p") && p=\${p%/cli/main.js} && [ -r "$p/build-hash" ] &&
  IFS= read -r x <"$p/build-hash" && [ "$x" = "$h" ] && n=$(command -v node) &&
  go '' "$n" "$p/cli/main.js"
say() { printf 'nacre-probe %s\\n' "$*"; }
usable() {
  (umask 077; mkdir -p "$1") 2>/dev/null || return 1
  [ ! -L "$1" ] && [ -O "$1" ] && chmod 700 "$1" 2>/dev/null
  if mine "$1" && { [ -n "$any" ] || ondisk "$1"; } && runs "$1/.try.$$"; then say base "$1"; df -Pk "$1" 2>/dev/null | { read -r _; read -r _ _ _ f _; say free "$f"; }; return 0; fi
  rmdir "$1" 2>/dev/null
  return 1
}
ondisk() { case $(stat -f -c %T "$1" 2>/dev/null) in tmpfs | ramfs) return 1 ;; esac; }
runs() {
  printf '#!/bin/sh\\nexit 0\\n' 2>/dev/null >"$1" && chmod 700 "$1" && "$1" 2>/dev/null
  r=$?
  rm -f "$1"
  return $r
}
say system "$(uname -s)"
say arch "$(uname -m)"
for x in /lib*/ld-linux*.so.* /lib/*/ld-linux*.so.*; do [ -e "$x" ] && say libc glibc && break; done
for x in /lib/ld-musl-*; do [ -e "$x" ] && say libc musl; done
for x in bash tar gzip; do p=$(command -v "$x") && say "$x" "$p"; done
for x in "$(command -v node)" /usr/local/bin/node /usr/bin/node "$HOME"/.nvm/versions/node/*/bin/node; do
  [ -x "$x" ] && v=$("$x" --version 2>/dev/null) && say node "$v" "$x"
done
any='' && each usable || { any=1 && each usable; }
say end
exit 0`;

/**
 * push: reads an archive from stdin to EOF, and installs it as the build $2 in the directory $1. $3: the Node that runs
 * the build. $4: the file name to install Node under, if the archive contains Node.
 */
export const PUSH_SCRIPT = `b=$1 h=$2 n=$3 k=$4 t=$1/$2.new.$$
umask 077
trap 'rm -rf "$t"' EXIT
mkdir -p "$t" && gzip -dc | tar -xf - -C "$t" || { echo "nacre-refused push"; exit 1; }
if [ -n "$k" ]; then
  n=$b/$k
  mv -f "$t/node-program" "$n" || { echo "nacre-refused push"; exit 1; }
fi
v=$("$n" --version 2>&1) || { printf 'nacre-refused node %s\\n' "$v"; exit 1; }
printf '%s\\n' "$n" >"$t/node"
if [ -d "$b/$h" ]; then mv -f "$t/node" "$b/$h/node"; else mv "$t" "$b/$h"; fi || { echo "nacre-refused push"; exit 1; }
printf 'nacre-pushed %s\\n' "$v"`;

export function startArguments(buildHash: string, cwd: string | undefined): readonly string[] {
  return ["sh", "-c", START_SCRIPT, "nacre", buildHash, cwd ?? ""];
}

export function pushArguments(...args: readonly string[]): readonly string[] {
  return ["sh", "-c", PUSH_SCRIPT, "nacre", ...args];
}
