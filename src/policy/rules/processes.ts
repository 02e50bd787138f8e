// Commands that kill every process or stop the machine.

import { asksForHelp, type JudgedCommand } from "../facts.ts";
import { programNamed } from "../programs/programs.ts";
import { hasFlag, readOptions, valuesOf } from "../programs/read-options.ts";
import { onArgs, type Rule } from "../rule.ts";
import { EACH, isCertain } from "../shell-model/marks.ts";

const OWN = "Kill your own processes by PID, or with pkill -f and a pattern that matches only them.";

function killsEverything(command: JudgedCommand): boolean {
  const { program, args } = command;
  if (program === "killall5" || program === "slay") return true;
  if (program === "kill") return killsAll(command);
  if (program === "fuser")
    return (
      args.some(({ text }) => /^-\w*k/.test(text)) &&
      args.some(({ text }) => /^\/(|usr|home|etc|var|bin)\/?$/.test(text))
    );
  if (program === "loginctl") return /^(terminate|kill)-(user|seat|session)$/.test(args[0]?.text ?? "");
  return killsByPattern(program, args);
}

/** Whether a target of `kill` is every process, or comes from a list of all processes. */
function killsAll({ args, stdin, substituted }: JudgedCommand): boolean {
  const targets = killTargets(args.map(({ text }) => text));
  if (targets.some((pid) => /^-?1$/.test(pid) || pid.includes(EACH))) return true;
  const lists = substituted.includes("processes") || stdin.origins.includes("processes");
  return lists && targets.some((pid) => !isCertain(pid));
}

/** Process names that all programs in one language share. */
const INTERPRETERS = /^(node|python[\d.]*|java|ruby|php|perl|bash|zsh|sh|deno|bun)$/;

/** Whether the command would kill every program in a language, not only the intended one. */
function killsByLanguage({ program, args }: JudgedCommand): boolean {
  if (program !== "pkill" && program !== "killall") return false;
  const isHard = args.some(({ text }) => /^-(9|KILL|SIGKILL)$/.test(text));
  return isHard && args.some(({ text }) => INTERPRETERS.test(text));
}

function killsByPattern(program: string, args: JudgedCommand["args"]): boolean {
  if (program !== "pkill" && program !== "killall" && program !== "skill") return false;
  const options = readOptions(
    args.filter(({ text }) => !/^-(\d+|SIG[A-Z]+|[A-Z]{3,})$/.test(text)),
    programNamed(program).options,
  );
  const [pattern] = options.operands;
  // -v selects every process that does not match.
  if (program === "pkill" && hasFlag(options, "-v inverse")) return true;
  if (hasFlag(options, "-uU euid uid user") && !pattern) return true;
  if (valuesOf(options, "-P parent").some(({ text }) => text === "1")) return true;
  return /^([.^$*]|\.\*|\.\+|\[.{1,6}\]\*?|init|systemd|launchd)*$/.test(
    pattern?.text.replace(/[\uFDD2-\uFDD4]/g, "*") ?? "x",
  );
}

/** The PIDs among the arguments of `kill`. A signal such as -9 looks like a negative PID. */
function killTargets(args: readonly string[]): readonly string[] {
  const rest = [...args];
  const [first = ""] = rest;
  if (first === "-l" || first === "-L" || first === "--list" || first === "-0") return [];
  if (/^(-s|-n|--signal)$/.test(first)) {
    rest.splice(0, 2);
    if (args[1] === "0") return [];
  } else if (/^-(s|n)\w+$|^--signal=/.test(first)) rest.shift();
  // `kill -1` alone is a signal; `kill -9 -1` and `kill -- -1` name every process.
  else if (/^-(\d+|[A-Z]\w*)$/.test(first)) rest.shift();
  return rest.filter((text) => text !== "--" && text !== "-q");
}

const STOPS =
  /^(shutdown|reboot|halt|poweroff|systemctl|init|telinit|kexec|pm-suspend|pm-hibernate|rtcwake|osascript|dbus-send|busctl|gdbus|loginctl)$/;

