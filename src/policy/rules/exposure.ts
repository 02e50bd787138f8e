// Servers that other machines can reach.

import { asksForHelp, type JudgedCommand } from "../facts.ts";
import { MAY_WRITE } from "../programs/may-write.ts";
import type { FileServer } from "../programs/program-record.ts";
import { programNamed } from "../programs/programs.ts";
import { isPathAtRisk } from "../protected-paths.ts";
import { type Hit, onPrograms, type Rule } from "../rule.ts";
import { isBuiltinName } from "../shell-model/builtin-names.ts";
import { BRACKET, shown } from "../shell-model/marks.ts";
import { onRows } from "./tables.ts";

/** The address of all interfaces: alone, with a port, or as the value of an option. */
const EVERYWHERE = /^(--?[\w.-]+=)?(\w+:\/\/)?(0\.0\.0\.0|\[::\]|::|\*)(:[\d:]+\S*)?$/;
/** An address that only this machine can reach. */
const LOOPBACK = /^(\w+:\/\/)?(127(\.\d{1,3}){1,3}|localhost|\[::1\])(:\d+)?$|^::1$|^(unix|pipe):/i;
const CLIENTS =
  /^(curl|wget|https?|xh|nc|ncat|netcat|telnet|nmap|ssh|sed|awk|psql|mysql|redis-cli|cp|mv|rm|mkdir|tar|ls|grep|egrep|rg|ag|echo|printf|cat|jq|yq|test|\[|lsof|ss|netstat|ping|expr|case|read|less|head|tail|docker-credential-\w+|export|declare|ip|route|iptables|ufw|tcpdump|dig)$/;
/** Options before an address. An address without such an option is often a search pattern. */
const BINDS =
  /^(-?-?(host|bind|bind[_-](ip|address|addr)|ip|address|listen(-address)?|addr|hostname|server\.(host|address)|inspect(-brk)?|http|interface)|-[abHBlLSsip])$/i;

function listensEverywhere(command: JudgedCommand): Hit | null {
  const { program, args, assignments } = command;
  if (asksForHelp(command) || CLIENTS.test(program)) return null;
  const server = programNamed(program).serves?.(command);
  if (server && isLocal(server)) return null;
  const exposed = server && directoryOutside(server, command);
  if (exposed) return { reason: `${shown(program)} would let every other machine read ${shown(exposed)}.` };
  const isBound = args.some(({ text }, i) => {
    if (/^--bind_ip_all$|listen_addresses=.?\*/.test(text) || /^--inspect(-brk)?=0\.0\.0\.0/.test(text))
      return true;
    // bash reads the brackets of an unquoted [::] as a pattern.
    if (text.includes(BRACKET) && /:\d+$/.test(text) && BINDS.test(args[i - 1]?.text ?? "")) return true;
    if (!EVERYWHERE.test(text) || text === "*") return false;
    return text.includes("=") || /:\d/.test(text) || BINDS.test(args[i - 1]?.text ?? "");
  });
  const isSet = assignments.some(
    ({ name, value }) => /HOST|BIND|ADDR|LISTEN/.test(name) && EVERYWHERE.test(value) && value !== "*",
  );
  const isServed = server?.addresses.some(({ text }) => EVERYWHERE.test(text));
  if (!isBound && !isSet && !isServed) return null;
  return { reason: `${shown(program)} would accept connections from every other machine.` };
}

function isLocal({ addresses }: FileServer): boolean {
  return addresses.length > 0 && addresses.every(({ text }) => LOOPBACK.test(text));
}

/** The first directory that the server offers outside the workspace and the temporary directories. */
function directoryOutside({ directories }: FileServer, { cwds, links }: JudgedCommand): string | undefined {
  const atRisk = directories.flatMap(({ text }) =>
    cwds.flatMap((cwd) =>
      links.resolve(text, cwd, true).filter((path, i) => isPathAtRisk(path, MAY_WRITE.unknown, i === 0)),
    ),
  );
  return atRisk[0]?.path;
}

const SHELLS = onRows({
  "let other machines use a terminal or the screen of this one": [
    {
      program:
        /^(ttyd|gotty|wetty|x11vnc|vncserver|Xvnc|tigervncserver|shellinaboxd|tmate|sshx|upterm|code-server|xrdp)$/,
      args: /\S/,
      unless: /^(-v|--version|-h)$/,
    },
  ],
  "let other machines log in": [{ program: /^sshd$/, args: /(?:)/, unless: /(^| )-[tTG]( |$)/ }],
  "serve files to other machines": [{ program: /^rsync$/, args: /(^| )--daemon( |$)/ }],
  "serve repositories to other machines": [{ program: /^git$/, args: /^(-\S+ )*daemon( |$)/ }],
  "let the owner of another account log in": [{ program: /^ssh-import-id(-gh|-lp)?$/, args: /\S/ }],
});

export const exposureRules: readonly Rule[] = [
  {
    id: "expose-server",
    verdict: "ask",
    severity: "medium",
    alternative: "Listen on this machine only: 127.0.0.1 or localhost.",
    matches: [
      "flask run --host=0.0.0.0",
      "php -S 0.0.0.0:8000",
      "uvicorn app:app --host 0.0.0.0",
      "kubectl port-forward --address 0.0.0.0 svc/db 5432:5432",
      "HOST=0.0.0.0 npm start",
      "ttyd bash",
      "python3 -m http.server -d /usr/share",
      "npx http-server ~",
    ],
    misses: [
      "flask run --host=127.0.0.1",
      "php -S localhost:8000",
      "curl http://0.0.0.0:8000/health",
      "python3 -m http.server 8000",
      "python3 -m http.server -d /usr/share --bind 127.0.0.1",
      "npx http-server ~ -a localhost",
      "grep 0.0.0.0 config.py",
      "docker run -p 8080:80 nginx",
    ],
    check: onPrograms(
      (name) => !CLIENTS.test(name) && (!isBuiltinName(name) || name === ""),
      (command) => listensEverywhere(command) ?? SHELLS(command),
    ),
  },
];
