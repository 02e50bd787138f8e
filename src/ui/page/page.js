// The page: connects, keeps the list and the details up to date, and handles the keyboard.
import { approvalCard } from "./approval-card.js";
import { Connection, takeToken } from "./connection.js";
import { byId, h, setText } from "./dom.js";
import { List } from "./list.js";
import { MachineList } from "./machine-list.js";
import { isApproval, Model } from "./model.js";
import { rememberedDialog } from "./remembered.js";
import { ShellView } from "./shell-view.js";
import { counted } from "./words.js";

const model = new Model();
let token = takeToken();
let connection = new Connection(token);
let control = false;
let isFirst = true;
let selected = "";
let view;
/** The status of the approval in the details. */
let shownStatus = "";
let ending = new AbortController();
/** The approvals that the live region has announced. */
const announced = new Set();

const machineList = new MachineList(byId("machines"), model);
const list = new List(byId("list"), model, (id) => select(id, true));

start();
addEventListener("hashchange", () => {
  if (!location.hash.includes("token=")) return;
  token = takeToken();
  ending.abort();
  connection = new Connection(token);
  start();
});

function start() {
  ending = new AbortController();
  showLink("connecting");
  renderDetail();
  if (token === "") {
    showBanner("no-token");
    return;
  }
  void connection.follow("/api/events", { signal: ending.signal, onState: showLink, onEvent: onChange });
}

function onChange(event, change) {
  if (event !== "change") return;
  model.apply(change, isFirst);
  isFirst = false;
  render();
  announce();
  const item = model.get(selected);
  // Redraw the card if an answer came from elsewhere. After other changes, keep the card, because the person may be
  // typing in it.
  if (item && isApproval(item) && item.status !== shownStatus) renderDetail();
}

function render() {
  list.render();
  machineList.render();
  view?.tick();
  const { you, failed, running, silent } = model.counts();
  const parts = [
    you > 0 && `${you} need${you === 1 ? "s" : ""} you`,
    failed > 0 && `${failed} failed`,
    counted(running + silent, "running", "running"),
  ];
  setText(byId("summary"), parts.filter(Boolean).join(" · "));
  const title = you > 0 ? `(${you}) nacre` : "nacre";
  if (document.title !== title) document.title = title;
}

setInterval(() => render(), 1_000);

function select(id, isClick = false) {
  if (selected === id && !isClick) return;
  selected = id;
  list.select(id);
  byId("panes").classList.toggle("has-detail", id !== "");
  renderDetail();
  if (isClick && matchMedia("(max-width: 820px)").matches) byId("detail").focus();
}

function renderDetail() {
  view?.close?.();
  view = undefined;
  const item = model.get(selected);
  const detail = byId("detail");
  if (!item) {
    detail.replaceChildren(placeholder());
    return;
  }
  const hadFocus = detail.contains(document.activeElement) && document.activeElement !== detail;
  shownStatus = item.status;
  const context = { model, connection, control, onChange: () => render() };
  view = isApproval(item) ? approvalCard(item, context) : new ShellView(item, context);
  const back = h("button.back.quiet", { type: "button", on: { click: () => goBack() } }, "← All shells");
  detail.replaceChildren(back, view.element);
  // If the focused button is gone, keep the keyboard focus in the details.
  if (hadFocus) detail.focus();
}

function goBack() {
  const id = selected;
  select("");
  byId("list")
    .querySelector(`[data-id="${CSS.escape(id)}"]`)
    ?.focus();
}

function placeholder() {
  return h(
    "div.placeholder",
    {},
    h("span.pearl.big", { "aria-hidden": "true" }),
    h("p", {}, "Select a row to see its output, its processes and what it waits for."),
    h(
      "p.keys",
      {},
      h("kbd", {}, "↑"),
      h("kbd", {}, "↓"),
      " move  ",
      h("kbd", {}, "Enter"),
      " open  ",
      h("kbd", {}, "/"),
      " filter  ",
      h("kbd", {}, "?"),
      " all keys",
    ),
  );
}

function announce() {
  const open = model.openApprovals();
  const fresh = open.filter(({ id }) => !announced.has(id));
  for (const { id } of fresh) announced.add(id);
  if (fresh.length > 0)
    byId("news").textContent =
      `${counted(open.length, "command needs", "commands need")} your approval: ${fresh[0].command.slice(0, 80)}`;
}

