// The few figures that README.md names, taken from the findings of a whole run, word for word as the report has them.

const BEGIN = "<!-- figures: written by npm run bench -->";
const END = "<!-- end of figures -->";

/** The page with its figures replaced; a page without a place for them stays as it is. */
export function withFigures(readme, findings) {
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (begin < 0 || end < begin) return readme;
  const rows = rowsOf((bench, title, row, column) => cellOf(findings, bench, title, row, column));
  const lines = [
    "| what | nacre | beside |",
    "| --- | --- | --- |",
    ...rows.map((row) => `| ${row.join(" | ")} |`),
  ];
  return `${readme.slice(0, begin)}${BEGIN}\n\n${lines.join("\n")}\n\n${readme.slice(end)}`;
}

function rowsOf(cell) {
  const small = (way) => cell("latency", /^Times as fast.*small hosts/, way, "echo hi");
  const large = (way) => cell("latency", /^Times as fast.*a host of/, way, "echo hi");
  const escaped = (killer) => cell("kill", /escapes/, killer, "survive");
  const call = (server) => cell("mcp", /^tools\/call, milliseconds/, server, "echo hi");
  const stopped = (policy) =>
    `${cell("policy", /labelled/, policy, "of those to deny")}, ${cell("policy", /labelled/, policy, "of the harmless")}`;
  const tokens = (tool) => cell("tokens", /^Tokens a model reads$/, tool, "sum");
  const blocked = (column) => cell("event-loop-block", /event loop/, "a large host", column);
  const beside = (names, show) => names.map((name) => `${name} ${show(name)}`).join(", ");
  return [
    [
      '`echo hi` in a session, times as fast as `spawn("bash", …)`',
      small("nacre session"),
      beside(["execa", "zx", "pi bash tool"], small),
    ],
    [
      "the same in a host of two gigabytes",
      large("nacre session"),
      beside(["execa", "zx", "pi bash tool"], large),
    ],
    [
      "event loop blocked by a start in such a host, median and worst",
      blocked("nacre, median and worst"),
      `spawn ${blocked("spawn, median and worst")}`,
    ],
    [
      "`echo hi` over MCP, ms (median / p95)",
      call("nacre mcp"),
      beside(["mcp-server-commands", "desktop-commander"], call),
    ],
    [
      "of fourteen escapes, those that survive a kill",
      escaped("nacre"),
      beside(["kill(-pgid)", "tree-kill", "desktop-commander"], escaped),
    ],
    [
      "dangerous commands stopped, and harmless ones",
      stopped("nacre"),
      beside(["cc-safety-net", "nine regular expressions"], stopped),
    ],
    [
      "tokens of schemas and five tasks",
      tokens("nacre"),
      beside(["pi bash tool", "desktop-commander"], tokens),
    ],
  ];
}

/** The cell of the row that begins with this name; "-" where a peer took no part. */
function cellOf({ benches }, bench, title, name, column) {
  const table = benches.find((one) => one.name === bench)?.tables.find((one) => title.test(one.title));
  const row = table?.rows.find(([first]) => first === name || first.startsWith(`${name} `));
  return row?.[table.columns.indexOf(column)] ?? "-";
}
