// Programs that move data between hosts: downloads, uploads, remote shells, sockets and mail.

import { changeDirectory } from "../paths/paths.ts";
import type { EffectiveCommand } from "../shell-model/command.ts";
import { flowOf } from "../shell-model/flow.ts";
import { SOMETHING, UNKNOWN } from "../shell-model/marks.ts";
import { inSameProcess } from "../shell-model/nested-context.ts";
import type { Scope } from "../shell-model/script-scope.ts";
import { effectsOn, type RawEffect } from "./effect.ts";
import { decodesInput, printsDecoded } from "./print-texts.ts";
import type { Prints, Program, ProgramFamily, RunsCommand } from "./program-record.ts";
import { hasFlag, type Options, readOptions, splitAtLastWord, valuesOf } from "./read-options.ts";
import { runSsh } from "./runs/remote.ts";
import { MAIL_ESCAPES } from "./runs/shell-escapes.ts";

/** Matches the arguments before an ssh key. */
export const SSH_IDENTITY = /(^| )(-(i|o|F|J)|-e ?ssh.*) ?\S*$/;

const FETCHED: Prints = { origins: () => ["network"] };
const FROM_SOCKET: Prints = { origins: () => ["network", "socket"] };
const SENDS: Program = { sends: {} };
const EXECUTES = /\b(exec|system|shell)(:|,)/i;
const SSH: Program = { options: { values: "-BbcDEeFIiJLlmOopQRSWw" }, runs: runSsh };
const HTTP: Program = { prints: FETCHED, sends: { uploads: sendsFile } };
const NETCAT: Program = {
  prints: FROM_SOCKET,
  sends: { givesShell: /(^| )(-\w*[ec]\w*|--exec|--sh-exec|--lua-exec)( |=)/ },
};
const ASKS_NAME: Program = {
  sends: {
    uploads: (_options, { args, substituted }) =>
      args.some(({ text }) => text.includes(`${UNKNOWN}.`) || text.includes(`${SOMETHING}.`)) ||
      substituted.some((origin) => /^(data|packed|identity)$/.test(origin)),
  },
};

/** Judges the options in the lines of the file that `curl -K` reads. */
const runCurlConfig: RunsCommand = (command, around, runner, table) => {
  const [file] = valuesOf(readOptions(command.args, table), "-K config");
  if (!file) return null;
  const [cwd = UNKNOWN] = around.scope.cwds;
  const flow = file.text === "-" ? command.stdin : around.scope.files.get(changeDirectory(file.text, cwd));
  const argv = (flow?.text ?? "").split("\n").flatMap((line) => {
    const [, name, value = ""] = /^\s*-*([\w-]+)\s*[=: ]?\s*"?([^"]*)"?\s*$/.exec(line) ?? [];
    return name === undefined ? [] : [`--${name}`, value].filter((text) => text !== "");
  });
  if (argv.length > 0)
    runner.runArgv(
      ["curl", ...argv].map((text) => ({ text, span: file.span })),
      inSameProcess(around, "curl"),
    );
  return null;
};

export const transfer: ProgramFamily = {
  familiar:
    "curl dig gh host ifconfig ip mtr nc netstat nslookup openssl ping rsync scp ss ssh traceroute wget whois aws gcloud az heroku vercel netlify fly wrangler supabase",
  programs: {
    rsync: {
      options: { values: "-fT exclude include exclude-from files-from", runs: "-e rsh rsync-path" },
      effects: (options) => [...emptied(options), ...synced(options)],
      reads: true,
      sends: { identity: SSH_IDENTITY, uploads: endsAtRemote },
    },
    scp: {
      options: { values: "-cFiJloP", runs: "-S" },
      effects: ({ operands }) =>
        effectsOn(
          splitAtLastWord(operands).last.filter(({ text }) => !isRemote(text)),
          "write",
          { how: "copy" },
        ),
      reads: true,
      sends: { identity: SSH_IDENTITY, uploads: endsAtRemote },
    },
    ssh: {
      ...SSH,
      prints: FETCHED,
      sends: {
        identity: SSH_IDENTITY,
        uploads: (_options, { stdin }) => stdin.connected && stdin.text === null,
      },
    },
    "autossh mosh slogin": SSH,
    sftp: { runs: MAIL_ESCAPES, sends: { identity: SSH_IDENTITY } },
    curl: {
      ...HTTP,
      options: {
        values:
          "-HXduAeTFbxCKmr header request data user user-agent form url config max-time retry cacert unix-socket",
        writes:
          "-oDc output dump-header cookie-jar trace trace-ascii stderr etag-save hsts output-dir libcurl",
      },
      effects: savedHere,
      runs: runCurlConfig,
      reads: true,
      leaves: (options, command, scope) =>
        leavesDownload(
          valuesOf(options, "-o output").map(({ text }) => text),
          options,
          command,
          scope,
        ),
    },
    wget: {
      options: {
        values: "-Ut",
        writes: "-OPoa output-document directory-prefix output-file append-output save-cookies warc-file",
        runs: "use-askpass",
      },
      effects: savedHere,
      reads: true,
      prints: FETCHED,
      sends: { uploads: (_options, { args }) => args.some(({ text }) => /--(post|body)-file/.test(text)) },
      leaves: (options, command, scope) => {
        const names = valuesOf(options, "-O output-document").map(({ text }) => text);
        leavesDownload(names, options, command, scope);
      },
    },
    "http xh": HTTP,
    https: HTTP,
    aria2c: { options: { values: "-xsjk", writes: "-dol dir out log" }, prints: FETCHED },
    "fetch lynx w3m": { prints: FETCHED },
    ftp: { runs: MAIL_ESCAPES, prints: FETCHED, sends: {} },
    "nc ncat": { ...NETCAT, reads: true },
    "netcat nc.openbsd nc.traditional": NETCAT,
    socat: { reads: true, prints: FROM_SOCKET, sends: { givesShell: EXECUTES } },
    telnet: { runs: MAIL_ESCAPES, prints: FROM_SOCKET, sends: { givesShell: EXECUTES } },
    openssl: {
      options: {
        values: "in inkey passin passout config",
        writes: "out keyout writerand CAserial",
        singleDash: true,
      },
      reads: true,
      prints: {
        text: printsDecoded(/^-d$/),
        origins: ({ args }) => (args[0]?.text === "s_client" ? ["network", "socket"] : ["decoded"]),
      },
      sends: { givesShell: EXECUTES },
    },
    "ssh-keygen": {
      options: { values: "-tbCNPfFRrsVzDIOnmZ" },
      effects: (options) =>
        hasFlag(options, "-lyFRBeHQ") ? [] : effectsOn(valuesOf(options, "-f"), "write"),
    },
    gpg: {
      options: { values: "-ru recipient homedir", writes: "-o output" },
      reads: true,
      prints: {
        origins: ({ args }) =>
          args.some(({ text }) => text.includes("secret")) ? ["decoded", "secret"] : ["decoded"],
      },
    },
    logger: {
      options: { values: "-ntPpf server tag port priority file" },
      reads: true,
      sends: { uploads: (options) => hasFlag(options, "-n server") },
    },
    uudecode: { prints: decodesInput },
    "dig nslookup host ping": ASKS_NAME,
    "mail mailx": { runs: MAIL_ESCAPES, reads: true, sends: {} },
    "mutt aws gsutil rclone s3cmd": { reads: true, sends: {} },
    "drill sendmail msmtp tftp croc wormhole ncftpput lftp": SENDS,
    "xclip pbcopy wl-copy": { reads: true },
  },
};

