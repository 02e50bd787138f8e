// Writes to raw disks and devices, and commands that format, partition or wipe disks.

import { asksForHelp, type JudgedCommand } from "../facts.ts";
import { type Hit, onEffect, type Rule } from "../rule.ts";
import { shown } from "../shell-model/marks.ts";

const IMAGES = "Work on an image file: truncate -s 1G disk.img && mkfs.ext4 -F disk.img";

const FORMATTERS =
  /^(mkfs(\..+)?|mke2fs|mkswap|mkdosfs|mkntfs|newfs(_.+)?|wipefs|blkdiscard|badblocks|hdparm|nvme|sg_format|sgdisk|gdisk|cgdisk|sfdisk|cfdisk|fdisk|parted|diskutil|cryptsetup|mdadm|pvcreate|pvremove|vgremove|lvremove|vgreduce|zpool|zfs|tune2fs|resize2fs|fsck(\..+)?|e2fsck|xfs_repair|debugfs|dmsetup|losetup|swapoff|btrfs|bcachefs|flash_erase|flashcp|nandwrite|flashrom)$/;

/** Patterns for programs. Each has a second pattern, for arguments with which the program only reads. */
const READ_ONLY_CALLS: readonly (readonly [RegExp, RegExp])[] = [
  [
    /^(fdisk|sfdisk|gdisk|sgdisk|parted|cfdisk)$/,
    /(^| )(-l|--list|-p|--print|print|-d|--dump|-J|--json|-i|--info)( |$)/,
  ],
  [/^parted$/, /^(?!.*\b(mk|rm|resize|set|name|rescue|disk_set|toggle)).*$/],
  [/^nvme$/, /^(list|id-|smart-log|get-|show-|error-log|fw-log|version|help)/],
  [/^hdparm$/, /^(-[IigtTCvV]+( |$)|--Istdout)/],
  [/^(zpool|zfs)$/, /^(list|status|get|iostat|history|version|help|snapshot|send|holds|diff)\b/],
  [/^cryptsetup$/, /^(status|luksDump|isLuks|benchmark|luksUUID)\b/],
  [/^mdadm$/, /(^| )(--detail|-D|--examine|-E|--query|-Q|--monitor)( |$)/],
  [/^(dmsetup|losetup)$/, /^(ls|info|status|table|-l|-a|--list|--all|$)/],
  [/^(badblocks)$/, /^(?!.*(^| )-\w*[wn]).*$/],
  [/^wipefs$/, /^(?!.*(^| )(-\w*a|--all|-\w*o|--offset)).*$|(^| )(-\w*n|--no-act)/],
  [/^flashrom$/, /^(?!.*(^| )(-\w*[wE]|--write|--erase)).*$/],
  [/^diskutil$/, /^(list|info|activity|verify)/],
  [/^btrfs$/, /^(filesystem|subvolume) (show|usage|df|list|sync)|^(scrub|device) (status|stats)/],
  [/^(tune2fs|e2fsck|xfs_repair|fsck(\..+)?)$/, /(^| )(-l|-n|-N)( |$)/],
  [/^debugfs$/, /^(?!.*(^| )-\w*w).*$/],
];

/** Devices that store no data. */
const SOUND_OR_SERIAL = /^\/dev\/(dsp|audio|mixer|tty(S|USB|ACM)\d)/;

/** Tools that accept the short name of a device or a pool, but no image file. */
const NAMES_ONLY =
  /^(vgremove|lvremove|pvremove|vgreduce|zpool|zfs|swapoff|dmsetup|diskutil|btrfs|flashrom)$/;
const KEEPS_DATA = /^(tune2fs|resize2fs|fsck|e2fsck|xfs_repair|losetup|swapoff|dmsetup|debugfs)/;

