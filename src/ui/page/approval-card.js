// The details of one approval request: what would run, why nacre asks, what it would change, and the answer.
// Other modules can add functions to `sections`; each makes one section from the request.
import { h } from "./dom.js";
import { duration, visible, visibleText } from "./words.js";

/** @type {((entry: any) => Node | undefined)[]} */
export const sections = [];

const EFFECT_WORDS = {
  delete: "deletes",
  move: "moves",
  write: "writes",
  append: "appends to",
  mode: "changes the mode of",
  owner: "changes the owner of",
  read: "reads",
  "may-write": "may write",
};

const LASTS = [
  ["", "only this command"],
  ["session", "such commands in this session, for 8 hours"],
  ["workspace", "such commands in this workspace, for 8 hours"],
];

/** @param {{ model: any, connection: any, control: boolean, onChange: () => void }} context */
export function approvalCard(entry, context) {
  const left = h("b");
  const outcome = h("div.outcome", { role: "status" });
  const isOpen = ["open", "abandoned"].includes(entry.status);
  const card = h(
    "article.card.approval",
    { "data-id": entry.id },
    h(
      "header.card-head",
      {},
      h("span.dot.you", { "aria-hidden": "true" }),
      h("h2", {}, isOpen ? "May this command run?" : endedTitle(entry)),
    ),
    entry.description && h("p.description", {}, ...visible(entry.description)),
    commandBlock(entry),
    h("p.reason", {}, ...visible(entry.reason), " ", h("span.rule", {}, `rule ${visibleText(entry.rule)}`)),
    entry.alternative && h("p.instead", {}, h("b", {}, "Instead: "), ...visible(entry.alternative)),
    effects(entry),
    previewed(entry),
    ...sections.map((section) => section(entry)),
    facts(entry, left),
    isOpen ? (context.control ? answerForm(entry, context, outcome) : readOnly(entry)) : endedNote(entry),
    outcome,
  );
  const tick = () => {
    const ms = Date.parse(entry.deadline) - context.model.now();
    left.textContent = ms > 0 ? duration(ms) : "expired";
  };
  tick();
  return { element: card, tick, focus: () => card.querySelector("button")?.focus() };
}

function commandBlock({ command, span }) {
  const marked =
    span && span.end > span.start && span.end <= command.length
      ? [
          ...visible(command.slice(0, span.start)),
          h("mark", {}, ...visible(command.slice(span.start, span.end))),
          ...visible(command.slice(span.end)),
        ]
      : visible(command);
  return h("pre.command", { tabindex: "0", "aria-label": "The command" }, h("code", {}, ...marked));
}

function effects({ effects: list }) {
  if (list.length === 0) return undefined;
  const shown = list
    .slice(0, 20)
    .map(({ effect, path, class: kind, recursive }) =>
      h(
        "li",
        {},
        `${EFFECT_WORDS[effect] ?? effect} `,
        h("code", {}, ...visible(path)),
        h("span.dim", {}, ` ${kind}${recursive ? ", with everything in it" : ""}`),
      ),
    );
  const more = list.length - shown.length;
  return h(
    "section.effects",
    {},
    h("h3", {}, "What it would do"),
    h("ul", {}, ...shown, more > 0 && h("li.dim", {}, `and ${more} more`)),
  );
}

/** The changes that a preview of the command made. The server writes the lines: a summary, then one line per path. */
function previewed({ preview }) {
  if (!preview) return undefined;
  const [summary, ...paths] = preview.lines;
  return h(
    "section.effects",
    { "data-preview": preview.id },
    h("h3", {}, "What its preview changed"),
    h("p", {}, ...visible(summary)),
    h("ul", {}, ...paths.map((path) => h("li", {}, h("code", {}, ...visible(path))))),
  );
}

function facts(entry, left) {
  const rows = [
    ["Directory", visibleText(entry.cwd)],
    ["Session", entry.session === null ? "none" : visibleText(entry.session)],
    ["Scope", visibleText(entry.scope)],
    [
      "Waits",
      entry.waiting ? "a call waits for your answer" : "no call: the agent repeats it after your answer",
    ],
    ["Runs", entry.background ? "in the background" : "in the foreground"],
    ["Id", entry.id],
  ];
  return h(
    "dl.facts-list",
    {},
    h("div", {}, h("dt", {}, "Time left"), h("dd", {}, left)),
    ...rows.map(([term, text]) => h("div", {}, h("dt", {}, term), h("dd", {}, text))),
  );
}

function answerForm(entry, { connection, onChange }, outcome) {
  const reason = h("input", {
    type: "text",
    id: "deny-reason",
    placeholder: "What the agent should do instead",
    maxlength: "2000",
  });
  const choices = LASTS.filter(
    ([value]) => value === "" || (entry.rememberable && (value !== "session" || entry.session !== null)),
  );
  const lasts = h(
    "select",
    { id: "remember" },
    ...choices.map(([value, text]) => h("option", { value }, text)),
  );
  const buttons = [];
  const answer = async (kind) => {
    for (const button of buttons) button.disabled = true;
    const remember = lasts.value === "" ? undefined : { lasts: lasts.value };
    try {
      await connection.post(`/api/approvals/${entry.id}`, { answer: kind, reason: reason.value, remember });
      outcome.className = "outcome good";
      outcome.textContent =
        kind === "approve"
          ? entry.waiting
            ? "Approved. The command runs now."
            : "Approved. It runs when the agent repeats the call."
          : "Denied.";
    } catch (error) {
      outcome.className = "outcome bad";
      outcome.textContent = error.message;
    }
    onChange();
  };
  const approve = h(
    "button.primary",
    {
      type: "button",
      "aria-keyshortcuts": "a",
      "data-answer": "approve",
      on: { click: () => answer("approve") },
    },
    "Approve",
  );
  const deny = h(
    "button.danger",
    { type: "button", "aria-keyshortcuts": "d", "data-answer": "deny", on: { click: () => answer("deny") } },
    "Deny",
  );
  buttons.push(approve, deny);
  return h(
    "form.answer",
    { on: { submit: (event) => event.preventDefault() } },
    h("div.field", {}, h("label", { for: "remember" }, "The answer counts for"), lasts),
    h("div.field", {}, h("label", { for: "deny-reason" }, "Reason, if you deny"), reason),
    h("div.buttons", {}, approve, deny),
  );
}

function readOnly(entry) {
  return h(
    "div.note",
    {},
    h("p", {}, "This page is read-only. Answer in a terminal:"),
    h(
      "pre",
      { tabindex: "0", "aria-label": "Commands to answer" },
      `nacre approve ${entry.id}\nnacre deny ${entry.id} --reason '…'`,
    ),
  );
}

function endedTitle({ status }) {
  return (
    { approved: "Approved", denied: "Denied", expired: "Expired", withdrawn: "Withdrawn" }[status] ?? status
  );
}

function endedNote({ status, answer, used_at }) {
  if (!answer) return h("p.note", {}, `The request is ${status}.`);
  const used = used_at ? ` A call used it at ${new Date(used_at).toLocaleTimeString()}.` : "";
  const why = answer.reason ? ` “${visibleText(answer.reason)}”` : "";
  return h(
    "p.note",
    {},
    `${endedTitle({ status })} by ${visibleText(answer.by)} at ${new Date(answer.at).toLocaleTimeString()}.${why}${used}`,
  );
}
