// Programs whose arguments are understood well enough: they are no unknown wrappers, and `cautious` does not ask
// about them.

const NAMES = `
[ . : alias awk b2sum base32 base64 basename bash batcat bat bg break bunzip2 bzip2 cal cargo cat cd chgrp chmod chown cksum
clang clang++ clear cmake cmp code column comm command continue cp cpio ctest curl cut dash date dd declare df diff
dircolors dirname dirs disown dmesg docker docker-compose dotnet du echo egrep emacs enable env esbuild eslint eval exec
exit expand export expr factor false fc fd fdfind fg fgrep file find flake8 fmt fold free g++ gawk gcc gem getent getopts
gh git go gofmt gradle gradlew grep groups gunzip gzip hash head help hexdump history hostname htop iconv id ifconfig
info install ip jest jobs join jq just kill killall kubectl ld ldd less let ln local locale locate logger logname ls lsblk
lscpu lsof lspci lsusb make man mapfile md5sum mkdir mkfifo mktemp more mv mvn mypy nano ncdu netstat nl nm node nohup
npm npx nproc numfmt objdump od openssl paste patch pathchk perl pgrep php pidof ping pip pip3 pkill pnpm podman popd
pr prettier printenv printf ps psql pushd pwd pytest python python3 read readarray readelf readlink readonly realpath
redis-cli rename return rev rg rm rmdir rsync ruby ruff rustc rustup scp sed select seq set sh sha1sum sha256sum sha512sum
shasum shellcheck shfmt shift shopt shuf sleep sort source split sqlite3 ss ssh stat strings strip stty su sudo sum
suspend swift sync tac tail tar tee terraform test time timeout times top touch tput tr trap tree true truncate tsc tty
tsx turbo type typeset ulimit umask unalias uname unexpand uniq unlink unset unxz unzip uptime users uv vi vim vitest w wait
wc wget whatis whereis which who whoami xargs xxd xz yarn yes yq zcat zip zsh
apropos apt apt-cache apt-get brew composer deno bun bunx ninja meson bazel rake rails bundle poetry pipenv poe tox nox
black isort pylint pyright biome oxlint webpack vite rollup parcel next nuxt svelte-kit astro ng expo playwright cypress mocha ava
ansible helm aws gcloud az heroku vercel netlify fly wrangler supabase prisma drizzle-kit mongosh mysql tmux screen
nvim ed ex ag ack fzf delta hyperfine watch entr tldr cowsay figlet nc dig nslookup host traceroute mtr whois ffmpeg
convert magick identify exiftool pandoc latex pdflatex dot gnuplot protoc flex bison cc c++ javac java kotlin kotlinc scala sbt lein
ghc cabal stack mix elixir erl julia R Rscript lua luajit zig nim crystal dart flutter swiftc xcodebuild systemctl journalctl crontab
nacre pre-commit husky lint-staged commitlint changeset act mkfs.ext4 shred wipefs shutdown reboot mount umount`;

const KNOWN: ReadonlySet<string> = new Set(NAMES.split(/\s+/).filter((name) => name !== ""));

export function isKnownProgram(program: string): boolean {
  return program === "" || KNOWN.has(program) || /^(python|pip|node|ruby|perl|php|lua)[\d.]+$/.test(program);
}
