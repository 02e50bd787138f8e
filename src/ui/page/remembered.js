// The remembered answers, in a dialog. With --control, the person can remove each of them.
import { h } from "./dom.js";
import { duration, visibleText } from "./words.js";

export async function rememberedDialog(dialog, connection, control) {
  const body = h("div", {}, h("p.note", {}, "Loading…"));
  dialog.replaceChildren(
    h("h2", { id: "dialog-title" }, "Remembered answers"),
    body,
    h("form", { method: "dialog" }, h("button.quiet", { type: "submit" }, "Close")),
  );
  dialog.showModal();
  const load = async () => {
    try {
      const answers = await connection.get("/api/remembered");
      body.replaceChildren(
        answers.length === 0 ? none() : h("ul.remembered", {}, ...answers.map((answer) => row(answer))),
      );
    } catch (error) {
      body.replaceChildren(h("p.outcome.bad", {}, error.message));
    }
  };
  const row = (answer) =>
    h(
      "li",
      {},
      h("code", {}, visibleText(answer.command)),
      h(
        "span.dim",
        {},
        `${answer.allow ? "yes" : "no"} for ${answer.lasts === "session" ? `session ${answer.session}` : answer.workspace}, ${duration(Date.parse(answer.until) - Date.now())} left · rules ${answer.rules.join(", ")}`,
      ),
      control &&
        h(
          "button.quiet",
          {
            type: "button",
            on: { click: () => void connection.post(`/api/remembered/${answer.id}/forget`).then(load, load) },
          },
          "Forget",
        ),
    );
  await load();
}

function none() {
  return h("p.note", {}, "No answer is remembered. You can have an answer remembered when you give it.");
}
