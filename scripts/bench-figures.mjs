// The figures in README.md, copied from the results of a complete benchmark run.

const BEGIN = "<!-- figures: written by npm run bench -->";
const END = "<!-- end of figures -->";

/** Replaces the figures in the page. A page without both marks stays unchanged. */
export function withFigures(readme, findings) {
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (begin < 0 || end < begin) return readme;
  const rows = rowsOf((bench, title, row, column) => cellOf(findings, bench, title, row, column));
  const lines = [
    "| what | nacre | others |",
    "| --- | --- | --- |",
    ...rows.map((row) => `| ${row.join(" | ")} |`),
  ];
  return `${readme.slice(0, begin)}${BEGIN}\n\n${lines.join("\n")}\n\n${readme.slice(end)}`;
}

function rowsOf(cell) {
  const small = (runner) => cell("latency", /^Speed relative.*small hosts/, runner, "echo hi");
  const large = (runner) => cell("latency", /^Speed relative.*a host of/, runner, "echo hi");
  const escaped = (killer) => cell("kill", /escapes/, killer, "survive");
  const call = (server) => cell("mcp", /^tools\/call, milliseconds/, server, "echo hi");
  const stopped = (policy) =>
    `${cell("policy", /labeled/, policy, "of those to deny")}, ${cell("policy", /labeled/, policy, "of the harmless")}`;
  const tokens = (tool) => cell("tokens", /^Tokens a model reads$/, tool, "sum");
  const blocked = (column) => cell("event-loop-block", /event loop/, "a large host", column);
  const others = (names, show) => names.map((name) => `${name} ${show(name)}`).join(", ");
  return [
    [
      '`echo hi` in a session, speed relative to `spawn("bash", …)`',
      small("nacre session"),
      others(["execa", "zx", "pi bash tool"], small),
    ],
    [
      "the same in a 2 GB host process",
      large("nacre session"),
      others(["execa", "zx", "pi bash tool"], large),
    ],
    [
      "event loop blocked by a start in a 2 GB host process, median and worst",
      blocked("nacre, median and worst"),
      `spawn ${blocked("spawn, median and worst")}`,
    ],
    [
      "`echo hi` over MCP, ms (median / p95)",
      call("nacre mcp"),
      others(["mcp-server-commands", "desktop-commander"], call),
    ],
    [
      "processes that survive a kill (14 ways to escape)",
      escaped("nacre"),
      others(["kill(-pgid)", "tree-kill", "desktop-commander"], escaped),
    ],
    [
      "dangerous commands stopped, harmless commands wrongly stopped",
      stopped("nacre"),
      others(["cc-safety-net", "nine regular expressions"], stopped),
    ],
    [
      "tokens for tool schemas and eight tasks",
      tokens("nacre"),
      others(["pi bash tool", "desktop-commander"], tokens),
    ],
  ];
}

/** The cell in the row that starts with this name; "-" if that peer was not measured. */
function cellOf({ benches }, bench, title, name, column) {
  const table = benches.find((one) => one.name === bench)?.tables.find((one) => title.test(one.title));
  const row = table?.rows.find(([first]) => first === name || first.startsWith(`${name} `));
  return row?.[table.columns.indexOf(column)] ?? "-";
}
