import { describe, expect, it } from "vitest";
import { verdictOf } from "../dev.ts";

describe("overwriting devices", () => {
  it.each([
    "dd if=x of=/dev/sda",
    "echo x > /dev/sda",
    "cat img >| /dev/xvda",
    "tee /dev/sda < img",
    "cp img /dev/sda",
    "pv img > /dev/sda",
    "mkfs.ext4 /dev/sda1",
    "mke2fs /dev/sda1",
    "mkswap /dev/sda2",
    "wipefs -a /dev/sda",
    "shred /dev/sda",
    "blkdiscard /dev/nvme0n1",
    "sgdisk -Z /dev/sda",
    "sfdisk --delete /dev/sda",
    "parted -s /dev/sda mklabel gpt",
    "cryptsetup luksFormat /dev/sda2",
    "lvremove -f /dev/vg0/root",
    "zpool destroy -f tank",
    "dd of=/dev/mapper/x if=y",
  ])("writing to a disk is denied: %j", (command) => {
    expect(verdictOf(command)).toBe("deny");
  });

  it.each(["mkfs.ext4 -F disk.img", "dd if=/dev/zero of=x.img", "ls > /dev/null", "fdisk -l"])(
    "harmless commands of the same form are allowed: %j",
    (command) => {
      expect(verdictOf(command)).toBe("allow");
    },
  );
});
