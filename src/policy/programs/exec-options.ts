// Options through which a harmless-looking program runs another one. The value is read as the shell would read it.

import type { CommandContext, EffectiveCommand, Field, Runner } from "../shell-model/command.ts";
import { type Flow, NO_FLOW } from "../shell-model/flow.ts";
import { type OptionTable, readOptions, valuesOf } from "./argv.ts";

interface ExecOptions extends OptionTable {
  readonly runs: readonly string[];
}

const TABLE: Readonly<Record<string, ExecOptions>> = {
  tar: {
    values: "fCIFTXbgHKLNV",
    longValues: [
      "to-command",
      "use-compress-program",
      "checkpoint-action",
      "info-script",
      "new-volume-script",
      "rsh-command",
      "rmt-command",
    ],
    runs: [
      "to-command",
      "use-compress-program",
      "checkpoint-action",
      "info-script",
      "new-volume-script",
      "rsh-command",
      "rmt-command",
      "I",
      "F",
    ],
  },
  rsync: { values: "efT", longValues: ["rsh", "rsync-path"], runs: ["e", "rsh", "rsync-path"] },
  scp: { values: "cFiJloPS", runs: ["S"] },
  rg: {
    values: "egtTfAmBCjMEr",
    longValues: ["pre", "hostname-bin", "pre-glob"],
    runs: ["pre", "hostname-bin"],
  },
  ag: { longValues: ["pager"], runs: ["pager"] },
  sort: { values: "koStT", longValues: ["compress-program"], runs: ["compress-program"] },
  split: { values: "blnaC", longValues: ["filter"], runs: ["filter"] },
  man: { values: "PHMSC", longValues: ["pager", "html"], runs: ["P", "pager", "H", "html"] },
  tcpdump: { values: "ziwrcsCGWZF", runs: ["z"] },
  go: {
    values: "",
    longValues: ["exec", "toolexec", "vettool"],
    runs: ["exec", "toolexec", "vettool"],
    singleDash: true,
  },
  zip: { longValues: ["unzip-command"], runs: ["unzip-command"] },
  wget: { longValues: ["use-askpass"], runs: ["use-askpass"] },
  nmap: { longValues: ["script"], runs: [] },
  less: { values: "", runs: [] },
  emacs: { longValues: ["eval", "execute"], runs: ["eval", "execute"], singleDash: true },
  nodemon: { values: "xwei", longValues: ["exec", "watch", "ext", "ignore"], runs: ["x", "exec"] },
  "nix-shell": { values: "p", longValues: ["run", "command"], runs: ["run", "command"] },
  ctags: { longValues: ["filter-terminator"], runs: [] },
  pip: { longValues: ["editor"], runs: ["editor"] },
  dpkg: { longValues: ["pre-invoke", "post-invoke"], runs: ["pre-invoke", "post-invoke"] },
  socat: { runs: [] },
};

/** Nothing is surprising about a compressor or a remote shell by its own name. */
const EXPECTED = /^(gzip|pigz|bzip2|pbzip2|xz|zstd|lz4|zstdmt|ssh|cat|gunzip|brotli)( -[\w=]+)*$/;

export function runExecOptions(
  command: EffectiveCommand,
  around: CommandContext,
  runner: Runner,
): Flow | null {
  const handed = handedOn(command);
  if (handed) {
    const via = [...around.via, command.program];
    runner.runText(handed.text, { ...around, via, redirects: [], stdin: NO_FLOW, span: handed.span });
  }
  const texts = executed(command);
  if (texts.length === 0) return null;
  const inside = { ...around, via: [...around.via, command.program], redirects: [], stdin: NO_FLOW };
  for (const { text, span } of texts) {
    const shell = text.replace(/^exec=/, "");
    if (EXPECTED.test(shell) || /^(dot|echo|bell|ttyout|sleep|totals|wait)(=|$)/.test(shell)) continue;
    if (!/^(nodemon|nix-shell)$/.test(command.program)) {
      runner.sign("runs-program", span, `an option of ${command.program} runs a program`);
    }
    runner.runText(shell, { ...inside, span });
  }
  return null;
}

