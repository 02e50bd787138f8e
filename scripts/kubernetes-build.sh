#!/usr/bin/env bash
# kubernetes-build.sh CACHE: builds the programs of a Kubernetes cluster, only from Debian's packages.
#
#   CACHE/bin    kube-apiserver, kube-controller-manager, kube-scheduler, kubelet: built from Debian's source package,
#                because no Debian package contains them
#   CACHE/tools  the programs that this machine lacks, unpacked from their packages but not installed
#
# A second call builds only what is missing. The first build takes 5 to 10 minutes on two processors.
set -euo pipefail

# The braces make bash read the whole file before it runs: editing the file does not disturb a build.
{
  cache=${1:?usage: kubernetes-build.sh CACHE}
  mkdir -p "$cache"
  cache=$(cd "$cache" && pwd -P)
  bin=$cache/bin
  tools=$cache/tools
  mkdir -p "$bin" "$tools"
  # Two callers may share the cache: the second caller waits until the first build is complete.
  exec 8>"$cache/lock"
  flock 8

  report() { echo "kubernetes-build: $*" >&2; }

  unpack_package() {
    [ -e "$tools/got.$1" ] && return
    (
      cd "$tools"
      apt-get download -q -o APT::Sandbox::User=root "$1" >/dev/null
      dpkg -x "$1"_*.deb .
      touch "got.$1"
    )
  }

  need_program() { # need_program PROGRAM PACKAGE
    command -v "$1" >/dev/null || unpack_package "$2"
  }

  PATH=$PATH:$tools/usr/bin:$tools/usr/sbin:$tools/bin:/usr/sbin:/sbin
  need_program etcd etcd-server
  need_program containerd containerd
  need_program runc runc
  need_program openssl openssl
  need_program busybox busybox-static
  [ -x /usr/lib/cni/bridge ] || unpack_package containernetworking-plugins
  # Always install a kubectl of the same version, even if this machine has another kubectl.
  unpack_package kubernetes-client

  programs=(kube-apiserver kube-controller-manager kube-scheduler kubelet)
  missing=()
  for program in "${programs[@]}"; do
    [ -x "$bin/$program" ] || missing+=("$program")
  done
  [ ${#missing[@]} -eq 0 ] && exit 0

  command -v go >/dev/null || apt-get install -y -q --no-install-recommends golang-go >/dev/null

  # A private apt state keeps the machine's own package lists unchanged.
  fetch_source() {
    local apt=$cache/apt file
    mkdir -p "$apt/lists/partial" "$apt/parts"
    for file in /etc/apt/sources.list.d/*.sources; do
      [ -e "$file" ] && sed 's/^Types:.*/Types: deb-src/' "$file" >"$apt/parts/${file##*/}"
    done
    [ -e /etc/apt/sources.list ] && sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$apt/parts/main.list"
    local options=(
      -o APT::Sandbox::User=root
      -o Dir::Etc::SourceList=/dev/null
      -o Dir::Etc::SourceParts="$apt/parts"
      -o Dir::State::Lists="$apt/lists"
      -o Dir::Cache::srcpkgcache=
      -o Dir::Cache::pkgcache=
    )
    apt-get "${options[@]}" update -q >/dev/null
    (cd "$cache" && apt-get "${options[@]}" source -q --download-only kubernetes >/dev/null)
  }
  compgen -G "$cache/kubernetes_*.orig.tar.gz" >/dev/null || fetch_source
  report "the source is downloaded"

  # GOPATH mode: the source package has a complete vendor tree, and nothing else may be downloaded.
  export GOPATH=$cache/gopath GOCACHE=$cache/gocache GO111MODULE=off CGO_ENABLED=0 GOFLAGS=
  source=$GOPATH/src/k8s.io/kubernetes
  if ! [ -e "$source/.unpacked" ]; then
    rm -rf "$source"
    mkdir -p "$source"
    tar -xf "$cache"/kubernetes_*.orig.tar.gz -C "$source" --strip-components=1
    tar -xf "$cache"/kubernetes_*.debian.tar.* -C "$source" debian/patches
    while read -r patch; do
      patch -s -p1 -d "$source" <"$source/debian/patches/$patch"
    done <"$source/debian/patches/series"
    touch "$source/.unpacked"
  fi
  cd "$source"

  # The source package lacks one generated file: the schema that the API server publishes.
  if ! [ -e pkg/generated/openapi/zz_generated.openapi.go ]; then
    go build -o "$cache/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
    inputs=$(grep -rl --include='*.go' '+k8s:openapi-gen=' pkg staging/src/k8s.io | xargs -n1 dirname | sort -u |
      sed -e 's#^staging/src/##' -e 's#^pkg/#k8s.io/kubernetes/pkg/#' |
      grep -v '/examples\|sample-\|/test' | paste -sd,)
    "$cache/openapi-gen" --logtostderr -O zz_generated.openapi -h hack/boilerplate/boilerplate.generatego.txt \
      -i "$inputs" -p k8s.io/kubernetes/pkg/generated/openapi -r "$cache/violations.list" 2>"$cache/openapi-gen.log"
    report "the API schema is generated"
  fi

  # Without a version number, the programs refuse to connect to each other.
  flags="-s -w"
  for package in component-base/version client-go/pkg/version; do
    for value in gitVersion=v1.20.2 gitMajor=1 gitMinor=20; do
      flags+=" -X k8s.io/kubernetes/vendor/k8s.io/$package.$value"
    done
  done
  for program in "${missing[@]}"; do
    nice -n 10 go build -trimpath -ldflags "$flags" -o "$bin/$program.new" "./cmd/$program"
    mv "$bin/$program.new" "$bin/$program"
    report "built $program"
  done
  exit 0
}
