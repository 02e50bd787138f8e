// The processes of one shell as a tree, with what each does or waits for.
import { h } from "./dom.js";
import { counted, visible } from "./words.js";

export async function processView(connection, id) {
  const { processes } = await connection.get(`/api/shells/${id}/processes`);
  if (processes.length === 0) return h("p.note", {}, "No process is left.");
  const known = new Set(processes.map(({ pid }) => pid));
  const childrenOf = (parent) =>
    processes.filter((one) => (known.has(one.parent) ? one.parent : 0) === parent);
  const tree = (parent, depth) => {
    const children = depth > 20 ? [] : childrenOf(parent);
    return children.length === 0
      ? undefined
      : h("ul.tree", {}, ...children.map((one) => h("li", {}, line(one), tree(one.pid, depth + 1))));
  };
  return h(
    "section.processes",
    {},
    h("h3", {}, counted(processes.length, "process", "processes")),
    tree(0, 0),
  );
}

function line({ pid, command, state, waits_for, cpu_ms, ports }) {
  const doing = state === "running" ? "uses the CPU" : waits_for === null ? state : `waits for ${waits_for}`;
  return h(
    "div.process",
    {},
    h("code", {}, ...visible(command)),
    h(
      "span.dim",
      {},
      ` PID ${pid} · ${doing} · CPU ${(cpu_ms / 1000).toFixed(1)} s${ports.length > 0 ? ` · port ${ports.join(", ")}` : ""}`,
    ),
  );
}
