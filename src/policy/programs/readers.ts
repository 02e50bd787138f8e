// Harmless programs: programs that only read the paths in their arguments, and programs whose paths are on another
// machine or in a container. The policy assumes that any other program may write to an argument that its record does
// not explain.

const namesIn = (list: string): readonly string[] => list.trim().split(/\s+/);

/**
 * Programs that read, list, compare or display files. Their output options are in their record, or have a common name.
 */
const READERS = `
ls dir vdir exa eza lsd stat file du df dust duf tree cat tac head tail wc nl od hexdump hd strings cut comm join paste
tsort cmp diff diff3 colordiff difft delta vimdiff md5sum sha1sum sha224sum sha256sum sha384sum sha512sum shasum b2sum
b3sum cksum sum crc32 xxhsum md5 realpath readlink basename dirname pathchk test expr seq numfmt column fold fmt pr
expand unexpand rev tr grep egrep fgrep rgrep pgrep zgrep bzgrep xzgrep zstdgrep zcat zless zmore zdiff zcmp bzcat xzcat
lz4cat zstdcat rg rga ag ack ugrep less more most bat batcat look locate plocate which whereis whatis apropos man info
getent id groups who w users last lastlog uptime free vmstat iostat mpstat sar ps pidof pstree pmap top htop btop lsof ss
netstat lsblk blkid findmnt mountpoint lscpu lsmem lspci lsusb lsmod modinfo uname hostname arch nproc getconf locale
date cal ldd nm objdump readelf size addr2line c++filt otool dwarfdump pahole namei lsattr getfacl getfattr getcap
mediainfo ffprobe identify pdfinfo pdffonts soxi jq gron fx csvlook csvcut csvstat cloc tokei scc loc sloccount
shellcheck hadolint yamllint actionlint flake8 pylint mypy pyright bandit semgrep gitleaks trufflehog trivy grype
cppcheck sparse splint vulture radon jscpd cspell codespell vale write-good lychee
journalctl dmesg fc-list fc-match tldr cheat tput stty tty sleep kill pkill killall wait dig nslookup host whois ping
traceroute tracepath mtr yes true false echo printf fzf awk gawk mawk nawk busybox-awk sed gsed source . xxd uniq sort
shuf cscope  nano vi vim nvim view emacs code codium subl micro helix hx kak pkg-config pkgconf
configure cmake meson ccmake gcc g++ cc c++ clang clang++ tcc icc nvcc rustc javac ghc ocamlopt ocamlc ldc2 dmd
protoc flatc bison flex re2c nasm yasm as pidstat perf dwdiff wdiff icdiff meld kdiff3 hexyl xmllint xq htmlq
pup datamash mlr iconv uconv enca chardet  col nginx apachectl sshd visudo haproxy named-checkconf promtool
systemd-analyze loginctl timedatectl resolvectl networkctl udevadm lsns sysctl 
lvs vgs pvs smartctl nvidia-smi sensors rpm dpkg dpkg-query apt-cache apt-file apt pacman brew snap flatpak
readtags gdb lldb umask type ulimit cd pushd popd logger openssl ssh-keygen ssh-add ssh-keyscan gpg gpg2 age
base64 base32 basenc play aplay mpv vlc feh xdg-open open evince okular firefox chromium google-chrome
ldconfig update-alternatives dtrace bpftrace lsinitramfs cpuid numactl taskset getopt envsubst gettext
pytest tox nox  xsel wl-paste  valgrind kcachegrind
`;

/** Programs whose paths are in a container, a cluster, a cloud, a database or a repository on another host. */
const ELSEWHERE = `
docker podman nerdctl docker-compose podman-compose buildah ctr crictl kubectl oc k helm helmfile kustomize k9s stern
aws awslocal gcloud gsutil bq az oci doctl linode-cli hcloud scw ibmcloud heroku fly flyctl vercel netlify railway render
wrangler firebase supabase gh glab hub redis-cli valkey-cli mongosh mongo psql pgcli mysql mariadb mycli cqlsh influx
clickhouse-client vault consul nomad etcdctl zkCli.sh kafka-topics rabbitmqctl ssh autossh mosh slogin adb fastboot
curl wget http https xh httpie grpcurl websocat wscat hey ab wrk k6 oha vegeta bombardier newman systemctl service
terraform tofu terragrunt pulumi ansible ansible-playbook vagrant multipass lxc incus machinectl rclone s3cmd mc
npm pnpm yarn npx pnpx bun bunx deno pip pipx uv uvx poetry pdm cargo go gem bundle composer mvn gradle dotnet
tmux screen nacre jira linear stripe sentry-cli datadog newrelic minikube kind k3d argocd flux istioctl skaffold tilt
act circleci travis buildkite-agent nats pulsar-admin ollama hf huggingface-cli dvc mlflow wandb kaggle
`;

const READER_NAMES: ReadonlySet<string> = new Set(namesIn(READERS));
const ELSEWHERE_NAMES: ReadonlySet<string> = new Set(namesIn(ELSEWHERE));

/** Whether a program only reads the paths in its arguments. */
export function isReader(name: string): boolean {
  return READER_NAMES.has(name);
}

/** Whether the paths in a program's arguments are usually on another machine or in a container. */
export function isElsewhere(name: string): boolean {
  return ELSEWHERE_NAMES.has(name);
}

/** Common names of output options, in any program. */
export const OUTPUT_OPTION =
  /^(o|out|outfile|out-?file|outdir|out-?dir|output|output-?(file|dir|directory|path|document|folder|prefix|format-file)|outputfile|outputdir|dest|dest-?dir|destination|target-dir|target-directory|dump|dump-file|save|save-(as|to|file)|write|write-to|write-out-file|log|log-?file|logfile|log-?path|log-to|error-log|errorlog|access-log|trace-file|report-file|export|export-file|export-path|result-file|results-file|to-file|tofile|backup-dir|backup|partial-dir|temp-dir|pid-?file|pidfile|lock-?file|cookie-jar|dump-header|stderr|directory-prefix|install-dir|bin-?dir|dump-prefix|record|capture|screenshot|pdf|journal|print-to-pdf|html-report|junitxml|coverage-dir|extract-to|unpack-to|root-dir-out|emit|rdb|key-out|keyout|csr-out|cert-out)$/;

/** Common names of input options and settings, in any program. */
export const INPUT_OPTION =
  /^(conf|config|config-file|configfile|cfg|settings|in|input|input-?file|infile|from|source|src|cacert|ca|ca-?file|ca-?bundle|ca-?cert|capath|python|interpreter|shell|entrypoint|compiler|sysroot|prefix|exec-prefix|sysconfdir|localstatedir|libdir|mandir|include|include-dir|I|L|isystem|requirement|reference|template|schema|dict|dictionary|exclude|ignore|env-?file|host|socket|unix-socket|chdir|cwd|C|project|manifest-path|with-[\w-]+|enable-[\w-]+|font|fontfile|timezone|java-home|jdk|match|filter|pattern|grep|url|uri|route|endpoint|base-?url|base-?path|public-path|port|serial|tty)$/;