const STOPPING_UNIT =
  /^(poweroff|reboot|halt|kexec|shutdown|rescue|emergency|suspend|hibernate)\.(target|service)$/;

function stopsMachine(args: readonly string[], command: JudgedCommand): boolean {
  if (asksForHelp(command)) return false;
  const words = args.filter((text) => !text.startsWith("-"));
  switch (command.program) {
    case "shutdown":
      // -c cancels a shutdown, and -k only warns.
      return !args.includes("-c") && !args.includes("-k") && !args.includes("--show");
    case "reboot":
    case "halt":
    case "poweroff":
      return !args.includes("-w") && !args.includes("--wtmp-only");
    case "loginctl":
    case "systemctl":
      if (/^(start|restart|isolate)$/.test(words[0] ?? "") && words.some((word) => STOPPING_UNIT.test(word)))
        return true;
      return /^(poweroff|reboot|halt|kexec|soft-reboot|suspend|hibernate|hybrid-sleep|rescue|emergency|exit|switch-root)$/.test(
        words[0] ?? "",
      );
    case "init":
    case "telinit":
      return /^[016sS]$/.test(words[0] ?? "");
    case "kexec":
      return args.some((text) => /^(-e|--exec|-l|-p|--load)/.test(text));
    case "osascript":
      return args.some(
        (text) => /\b(shut down|restart|sleep)\b/.test(text) && /System Events|Finder|loginwindow/.test(text),
      );
    case "dbus-send":
    case "busctl":
    case "gdbus":
      return args.some((text) => /^(.*\.)?(Reboot|PowerOff|Halt|Suspend|Hibernate)(WithFlags)?$/.test(text));
    default:
      return true;
  }
}

export const processRules: readonly Rule[] = [
  {
    id: "kill-by-language",
    verdict: "ask",
    severity: "medium",
    alternative: OWN,
    programs: /^(pkill|killall)$/,
    matches: ["killall -9 node", "pkill -9 -f python"],
    misses: ["pkill -f 'node server.js'", "killall node", "kill -9 123"],
    check: onArgs(
      (_args, command) => killsByLanguage(command),
      "{program} would kill every program written in that language.",
    ),
  },
  {
    id: "kill-everything",
    verdict: "deny",
    severity: "critical",
    alternative: OWN,
    programs: /^(kill|pkill|killall|killall5|skill|slay|fuser|loginctl)$/,
    matches: [
      "kill -9 -1",
      "kill -s 9 -- -1",
      "kill -KILL -- -1",
      "kill -9 1",
      "pkill -9 -u root",
      "pkill -9 .",
      "killall5 -9",
      "kill -9 $(pgrep -u dev)",
      "ps -eo pid= | xargs kill",
      "for p in $(ps -e -o pid=); do kill $p; done",
      "for i in {1..65535}; do kill -9 $i; done",
      "for ((i=2; i<32768; i++)); do kill -9 $i; done",
      "seq 2 65535 | xargs kill -9",
    ],
    misses: [
      "kill %1",
      "kill 1234",
      "kill -9 1234",
      "kill -0 1",
      "pkill -f 'vite --port 5173'",
      "killall node",
      "kill -1 1234",
      "kill $(pgrep -f vite)",
      "ps aux | grep node | awk '{print $2}' | xargs kill",
      "kill $(lsof -t -i:3000)",
      "for i in {1..5}; do kill -0 $pid || break; done",
    ],
    check: onArgs(
      (_args, command) => !asksForHelp(command) && killsEverything(command),
      "{program} would kill every process, including those that run this machine.",
    ),
  },
  {
    id: "stop-machine",
    verdict: "deny",
    severity: "critical",
    alternative: "Ask the user to restart the machine.",
    programs: STOPS,
    matches: [
      "reboot",
      "shutdown -r +0",
      "sudo reboot -f",
      "init 0",
      "systemctl reboot --force",
      "halt -p",
      "telinit 6",
    ],
    misses: [
      "shutdown --help",
      "shutdown -c",
      "systemctl status nginx",
      "node scripts/reboot.js",
      "npm init -y",
    ],
    check: onArgs(stopsMachine, "{program} would stop or restart the machine."),
  },
];