/** The effect of a download on the current directory, if no option names the output. */
function savedHere(options: Options, { program, args }: EffectiveCommand): readonly RawEffect[] {
  const isNamed =
    hasFlag(options, "-o output output-document output-dir directory-prefix") || options.values.has("P");
  const saves =
    program === "wget"
      ? !hasFlag(options, "spider") && !options.values.has("O")
      : hasFlag(options, "-OJ remote-name");
  const [first] = args;
  return first && saves && !isNamed
    ? effectsOn([{ ...first, text: "./x" }], "write", { how: "download" })
    : [];
}

export function isRemote(text: string): boolean {
  return /^([\w.-]+@)?[\w.\uFDD0\uFDD1-]+:(?!\/\/)|^rsync:\/\//.test(text);
}

function endsAtRemote(options: Options): boolean {
  const { operands } = options;
  return !hasFlag(options, "-n dry-run") && splitAtLastWord(operands).last.some(({ text }) => isRemote(text));
}

/** With --delete, rsync removes files from the target that are not in the source. */
function emptied({ operands, flags }: Options): readonly RawEffect[] {
  if (![...flags].some((flag) => /^(del|delete)/.test(flag))) return [];
  const targets = splitAtLastWord(operands).last.filter(({ text }) => !/^[\w.@-]+:/.test(text));
  return effectsOn(targets, "delete", { recursive: true, how: "sync" });
}

function synced({ operands, flags }: Options): readonly RawEffect[] {
  const { before, last } = splitAtLastWord(operands);
  const targets = before.length > 0 ? last : [];
  return [
    ...effectsOn(flags.has("remove-source-files") ? before : [], "move", { recursive: true }),
    ...effectsOn(
      targets.filter(({ text }) => !isRemote(text)),
      "write",
      { recursive: true, how: "copy" },
    ),
  ];
}

/** Whether the arguments upload a file: `-T file`, `-d @file`, `-F field=@file`, httpie's `field@/some/file.txt`. */
function sendsFile(_options: Options, { args }: EffectiveCommand): boolean {
  const line = args.map(({ text }) => text).join(" ");
  return UPLOAD.test(line) || namesFile(args.at(-1)?.text ?? "");
}

const UPLOAD =
  /(^| )(-\w*T|--upload-file)|(^| )(-d ?@|--data(-\w+)?[ =]@|-F ?[^\s=]*=[@<]|--form[ =][^\s=]*=[@<])/;

function namesFile(arg: string): boolean {
  if (
    /^@./.test(arg) ||
    /^[\w-]+@[\w-]+\.(csv|txt|json|tgz|gz|zip|tar|sql|db|env|pem|key|log|xlsx?|docx?|pdf|ya?ml)$/.test(arg)
  )
    return true;
  return /^[^@\s]+@/.test(arg) && arg.slice(arg.indexOf("@")).includes("/") && /\.\w+$/.test(arg);
}

/**
 * Records a download: a later command that runs the file runs remote code. The default name of the file is the last
 * part of the URL.
 */
function leavesDownload(
  names: readonly string[],
  { operands, flags }: Options,
  { program, cwds }: EffectiveCommand,
  scope: Scope,
): void {
  const saves = program === "wget" || flags.has("O") || flags.has("remote-name");
  const inUrls = operands.map(({ text }) => text.split(/[?#]/)[0]?.split("/").at(-1) ?? "");
  for (const name of names.length > 0 ? names : saves ? inUrls : []) {
    if (name !== "-" && name !== "")
      scope.files.set(changeDirectory(name, cwds[0] ?? UNKNOWN), flowOf(null, ["network"]));
  }
}
