// Static file servers: the directories that they serve and the addresses that they listen on, from their arguments.

import type { EffectiveCommand, Field } from "../shell-model/command.ts";
import type { FileServer, ProgramFamily } from "./program-record.ts";
import { type OptionTable, readOptions, valuesOf } from "./read-options.ts";

interface ServerArguments {
  readonly options: OptionTable;
  /** The options that name an address. */
  readonly address: string;
  /** The options that name a directory. @default the operands name directories */
  readonly directory?: string;
}

const HTTP_SERVER: ServerArguments = {
  options: {
    values: "-paceoPCKUdi port cache ext proxy cert key username password mimetypes header",
    flags: "silent cors gzip brotli robots ssl tls help version",
  },
  address: "-a",
};
const SERVE: ServerArguments = {
  options: { values: "-lpc listen config ssl-cert ssl-key ssl-pass" },
  address: "-l listen",
};
const BUSYBOX_HTTPD: ServerArguments = {
  options: { values: "-phcurmed" },
  address: "-p",
  directory: "-h",
};
/** WEBrick, started through ruby's library `un`. */
const RUBY_HTTPD: ServerArguments = {
  options: {
    values:
      "-bp bind-address port max-clients temp-dir request-timeout http-version server-name server-software ssl-certificate ssl-private-key",
  },
  address: "-b bind-address",
};
/** Modules for `python -m`. Their operand is a port. */
const PYTHON_MODULES: Readonly<Record<string, ServerArguments>> = {
  "http.server": {
    options: { values: "-bdp bind directory protocol tls-cert tls-key tls-password-file", flags: "cgi" },
    address: "-b bind",
    directory: "-d directory",
  },
  SimpleHTTPServer: { options: {}, address: "", directory: "" },
  pyftpdlib: {
    options: { values: "-ipdnruP interface port directory nat-address range username password" },
    address: "-i interface",
    directory: "-d directory",
  },
};

export const fileServers: ProgramFamily = {
  familiar: "serve",
  programs: {
    "http-server": serving(HTTP_SERVER),
    serve: serving(SERVE),
    // Without busybox, httpd is Apache, which has other options.
    httpd: {
      serves: ({ args, span, via }) =>
        via.at(-1) === "busybox" ? serverFrom(BUSYBOX_HTTPD, args, span) : null,
    },
  },
};

function serving(server: ServerArguments) {
  const { options } = server;
  return { options, serves: ({ args, span }: EffectiveCommand) => serverFrom(server, args, span) };
}

function serverFrom(
  { options: table, address, directory }: ServerArguments,
  args: readonly Field[],
  span: Field["span"],
): FileServer {
  const options = readOptions(args, table);
  const directories = directory === undefined ? options.operands : valuesOf(options, directory);
  return {
    directories: directories.length > 0 ? directories : [{ text: ".", span }],
    addresses: valuesOf(options, address),
  };
}

/** The server that python starts: `python -m http.server`. */
export function servedByPython({ args, span }: EffectiveCommand): FileServer | null {
  const module = pythonModule(args);
  if (!module || !Object.hasOwn(PYTHON_MODULES, module.name)) return null;
  const server = PYTHON_MODULES[module.name];
  return server ? serverFrom(server, module.args, span) : null;
}

/** The arguments of python that may be files: with `-m`, the arguments of the module. */
export function pythonOperands({ args }: EffectiveCommand): readonly Field[] {
  return pythonModule(args)?.args ?? args;
}

/** The module that python runs, with its arguments. Everything after the module's name belongs to the module. */
function pythonModule(args: readonly Field[]): { name: string; args: readonly Field[] } | null {
  for (let i = 0; i < args.length; i++) {
    const text = args[i]?.text ?? "";
    const [, letter, value = ""] = /^-[A-Za-z]*?([cmWX])([\s\S]*)$/.exec(text) ?? [];
    if (letter === "c" || !text.startsWith("-")) return null;
    const end = value === "" ? i + 1 : i;
    if (letter === "m") return { name: value || (args[end]?.text ?? ""), args: args.slice(end + 1) };
    if (letter !== undefined) i = end;
  }
  return null;
}

/** The server that PHP starts: `php -S ADDRESS -t DIRECTORY`. */
export function servedByPhp(table: OptionTable): (command: EffectiveCommand) => FileServer | null {
  const server: ServerArguments = { options: table, address: "-S", directory: "-t" };
  return ({ args, span }) =>
    readOptions(args, table, "at-operand").flags.has("S") ? serverFrom(server, args, span) : null;
}

/** The server that ruby starts: `ruby -run -e httpd DIRECTORY`. -r loads the library `un`, which defines httpd. */
export function servedByRuby(table: OptionTable): (command: EffectiveCommand) => FileServer | null {
  return ({ args, span }) => {
    const options = readOptions(args, table, "at-operand");
    const isHttpd =
      valuesOf(options, "-r").some(({ text }) => text === "un") &&
      valuesOf(options, "-e").some(({ text }) => text === "httpd");
    return isHttpd ? serverFrom(RUBY_HTTPD, options.operands, span) : null;
  };
}
