// node scripts/record-tour.mjs: runs the commands below in a real bash with the built program, and draws their output as
// docs/tour.svg: text and CSS only, without scripts, fonts or requests. test/docs/tour.test.ts runs them again, and fails
// if the picture differs. In the picture, the temporary home is /home/ada.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureBuilt, root } from "./setup.mjs";

export const TOUR_FILE = join(root, "docs/tour.svg");

const COMMANDS = [
  "nacre run 'sleep 1000 & echo hi'",
  "nacre run --timeout 200ms 'echo begun; sleep 1000'",
  "nacre check 'git status && rm -rf ~'",
  "nacre run -b --name dev 'setsid env -i sleep 1000 & echo ready; wait'",
  "nacre wait dev --for ready",
  "nacre kill dev",
  "nacre run --preview 'rm -r build; echo 2 >version'",
  "nacre preview commit PREVIEW",
  "nacre undo PREVIEW",
];

const COLUMNS = 104;
const CHAR_WIDTH = 7.8;
const ROW_HEIGHT = 18;
const TOP = 46;
const LEFT = 18;
const SECONDS_PER_KEY = 0.035;
const SECONDS_BEFORE_OUTPUT = 0.4;
const SECONDS_AFTER_STEP = 1.4;
const SECONDS_AT_END = 6;

/** Runs each command and returns it with the lines that it printed. */
export function recordTour() {
  ensureBuilt();
  const dir = mkdtempSync(join(tmpdir(), "nacre-tour-"));
  const home = join(dir, "home");
  const work = join(home, "app");
  const bin = join(dir, "bin");
  for (const folder of [join(work, "build"), bin]) mkdirSync(folder, { recursive: true });
  for (const name of ["main.o", "util.o"]) writeFileSync(join(work, "build", name), "object\n");
  writeFileSync(join(work, "version"), "1\n");
  writeFileSync(
    join(bin, "nacre"),
    `#!/bin/sh\nexec '${process.execPath}' '${join(root, "dist/cli/main.js")}' "$@"\n`,
  );
  chmodSync(join(bin, "nacre"), 0o755);
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: home,
    NACRE_HOME: join(dir, "state"),
    NO_COLOR: "1",
  };
  const runTyped = (command) => {
    const { stdout, error } = spawnSync("bash", ["--norc", "-c", `{ ${command}\n} 2>&1`], {
      cwd: work,
      env,
      encoding: "utf8",
      timeout: 60_000,
    });
    if (error) throw error;
    return stdout.replaceAll(home, "/home/ada").trimEnd();
  };
  try {
    let preview = "";
    return COMMANDS.map((line) => {
      const command = line.replace("PREVIEW", preview);
      const output = runTyped(command);
      preview = /preview_[0-9a-f]+/.exec(output)?.[0] ?? preview;
      return { command, lines: output === "" ? [] : output.split("\n") };
    });
  } finally {
    runTyped("nacre kill --all");
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Draws the picture. It contains every row from the start; an animation makes each row visible at its time. */
export function drawTour(steps) {
  const rows = [];
  let seconds = 0.6;
  for (const { command, lines } of steps) {
    rows.push({ kind: "command", text: command, at: seconds, for: command.length * SECONDS_PER_KEY });
    seconds += command.length * SECONDS_PER_KEY + SECONDS_BEFORE_OUTPUT;
    for (const line of lines)
      for (const text of wrapped(line)) rows.push({ kind: kindOf(line), text, at: seconds });
    seconds += SECONDS_AFTER_STEP;
  }
  const total = seconds + SECONDS_AT_END;
  const percent = (at) => ((at / total) * 100).toFixed(2);
  const keyframes = rows.map((row, index) =>
    row.kind === "command"
      ? `@keyframes r${index}{0%,${percent(row.at)}%{clip-path:inset(0 100% 0 0)}${percent(row.at + row.for)}%,100%{clip-path:inset(0)}}`
      : `@keyframes r${index}{0%,${percent(row.at)}%{opacity:0}${percent(row.at + 0.05)}%,100%{opacity:1}}`,
  );
  const texts = rows.map(({ kind, text }, index) => {
    const y = TOP + index * ROW_HEIGHT;
    const timing = kind === "command" ? ` steps(${text.length + 2})` : "";
    const style = `style="--show:r${index} ${total.toFixed(1)}s${timing} infinite"`;
    const shown = kind === "command" ? `<tspan class="prompt">$ </tspan>${escaped(text)}` : escaped(text);
    return `<text class="${kind}" x="${LEFT}" y="${y}" ${style}>${shown}</text>`;
  });
  const width = Math.ceil(LEFT * 2 + COLUMNS * CHAR_WIDTH);
  const height = TOP + rows.length * ROW_HEIGHT;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">
<title id="title">A terminal session with nacre: a command that leaves a process behind, a timeout, a refused command, a kill that ends everything, a preview</title>
<style>
svg{--back:#f6f8fa;--edge:#d0d7de;--text:#1f2328;--dim:#59636e;--prompt:#0a6c74;--bad:#b3261e}
@media (prefers-color-scheme:dark){svg{--back:#161b22;--edge:#30363d;--text:#e6edf3;--dim:#9aa4af;--prompt:#56d4dd;--bad:#ff938a}}
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:var(--text)}
.command{font-weight:600}.prompt{fill:var(--prompt)}.note{fill:var(--dim)}.refusal{fill:var(--bad)}
rect{fill:var(--back);stroke:var(--edge)}circle{fill:var(--edge)}
@media (prefers-reduced-motion:no-preference){text{animation:var(--show)}}
${keyframes.join("\n")}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>
<circle cx="20" cy="18" r="5"/><circle cx="38" cy="18" r="5"/><circle cx="56" cy="18" r="5"/>
${texts.join("\n")}
</svg>
`;
}

function kindOf(text) {
  if (text.startsWith("deny:")) return "refusal";
  return /^nacre: |^instead: |^Command: |^Read it with /.test(text) ? "note" : "output";
}

/** Lines that are too long continue on the next row, indented, as in a terminal. */
function wrapped(text) {
  if (text.length <= COLUMNS) return [text];
  const cut = text.lastIndexOf(" ", COLUMNS);
  const at = cut > 0 ? cut : COLUMNS;
  return [text.slice(0, at), ...wrapped(`    ${text.slice(at).trimStart()}`)];
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(dirname(TOUR_FILE), { recursive: true });
  writeFileSync(TOUR_FILE, drawTour(recordTour()));
}