/** Whether this call changes a volume without destroying its data. Many tools can do both. */
function onlyChanges({ program, args }: JudgedCommand): boolean {
  if (KEEPS_DATA.test(program)) return true;
  const line = args.map(({ text }) => text).join(" ");
  if (program === "cryptsetup")
    return !/(^| )(luksFormat|\w*erase|reencrypt|luksKillSlot|luksRemoveKey)( |$)/i.test(line);
  return /^(btrfs|zfs)$/.test(program) && !/(^| )(destroy|rollback|delete|labelclear)( |$)/.test(line);
}

function changesDisk(command: JudgedCommand): "device" | "unknown" | "name" | null {
  if (asksForHelp(command) || command.args.length === 0) return null;
  const args = command.args.map(({ text }) => text);
  const line = args.join(" ");
  if (READ_ONLY_CALLS.some(([name, looks]) => name.test(command.program) && looks.test(line))) return null;
  if (args.some((text) => /(^|=)\/dev\/(?!null|zero|shm|stdout|stderr|fd\b)/.test(text))) return "device";
  if (NAMES_ONLY.test(command.program)) return "name";
  return /[\uFDD0\uFDD1]/.test(line) ? "unknown" : null;
}

const hitOn = (command: JudgedCommand, what: string): Hit => ({
  reason: `${shown(command.program)} would ${what}.`,
});

export const diskRules: readonly Rule[] = [
  {
    id: "write-device",
    verdict: "deny",
    severity: "critical",
    alternative: IMAGES,
    matches: [
      "dd if=/dev/zero of=/dev/sda",
      "echo x > /dev/sda",
      "cp disk.img /dev/sda",
      "cat img >| /dev/xvda",
      "shred -n 1 /dev/sda",
      "D=/dev/sda; dd if=/dev/zero of=$D",
      "dd if=/dev/zero of=/dev/mem",
    ],
    misses: [
      "dd if=/dev/urandom of=key.bin bs=32 count=1",
      "ls > /dev/null",
      "echo err > /dev/stderr",
      "echo AT > /dev/ttyUSB0",
      "dd --help",
      "test -e /dev/sda",
    ],
    check: onEffect({
      kinds: ["write", "append", "delete", "move"],
      classes: ["device"],
      when: ({ kind, how, resolved }) =>
        how !== "touch" && how !== "mkdir" && kind !== "read" && !SOUND_OR_SERIAL.test(resolved.path),
      reason: "{program} would write to the device {path} and destroy its data.",
    }),
  },
  {
    id: "format-device",
    verdict: "deny",
    severity: "critical",
    alternative: IMAGES,
    programs: FORMATTERS,
    matches: [
      "mkfs.ext4 /dev/sda1",
      "/sbin/mkfs.xfs -f /dev/nvme0n1p1",
      "wipefs -a /dev/sda",
      "parted -s /dev/sda mklabel gpt",
      "zpool destroy -f tank",
      "cryptsetup luksFormat /dev/sdb1",
      "mdadm --zero-superblock /dev/sda1",
    ],
    misses: [
      "mkfs.ext4 -F disk.img",
      "mkfs.vfat ./boot.img",
      "mkfs.ext4 -V",
      "fdisk -l /dev/sda",
      "wipefs --all --no-act /dev/sda",
      "cryptsetup open /dev/sdb1 data",
      "man mkfs.ext4",
      "zpool status",
    ],
    check: (command) => {
      const changes = changesDisk(command);
      if (changes === null || changes === "unknown" || onlyChanges(command)) return null;
      return hitOn(command, "destroy the data on a disk or a volume");
    },
  },
  {
    id: "change-volume",
    verdict: "ask",
    severity: "high",
    alternative: IMAGES,
    programs: FORMATTERS,
    matches: ["resize2fs /dev/sda1", 'mkfs.ext4 "$DISK"', "swapoff -a", "cryptsetup open /dev/sdb1 data"],
    misses: ["mkfs.ext4 -F disk.img", "losetup -l"],
    check: (command) => {
      const changes = changesDisk(command);
      if (changes === null || (changes !== "unknown" && !onlyChanges(command))) return null;
      return hitOn(command, "change a disk or a volume");
    },
  },
];
