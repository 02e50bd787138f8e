// Programs that move data between hosts: downloads, uploads, remote shells, sockets and mail.

import { changeDirectory } from "../paths/paths.ts";
import type { EffectiveCommand } from "../shell-model/command.ts";
import { flowOf } from "../shell-model/flow.ts";
import { UNKNOWN } from "../shell-model/marks.ts";
import type { Scope } from "../shell-model/script-scope.ts";
import { effectsOn, type RawEffect } from "./effect.ts";
import { decodesInput, printsDecoded } from "./print-texts.ts";
import type { Prints, Program, ProgramFamily } from "./program-record.ts";
import { type Options, valuesOf } from "./read-options.ts";
import { runSsh } from "./runs/remote.ts";
import { MAIL_ESCAPES } from "./runs/shell-escapes.ts";

/** The arguments before a key of ssh. */
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
  sends: { uploads: (_options, { args }) => args.some(({ text }) => text.includes(`${UNKNOWN}.`)) },
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
          operands.slice(-1).filter(({ text }) => !isRemote(text)),
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
      options: { values: "-HXduAeTFbcxCKmr", writes: "-o output" },
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
      options: { values: "-oPUt", writes: "-O output-document", runs: "use-askpass" },
      reads: true,
      prints: FETCHED,
      sends: { uploads: (_options, { args }) => args.some(({ text }) => /--(post|body)-file/.test(text)) },
      leaves: (options, command, scope) => {
        const names = valuesOf(options, "-O output-document").map(({ text }) => text);
        leavesDownload(names, options, command, scope);
      },
    },
    "http xh": HTTP,
    https: { prints: FETCHED, sends: {} },
    "aria2c fetch lynx w3m": { prints: FETCHED },
    ftp: { runs: MAIL_ESCAPES, prints: FETCHED, sends: {} },
    "nc ncat": { ...NETCAT, reads: true },
    "netcat nc.openbsd nc.traditional": NETCAT,
    socat: { reads: true, prints: FROM_SOCKET, sends: { givesShell: EXECUTES } },
    telnet: { runs: MAIL_ESCAPES, prints: FROM_SOCKET, sends: { givesShell: EXECUTES } },
    openssl: {
      reads: true,
      prints: {
        text: printsDecoded(/^-d$/),
        origins: ({ args }) => (args[0]?.text === "s_client" ? ["network", "socket"] : ["decoded"]),
      },
      sends: { givesShell: EXECUTES },
    },
    gpg: {
      reads: true,
      prints: {
        origins: ({ args }) =>
          args.some(({ text }) => text.includes("secret")) ? ["decoded", "secret"] : ["decoded"],
      },
    },
    uudecode: { prints: decodesInput },
    "dig nslookup host ping": ASKS_NAME,
    "mail mailx": { runs: MAIL_ESCAPES, reads: true, sends: {} },
    "mutt aws gsutil rclone s3cmd": { reads: true, sends: {} },
    "drill sendmail msmtp tftp croc wormhole ncftpput lftp": SENDS,
    "xclip pbcopy wl-copy": { reads: true },
  },
};

export function isRemote(text: string): boolean {
  return /^([\w.-]+@)?[\w.-]+:(?!\/\/)|^rsync:\/\//.test(text);
}

function endsAtRemote({ operands }: Options): boolean {
  return isRemote(operands.at(-1)?.text ?? "");
}

/** rsync --delete removes from the target what the source does not have. */
function emptied({ operands, flags }: Options): readonly RawEffect[] {
  if (![...flags].some((flag) => /^(del|delete)/.test(flag))) return [];
  const targets = operands.slice(-1).filter(({ text }) => !/^[\w.@-]+:/.test(text));
  return effectsOn(targets, "delete", { recursive: true, how: "sync" });
}

function synced({ operands, flags }: Options): readonly RawEffect[] {
  const targets = operands.slice(1).slice(-1);
  return [
    ...effectsOn(flags.has("remove-source-files") ? operands.slice(0, -1) : [], "move", { recursive: true }),
    ...effectsOn(
      targets.filter(({ text }) => !isRemote(text)),
      "write",
      { recursive: true, how: "copy" },
    ),
  ];
}

/** `-T file`, `-d @file`, `-F field=@file`, and httpie's `field@/some/file.txt`. */
function sendsFile(_options: Options, { args }: EffectiveCommand): boolean {
  const line = args.map(({ text }) => text).join(" ");
  return UPLOAD.test(line) || namesFile(args.at(-1)?.text ?? "");
}

const UPLOAD =
  /(^| )(-\w*T|--upload-file)|(^| )(-d ?@|--data(-\w+)?[ =]@|-F ?[^\s=]*=[@<]|--form[ =][^\s=]*=[@<])/;

function namesFile(arg: string): boolean {
  if (/^@./.test(arg)) return true;
  return /^[^@\s]+@/.test(arg) && arg.slice(arg.indexOf("@")).includes("/") && /\.\w+$/.test(arg);
}

/** A fetched file is remote code when it is run later. Without a name of its own it has the last part of the URL. */
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
