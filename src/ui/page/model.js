// The shells and approvals that the server has reported, by id, and their order in the list.

/** The groups of the list, from the most to the least urgent. */
export const GROUPS = [
  { key: "you", title: "Needs you" },
  { key: "failed", title: "Failed" },
  { key: "silent", title: "Silent for long" },
  { key: "running", title: "Running" },
  { key: "done", title: "Done" },
];

const SILENT_MS = 120_000;

export class Model {
  shells = new Map();
  approvals = new Map();
  /** The remote machines, by key. */
  machines = new Map();
  /** The number of ended shells that the server left out, because there are too many. */
  olderCount = 0;
  /** Server clock minus the clock of this browser. */
  #offsetMs = 0;

  /** @param {{ now: number, gone: string[], shells: any[], approvals: any[], machines: any[], older_count?: number }} change */
  apply({ now, gone, shells, approvals, machines, older_count = 0 }, isComplete) {
    this.olderCount = older_count;
    this.machines = new Map(machines.map((machine) => [machine.key, machine]));
    this.#offsetMs = now - Date.now();
    if (isComplete) {
      this.shells.clear();
      this.approvals.clear();
    }
    for (const id of gone) {
      this.shells.delete(id);
      this.approvals.delete(id);
    }
    for (const row of shells) this.shells.set(row.id, row);
    for (const entry of approvals) this.approvals.set(entry.id, entry);
  }

  /** The time of the server now. */
  now() {
    return Date.now() + this.#offsetMs;
  }

  get(id) {
    return this.shells.get(id) ?? this.approvals.get(id);
  }

  /** The remote machine of a row; undefined for a shell of this machine. */
  machineOf(row) {
    return row.machine ? this.machines.get(row.machine) : undefined;
  }

  /** @returns {{ key: string, title: string, items: any[] }[]} */
  groups(filter) {
    const wanted = filter.trim().toLowerCase();
    const items = [...this.openApprovals(), ...this.shells.values()].filter((item) =>
      matches(item, wanted, this.machineOf(item)),
    );
    return GROUPS.map((group) => ({
      ...group,
      items: items.filter((item) => this.attention(item) === group.key).sort(newestFirst),
    })).filter(({ items }) => items.length > 0);
  }

  openApprovals() {
    const isOpen = (entry) =>
      ["open", "abandoned"].includes(entry.status) && Date.parse(entry.deadline) > this.now();
    return [...this.approvals.values()].filter(isOpen);
  }

  attention(item) {
    if (isApproval(item)) return "you";
    if (item.attention !== "running" || item.kind !== "command") return item.attention;
    // Detect silence here: the server reports a row only when the shell changes, and silence is not a change.
    return this.now() - (item.printed_at ?? item.created_at) > SILENT_MS && item.cpu_percent === 0
      ? "silent"
      : "running";
  }

  counts() {
    const counts = { you: 0, failed: 0, silent: 0, running: 0, done: 0 };
    for (const item of [...this.openApprovals(), ...this.shells.values()]) counts[this.attention(item)]++;
    return counts;
  }
}

export function isApproval(item) {
  return item.deadline !== undefined;
}

function matches(item, wanted, machine) {
  if (wanted === "") return true;
  const texts = [
    item.id,
    item.command,
    item.session,
    item.name,
    item.description,
    item.agent,
    machine?.url,
    item.scope,
    item.cwd,
    item.status,
    item.last_line,
    item.rule,
  ];
  return texts.some((text) => text?.toLowerCase().includes(wanted));
}

function newestFirst(a, b) {
  return timeOf(b) - timeOf(a) || (a.id < b.id ? -1 : 1);
}

/**
 * The time by which rows are sorted. It does not depend on the last output, because a running shell must not move in
 * the list while it prints.
 */
function timeOf(item) {
  return isApproval(item) ? -Date.parse(item.created_at) : (item.ended_at ?? item.created_at);
}
