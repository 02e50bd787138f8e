// Formats the benchmark results as bench/REPORT.md: missed targets first, then the machine, then the figures.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { arch, availableParallelism, cpus, loadavg, release, totalmem } from "node:os";
import { join } from "node:path";
import { asMarkdown } from "../bench/shared/report.mjs";
import { root } from "./setup.mjs";

/** The machine and the versions, without host names and paths. */
export function machineInfo(loadBefore) {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const bash = execFileSync("bash", ["-c", "printf %s $BASH_VERSION"], { encoding: "utf8" });
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: {
      cpu: cpus()[0]?.model ?? "unknown",
      cores: availableParallelism(),
      memory: `${Math.round(totalmem() / 1024 ** 3)} GiB`,
      loadBefore,
      kernel: `Linux ${release().split("-")[0]} ${arch()}`,
    },
    versions: { nacre: version, node: process.version, bash },
  };
}

/** Load per core in the last minute. On a busy machine, results are slower and vary more. */
export function loadPerCore() {
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
      ({ name }) => `- the benchmark ${name} failed, so some of its targets may be missing from this report`,
    ),
    ...(missed.length + failed.length > 0 ? [""] : []),
    `\`npm run bench\` generated this report on ${date} in ${Math.ceil(seconds / 60)} minutes. ${machine.cpu},`,
    `${machine.cores} cores, ${machine.memory}, ${machine.kernel}; nacre ${versions.nacre}, Node ${versions.node.slice(1)}, bash ${versions.bash}.`,
    `The load before the run was ${machine.loadBefore} per core${machine.loadBefore > 0.5 ? ": the machine was busy with other work" : ""}.`,
    "Measurements of compared programs alternate within the same minute, so ratios are more reliable than milliseconds.",
    "",
    absent.length === 0 ? "Every peer was measured." : "Peers that could not be measured:",
    ...(absent.length === 0 ? [] : ["", ...absent.map((line) => `- ${line}`)]),
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
    ...notes.flatMap((note) => [note, ""]),
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

/** Removes host names and paths from the messages of npm and other programs. */
function clean(message) {
  return message.replace(/https?:\/\/\S+/g, "the registry").replace(/(^|\s)\/\S+/g, "$1a file");
}