/** @param {string} state */
function showLink(state, error) {
  const words = {
    connecting: "connecting",
    open: "live",
    lost: "reconnecting",
    gone: "server gone",
    refused: "not allowed",
  };
  const link = byId("link");
  setText(link, words[state]);
  link.dataset.state = state;
  document.body.dataset.link = state;
  if (state === "open") {
    isFirst = true;
    void connection.get("/api/server").then(
      (server) => {
        const hasChanged = control !== server.control;
        control = server.control;
        const mode = byId("mode");
        setText(mode, control ? "control" : "read-only");
        mode.title = control
          ? "This page may answer approvals, end shells and type"
          : "Start nacre ui --control to act from this page";
        if (hasChanged && selected !== "") renderDetail();
      },
      () => {},
    );
  }
  showBanner(state === "open" || state === "connecting" ? "" : state, error);
}

function showBanner(state, error) {
  const banner = byId("banner");
  const port = location.port;
  const texts = {
    lost: ["Connection lost.", "What you see is the last known state. Connecting again…"],
    gone: [
      "The server does not answer.",
      "Shells and approvals go on without it. Start it again, and this page reconnects:",
      `nacre ui --port ${port}`,
    ],
    refused: [
      error?.status === 401 ? "This link is no longer valid." : "The server refused the request.",
      error?.status === 401
        ? "The server was started with a new token. Open the page through the file that it prints:"
        : (error?.message ?? ""),
      error?.status === 401 ? `nacre ui --port ${port}` : undefined,
    ],
    "no-token": [
      "This address alone does not open the page.",
      "Open it through the file that nacre ui prints; the file carries the token.",
      "nacre ui",
    ],
  };
  const [title, text, code] = texts[state] ?? [];
  banner.hidden = title === undefined;
  if (title === undefined) return;
  const key = `${title}${text}`;
  if (banner.dataset.key === key) return;
  banner.dataset.key = key;
  banner.replaceChildren(h("b", {}, title), ` ${text} `, ...(code ? [h("code", {}, code)] : []));
}

byId("filter").addEventListener("input", ({ target }) => list.setFilter(target.value));
byId("help-button").addEventListener("click", () => showHelp());
byId("remembered-button").addEventListener(
  "click",
  () => void rememberedDialog(byId("dialog"), connection, control),
);

const KEYS = [
  ["↑ ↓ or j k", "move in the list"],
  ["Enter", "open the row"],
  ["Escape", "back to the list"],
  ["/", "filter the list"],
  ["s", "search in the output"],
  ["a, d", "go to Approve or Deny; Enter confirms"],
  ["x", "go to Kill; Enter twice confirms"],
  ["?", "this help"],
];

function showHelp() {
  const dialog = byId("dialog");
  dialog.replaceChildren(
    h("h2", { id: "dialog-title" }, "Keyboard"),
    h(
      "dl.keys-list",
      {},
      ...KEYS.map(([keys, text]) => h("div", {}, h("dt", {}, h("kbd", {}, keys)), h("dd", {}, text))),
    ),
    h("form", { method: "dialog" }, h("button.quiet", { type: "submit" }, "Close")),
  );
  dialog.showModal();
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("dialog").open) return;
  const isTyping = event.target.matches?.("input, select, textarea");
  if (event.key === "Escape") {
    if (isTyping) event.target.blur();
    if (selected !== "") goBack();
    return;
  }
  if (isTyping) return;
  const action = {
    "/": () => byId("filter").focus(),
    "?": () => showHelp(),
    s: () => view?.focusSearch?.(),
    a: () => byId("detail").querySelector('[data-answer="approve"]')?.focus(),
    d: () => byId("detail").querySelector('[data-answer="deny"]')?.focus(),
    x: () => byId("detail").querySelector('[data-action="kill"]')?.focus(),
    j: () => list.move(1),
    k: () => list.move(-1),
    ArrowDown: () => document.activeElement === document.body && list.move(1),
  }[event.key];
  if (!action || (event.target.closest?.("#list") && ["j", "k", "ArrowDown"].includes(event.key))) return;
  event.preventDefault();
  action();
});
