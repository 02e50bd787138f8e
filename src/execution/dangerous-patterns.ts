// What the policy always denies: the id of each rule, and its reason for an example. This list is a separate file so
// that a host can read it without loading the policy. A test generates it:
//   npx vitest run test/policy/dangerous-patterns.test.ts -u

export const DENY_RULES = [
  {
    id: "delete-root",
    reason: "rm would delete the whole file system (/).",
  },
  {
    id: "delete-home",
    reason: "rm would delete a home directory (/home/dev).",
  },
  {
    id: "delete-system",
    reason: "rm would delete a part of the system (/usr).",
  },
  {
    id: "delete-above-workspace",
    reason: "rm would delete the workspace and its siblings (/srv/team).",
  },
  {
    id: "delete-credentials",
    reason: "rm would delete keys or credentials (/home/dev/.ssh).",
  },
  {
    id: "move-system",
    reason: "mv would move a part of the system (/).",
  },
  {
    id: "move-home",
    reason: "mv would move a home directory (/home/dev).",
  },
  {
    id: "permissions-system",
    reason: "chmod would change the permissions of a part of the system (/).",
  },
  {
    id: "write-device",
    reason: "dd would write to the device /dev/sda and destroy its data.",
  },
  {
    id: "format-device",
    reason: "mkfs.ext4 would destroy the data on a disk or a volume.",
  },
  {
    id: "write-system",
    reason: "a redirection would overwrite a file that the system needs (/etc/passwd).",
  },
  {
    id: "sysrq",
    reason: "echo would crash or stop the machine through the kernel (/proc/sysrq-trigger).",
  },
  {
    id: "kill-everything",
    reason: "kill would kill every process, including those that run this machine.",
  },
  {
    id: "stop-machine",
    reason: "reboot would stop or restart the machine.",
  },
  {
    id: "send-secret",
    reason: "curl would send keys or credentials to another host.",
  },
  {
    id: "send-secret-away",
    reason: "cat would send keys or credentials to /dev/tcp/10.0.0.1/80.",
  },
  {
    id: "give-shell",
    reason: "Another host would control a shell over the network.",
  },
  {
    id: "replace-keys",
    reason: "echo would replace /home/dev/.ssh/authorized_keys, which controls logins.",
  },
  {
    id: "fork-bomb",
    reason: "This is a fork bomb: the function : starts itself repeatedly.",
  },
  {
    id: "reverse-shell",
    reason: "Another host would control a shell: python3 connects a shell to a socket.",
  },
] as const;
