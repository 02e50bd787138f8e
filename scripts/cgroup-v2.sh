#!/usr/bin/env bash
# The init process of the kernel that scripts/cgroup-v2.mjs boots: runs the limit tests with cgroup v2 only. It sees the
# machine's files, and mounts a tmpfs over every directory that the tests write to. $1 is the repository, $2 the path of node.
export PATH="${2%/*}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" HOME=/root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs mnt /mnt
mkdir /mnt/nacre
mount --bind "$1" /mnt/nacre
for dir in /tmp /run /var/tmp /root; do mount -t tmpfs tmp "$dir"; done
# Some kernels mount devtmpfs by themselves.
[[ -c /dev/null ]] || mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
ln -s /proc/self/fd /dev/fd
mount -t cgroup2 none /sys/fs/cgroup
echo "kernel $(uname -r), cgroup v2 controllers: $(cat /sys/fs/cgroup/cgroup.controllers)"
cd /mnt/nacre || exit
CI=true node scripts/test.mjs --cache=false test/sandbox/resource-limits.test.ts </dev/null 2>&1
echo "nacre-cgroup-v2: $?"
# Power off: the kernel panics if init exits.
echo o >/proc/sysrq-trigger
sleep 10
