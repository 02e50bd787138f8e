// Reports the results of a benchmark: prints them at once, and writes them as JSON for scripts/bench.mjs when the
// process exits. Tables of ratios come before the figures from which they were computed.
import { writeFileSync } from "node:fs";

const found = { tables: [], targets: [], notes: [], peers: [] };

/** `rows`: arrays of text and numbers. Only this function rounds numbers. */
export function table(title, columns, rows) {
  const cells = rows.map((row) => row.map(cell));
  found.tables.push({ title, columns, rows: cells });
  console.log(`\n${title}`);
  console.log(asMarkdown(columns, cells));
}

/** A remark on how the figures were measured, or on what they do not include. */
export function note(text) {
  found.notes.push(text);
  console.log(text);
}

/** A target. `limit` is { atMost } or { atLeast }, in `unit`. */
export function target(what, got, limit, unit = "") {
  const { atMost, atLeast } = limit;
  const met = Number.isFinite(got) && (atMost === undefined ? got >= atLeast : got <= atMost);
  const wanted = atMost === undefined ? `at least ${atLeast}${unit}` : `at most ${atMost}${unit}`;
  found.targets.push({ what, wanted, got: `${cell(got)}${unit}`, met });
  console.log(`${met ? "met   " : "MISSED"} ${what}: ${cell(got)}${unit}, wanted ${wanted}`);
}

/** A peer that could not be measured, and the reason. */
export function absent(name, reason) {
  found.peers.push({ name, reason });
  console.log(`${name} was not measured: ${reason}`);
}

export function asMarkdown(columns, rows) {
  const widths = columns.map((title, i) => Math.max(title.length, 3, ...rows.map((row) => row[i].length)));
  const line = (cells) => `| ${cells.map((cell, i) => cell.padEnd(widths[i])).join(" | ")} |`;
  return [line(columns), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

function cell(value) {
  if (typeof value !== "number") return String(value ?? "-");
  if (!Number.isFinite(value)) return "-";
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 100
    ? value.toFixed(0)
    : Math.abs(value) >= 10
      ? value.toFixed(1)
      : value.toFixed(2);
}

process.on("exit", () => {
  if (process.env.BENCH_RESULT) writeFileSync(process.env.BENCH_RESULT, JSON.stringify(found));
});
