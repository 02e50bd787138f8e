// Writing where the machine keeps what it needs to start and to let people in.

import type { Effect, JudgedCommand } from "../facts.ts";
import { onEffect, type Rule } from "../rule.ts";

const replaces = ({ kind, how }: Effect) => kind === "write" && how !== "extract";

/** Files of /etc where even one more line decides who gets in or what starts. */
const CRITICAL =
  /^\/(etc\/(passwd|shadow|group|gshadow|sudoers(\.d\/.*)?|fstab|crypttab|pam\.d\/.*|ld\.so\.preload|security\/.*|ssh\/.*|inittab|subuid|subgid|shells|nsswitch\.conf)|bin|sbin|lib|lib64|boot|usr|root)(\/|$)?/;

export const systemFileRules: readonly Rule[] = [
  {
    id: "write-system",
    verdict: "deny",
    severity: "critical",
    alternative: "Write to a file in the workspace and let the person install it.",
    matches: [
      "> /etc/passwd",
      ": > /etc/shadow",
      "tee /etc/passwd < x",
      "sed -i.bak '/^root/d' /etc/shadow",
      "ln -sf /dev/null /etc/passwd",
      "echo 'x ALL=NOPASSWD:ALL' | sudo tee /etc/sudoers.d/x",
      "python3 -c \"open('/etc/passwd','w')\"",
      "cp -r evil/* /",
    ],
    misses: [
      "cat /etc/passwd",
      "echo hi > out.txt",
      "sudo cp app.service /etc/systemd/system/",
      "cp /etc/hosts .",
      "echo x >> /etc/motd",
    ],
    check: onEffect({
      kinds: ["write", "append"],
      classes: ["root", "system"],
      when: (effect) => replaces(effect) || (effect.how !== "extract" && CRITICAL.test(effect.place.path)),
      says: "{program} would overwrite a file the system needs ({path}).",
    }),
  },
  {
    id: "write-system-config",
    verdict: "ask",
    severity: "high",
    alternative: "Write to a file in the workspace and let the person install it.",
    matches: [
      "sudo cp app.service /etc/systemd/system/",
      "sudo tar -xf x.tar -C /",
      "echo x >> /etc/motd",
      "cp tool /usr/local/bin/tool",
      "mkdir /opt/x",
    ],
    misses: ["cp a b", "tar -xzf a.tgz -C ./vendor", "> /etc/passwd"],
    check: onEffect({
      kinds: ["write", "append"],
      classes: ["system-config", "root", "system", "outside"],
      when: (effect) => {
        if (effect.place.class === "outside")
          return /^\/(opt|srv|mnt|media|run|snap|nix)\//.test(effect.place.path);
        return (
          effect.place.class === "system-config" ||
          !(replaces(effect) || CRITICAL.test(effect.place.path)) ||
          effect.how === "extract"
        );
      },
      says: "{program} would change files of the machine ({path}).",
    }),
  },
  {
    id: "kernel-switch",
    verdict: "ask",
    severity: "high",
    alternative: "Ask the person to change kernel settings.",
    matches: ["echo 1 > /proc/sys/vm/drop_caches", "echo 0 > /sys/class/leds/x/brightness"],
    misses: ["cat /proc/cpuinfo", "echo 1 > /proc/self/oom_score_adj"],
    check: onEffect({
      kinds: ["write", "append"],
      classes: ["kernel"],
      says: "{program} would change a setting of the running kernel ({path}).",
    }),
  },
  {
    id: "sysrq",
    verdict: "deny",
    severity: "critical",
    alternative: "Leave the machine running; end your own processes by their id.",
    matches: ["echo b > /proc/sysrq-trigger", "echo c | sudo tee /proc/sysrq-trigger"],
    misses: ["cat /proc/sysrq-trigger", "echo 1 > /proc/self/oom_score_adj"],
    check: onEffect({
      kinds: ["write", "append"],
      classes: ["kernel"],
      when: ({ place }) =>
        /^\/proc\/sysrq-trigger$|^\/sys\/power\/|^\/proc\/sys\/kernel\/(panic|sysrq|core_pattern|modprobe)/.test(
          place.path,
        ),
      says: "{program} would crash or stop the machine through the kernel ({path}).",
    }),
  },
  {
    id: "empty-file",
    verdict: "ask",
    severity: "low",
    alternative: "Copy the file first, then empty it.",
    matches: ["truncate -s 0 db.sqlite", "> db.sqlite", ": > app.db", "cp /dev/null app.db"],
    misses: ["truncate -s 10M disk.img", "truncate -s 0 /tmp/x.log", "truncate -s 0 app.log"],
    check: onEffect({
      kinds: ["write"],
      classes: ["inside-workspace", "inside-home", "outside", "unknown"],
      when: ({ how, place }, command) =>
        how === "truncate"
          ? !/\.(log|out|tmp|txt)$/.test(place.path)
          : isEmpty(command) && /\.(db|db3|sqlite3?|mdb|rdb|dump)$/.test(place.path),
      says: "{program} would empty {path}.",
    }),
  },
];

/** Whether what is written holds nothing: a redirection alone, /dev/null, zeros. */
function isEmpty({ program, args }: JudgedCommand): boolean {
  if (/^(:|true|)$/.test(program)) return true;
  return /^(cp|cat|dd|install)$/.test(program) && /^(if=)?\/dev\/(null|zero)$/.test(args[0]?.text ?? "");
}