function executed(command: EffectiveCommand): readonly Field[] {
  if (command.program === "git") return gitExecutes(command.args);
  if (command.program === "zip" && command.args.some(({ text }) => text === "-TT")) {
    const at = command.args.findIndex(({ text }) => text === "-TT");
    return command.args.slice(at + 1, at + 2);
  }
  const table = Object.hasOwn(TABLE, command.program) ? TABLE[command.program] : undefined;
  if (!table || table.runs.length === 0) return [];
  // Perl-style `tar czf` without a dash names no option that runs anything.
  return valuesOf(readOptions(command.args, table), ...table.runs);
}

/** What git plainly says it runs: for every submodule, every commit, every step of a search. */
function handedOn({ program, args }: EffectiveCommand): Field | null {
  if (program !== "git") return null;
  const at = args.findIndex(({ text }, i) => {
    const before = args[i - 1]?.text ?? "";
    if (before === "submodule") return text === "foreach";
    if (before === "bisect") return text === "run";
    return /^--(tree|index|env|msg|commit|parent|tag-name)-filter$/.test(text);
  });
  const rest = args.slice(at + 1).filter(({ text }, i) => i > 0 || !/^--(recursive|quiet)$/.test(text));
  const [first] = rest;
  if (at < 0 || !first) return null;
  const isFilter = args[at]?.text.endsWith("-filter");
  return { ...first, text: isFilter ? first.text : rest.map(({ text }) => text).join(" ") };
}

const GIT_RUNS =
  /^(core\.(pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy)|alias\..+|pager\..+|diff\.external|diff\..+\.(command|textconv)|difftool\..+\.cmd|mergetool\..+\.cmd|merge\..+\.driver|filter\..+\.(clean|smudge|process)|credential\.(.+\.)?helper|gpg\.(.+\.)?program|sequence\.editor|uploadpack\.\w+|protocol\.ext\.allow|remote\..+\.(uploadpack|receivepack|vcs)|ssh\.variant|init\.templatedir|include\.path|includeif\..+)$/i;

/** Whether a git setting names something that git runs. */
export function isExecutedSetting(key: string): boolean {
  return GIT_RUNS.test(key);
}

function gitExecutes(args: readonly Field[]): readonly Field[] {
  const found: Field[] = [];
  for (const [i, field] of args.entries()) {
    const { text } = field;
    const next = args[i + 1];
    if (text === "-c" && next) found.push(...setting(next));
    else if (text.startsWith("--config-env=") || text === "--ext-diff") found.push({ ...field, text: ":" });
    else if (/^-O./.test(text) && args.some((arg) => arg.text === "grep"))
      found.push({ ...field, text: text.slice(2) });
    else if (/^--(upload-pack|receive-pack|exec|extcmd|exec-path|open-files-in-pager)=/.test(text))
      found.push({ ...field, text: text.slice(text.indexOf("=") + 1) });
    else if (
      /^(--upload-pack|--receive-pack|--extcmd|--exec|-x|-u)$/.test(text) &&
      next &&
      (text !== "-u" || args[0]?.text === "clone") &&
      /^(fetch|clone|pull|push|rebase|difftool|ls-remote)$/.test(args[0]?.text ?? "")
    )
      found.push(next);
    else if (/^ext::/.test(text)) found.push({ ...field, text: text.slice(5) });
  }
  return found;
}

function setting(field: Field): readonly Field[] {
  const equal = field.text.indexOf("=");
  const key = equal < 0 ? field.text : field.text.slice(0, equal);
  const value = equal < 0 ? "" : field.text.slice(equal + 1);
  if (!isExecutedSetting(key) || /^(cat|less|true|)$/.test(value)) return [];
  // An alias is a git command unless it starts with a bang.
  if (/^alias\./i.test(key)) return value.startsWith("!") ? [{ ...field, text: value.slice(1) }] : [];
  return [{ ...field, text: value }];
}
