#!/usr/bin/env bash
# The first process of the kernel that scripts/cgroup-v2.mjs starts: the tests of limits where control groups are
# version 2 alone. The machine's files are its own, everything that is written to goes to memory.
# $1 is the repository, $2 the path of node.
export PATH="${2%/*}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" HOME=/root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs mnt /mnt
mkdir /mnt/nacre
mount --bind "$1" /mnt/nacre
for dir in /tmp /run /var/tmp /root; do mount -t tmpfs tmp "$dir"; done
# Where the kernel has not done it by itself.
[[ -c /dev/null ]] || mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
ln -s /proc/self/fd /dev/fd
mount -t cgroup2 none /sys/fs/cgroup
echo "kernel $(uname -r), control groups of version 2: $(cat /sys/fs/cgroup/cgroup.controllers)"
cd /mnt/nacre || exit
CI=true node scripts/test.mjs --cache=false test/sandbox/resource-limits.test.ts </dev/null 2>&1
echo "nacre-cgroup-v2: $?"
# Off, as an init that ends is a panic.
echo o >/proc/sysrq-trigger
sleep 10
