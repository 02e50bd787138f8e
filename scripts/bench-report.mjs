// The findings of the benchmarks as a page: what was missed first, then the machine, then the figures.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { arch, availableParallelism, cpus, loadavg, release, totalmem } from "node:os";
import { join } from "node:path";
import { asMarkdown } from "../bench/shared/report.mjs";
import { root } from "./setup.mjs";

/** The machine and the versions; no names and no paths of it. */
export function surroundings(busyBefore) {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const bash = execFileSync("bash", ["-c", "printf %s $BASH_VERSION"], { encoding: "utf8" });
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: {
      cpu: cpus()[0]?.model ?? "unknown",
      cores: availableParallelism(),
      memory: `${Math.round(totalmem() / 1024 ** 3)} GiB`,
      busyBefore,
      kernel: `Linux ${release().split("-")[0]} ${arch()}`,
    },
    versions: { nacre: version, node: process.version, bash },
  };
}

/** How much else went on in the minute before, per core: what is measured on a busy machine is slower, and unsteady. */
export function busyness() {
  return Number((loadavg()[0] / availableParallelism()).toFixed(1));
}

export function reportOf({ date, machine, versions, seconds, benches }) {
  const targets = benches.flatMap(({ targets }) => targets);
  const missed = targets.filter(({ met }) => !met);
  const failed = benches.filter(({ failed }) => failed);
  const absent = [
    ...new Set(benches.flatMap(({ peers }) => peers.map(({ name, reason }) => `${name}: ${clean(reason)}`))),
  ];
  const lines = [
    "# Benchmarks",
    "",
    missed.length + failed.length === 0
      ? `All ${targets.length} targets are met.`
      : `${targets.length - missed.length} of ${targets.length} targets are met. Missed:`,
    "",
    ...missed.map(({ what, wanted, got }) => `- ${what}: ${got}, wanted ${wanted}`),
    ...failed.map(
      ({ name }) =>
        `- the benchmark ${name}, which did not come to its end: some of its targets may not be counted`,
    ),
    ...(missed.length + failed.length > 0 ? [""] : []),
    `One run of \`npm run bench\` on ${date}, ${Math.ceil(seconds / 60)} minutes long, written by the run itself. ${machine.cpu},`,
    `${machine.cores} cores, ${machine.memory}, ${machine.kernel}; nacre ${versions.nacre}, Node ${versions.node.slice(1)}, bash ${versions.bash}.`,
    `Before the run ${machine.busyBefore} processes per core wanted to run${machine.busyBefore > 0.5 ? ": the machine was busy with other work" : ""}.`,
    "What is compared is measured in turns, in the same minute: the ratios say more than the milliseconds.",
    "",
    absent.length === 0 ? "Every peer took part." : "Peers that took no part:",
    ...(absent.length === 0 ? [] : ["", ...absent.map((words) => `- ${words}`)]),
    "",
    ...benches.flatMap(section),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}

function section({ name, about, tables, targets, notes, text }) {
  return [
    `## ${name}`,
    "",
    about,
    "",
    ...tables.flatMap(({ title, columns, rows }) => [`**${title}**`, "", asMarkdown(columns, rows), ""]),
    ...(text ? ["```", text, "```", ""] : []),
    ...notes.flatMap((words) => [words, ""]),
    ...(targets.length > 0
      ? [
          "**Targets**",
          "",
          asMarkdown(
            ["target", "wanted", "got", ""],
            targets.map(({ what, wanted, got, met }) => [what, wanted, got, met ? "met" : "missed"]),
          ),
          "",
        ]
      : []),
  ];
}

/** What npm and others say may name machines and paths. */
function clean(words) {
  return words.replace(/https?:\/\/\S+/g, "the registry").replace(/(^|\s)\/\S+/g, "$1a file");
}
