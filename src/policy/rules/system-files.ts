// Writes to system files and to other files outside the workspace.

import type { Effect, JudgedCommand } from "../facts.ts";
import { onArgs, onEffect, type Rule } from "../rule.ts";

const replaces = ({ kind, how }: Effect) => kind === "write" && how !== "extract";

/** Files in which a single added line can change how users log in or how the machine boots. */
const CRITICAL =
  /^\/(etc\/(passwd|shadow|group|gshadow|sudoers(\.d\/.*)?|fstab|crypttab|pam\.d\/.*|ld\.so\.preload|security\/.*|ssh\/.*|inittab|subuid|subgid|shells|nsswitch\.conf)|bin|sbin|lib|lib64|boot|usr|root)(\/|$)?/;

/** Commands may write to caches freely, because caches can be recreated. */
const CACHES = /\/\.cache\/./;

export const systemFileRules: readonly Rule[] = [
  {
    id: "write-system",
    verdict: "deny",
    severity: "critical",
    alternative: "Write to a file in the workspace and let the user install it.",
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
      when: (effect) => replaces(effect) || (effect.how !== "extract" && CRITICAL.test(effect.resolved.path)),
      reason: "{program} would overwrite a file that the system needs ({path}).",
    }),
  },
  {
    id: "write-system-config",
    verdict: "ask",
    severity: "high",
    alternative: "Write to a file in the workspace and let the user install it.",
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
        if (effect.resolved.class === "outside")
          return /^\/(opt|srv|mnt|media|run|snap|nix)\//.test(effect.resolved.path);
        return (
          effect.resolved.class === "system-config" ||
          !(replaces(effect) || CRITICAL.test(effect.resolved.path)) ||
          effect.how === "extract"
        );
      },
      reason: "{program} would change system files ({path}).",
    }),
  },
  {
    id: "write-outside",
    verdict: "ask",
    severity: "medium",
    alternative: "Write inside the workspace or to a temporary directory.",
    matches: [
      "cp .editorconfig ~/",
      "echo x > ~/notes.txt",
      "echo x > ../other/a.txt",
      "cp -r dist /data/site",
      'ln -s "$PWD/bin/x" ~/.local/bin/x',
      "tar -xzf a.tgz -C ~",
    ],
    misses: [
      "cp a b",
      "echo x > /tmp/a",
      "cp ~/Downloads/data.csv data/",
      "mkdir -p ~/.local/bin",
      "echo x > ~/.cache/app/a",
    ],
    check: onEffect({
      kinds: ["write", "append"],
      classes: ["inside-home", "home", "above-workspace", "outside"],
      when: ({ how, resolved }) => how !== "mkdir" && !CACHES.test(resolved.path),
      reason: "{program} would write to {path}, which is outside the workspace.",
    }),
  },
  {
    id: "write-anywhere",
    verdict: "ask",
    severity: "high",
    alternative: "Unpack into a separate directory, without absolute names.",
    programs: /^(tar|bsdtar|cpio|pax)$/,
    matches: ["tar -xPf backup.tar", "cpio -idm --absolute-filenames < a.cpio"],
    misses: ["tar -xf backup.tar", "tar -tPf a.tar", "cpio -idm < a.cpio"],
    check: onArgs(
      (args, { program }) =>
        program === "cpio"
          ? args.includes("--absolute-filenames")
          : /^-?\w*x/.test(args[0] ?? "") &&
            args.some((arg) => /^-\w*P|^--absolute-names$/.test(arg) || /^\w*P\w*$/.test(args[0] ?? "")),
      "{program} would write to the absolute paths in the archive.",
    ),
  },
  {
    id: "fill-disk",
    verdict: "ask",
    severity: "medium",
    alternative: "Limit the size: head -c 10M /dev/zero > file, or dd with count.",
    programs: /^(yes|cat|tee|pv|head|tail|tac|sort)$/,
    matches: ["cat /dev/zero > /tmp/fill", "yes > big.txt"],
    misses: ["head -c 1M /dev/zero > x", "cat a > b", "yes | npm init"],
    check: (command) => {
      const isEndless =
        command.program === "yes" ||
        (/^(cat|tee|pv)$/.test(command.program) &&
          command.args.some(({ text }) => /^\/dev\/(zero|u?random)$/.test(text)));
      const isKept = command.effects.some(
        ({ kind, how, resolved }) =>
          (kind === "write" || kind === "append") &&
          how === "redirect" &&
          resolved.class !== "harmless-device" &&
          resolved.class !== "device",
      );
      const isHuge =
        command.program === "head" &&
        command.args.some(({ text }) => /^(-c ?|--bytes=)?\d{2,}[GTPE]i?B?$/i.test(text));
      const isStored =
        /^(tail|tac|sort)$/.test(command.program) &&
        command.args.some(({ text }) => /^\/dev\/(zero|u?random)$/.test(text));
      if (isStored) return { reason: `${command.program} would use all memory of the machine.` };
      return (isEndless || isHuge) && isKept
        ? { reason: `${command.program} would write until the disk is full.` }
        : null;
    },
  },
  {
    id: "kernel-switch",
    verdict: "ask",
    severity: "high",
    alternative: "Ask the user to change kernel settings.",
    matches: ["echo 1 > /proc/sys/vm/drop_caches", "echo 0 > /sys/class/leds/x/brightness"],
    misses: ["cat /proc/cpuinfo", "echo 1 > /proc/self/oom_score_adj"],
    check: onEffect({
      kinds: ["write", "append"],
      classes: ["kernel"],
      reason: "{program} would change a setting of the running kernel ({path}).",
    }),
  },
  {
    id: "sysrq",
    verdict: "deny",
    severity: "critical",
    alternative: "Leave the machine running; kill your own processes by PID.",
    matches: ["echo b > /proc/sysrq-trigger", "echo c | sudo tee /proc/sysrq-trigger"],
    misses: ["cat /proc/sysrq-trigger", "echo 1 > /proc/self/oom_score_adj"],
    check: onEffect({
      kinds: ["write", "append"],
      classes: ["kernel"],
      when: ({ resolved }) =>
        /^\/proc\/sysrq-trigger$|^\/sys\/power\/|^\/proc\/sys\/kernel\/(panic|sysrq|core_pattern|modprobe)/.test(
          resolved.path,
        ),
      reason: "{program} would crash or stop the machine through the kernel ({path}).",
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
      when: ({ how, resolved }, command) =>
        how === "truncate"
          ? !/\.(log|out|tmp|txt)$/.test(resolved.path)
          : isEmpty(command) && /\.(db|db3|sqlite3?|mdb|rdb|dump)$/.test(resolved.path),
      reason: "{program} would empty {path}.",
    }),
  },
];

/** Whether the written data is empty: a redirection alone, /dev/null, zeros. */
function isEmpty({ program, args }: JudgedCommand): boolean {
  if (/^(:|true|)$/.test(program)) return true;
  return /^(cp|cat|dd|install)$/.test(program) && /^(if=)?\/dev\/(null|zero)$/.test(args[0]?.text ?? "");
}
