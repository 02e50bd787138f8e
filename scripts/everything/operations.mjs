// The operations that an agent performs in the soak test. Each one checks its result, and writes to the
// journal what must still be true after the agent is killed. An operation returns nothing, or throws an error that
// describes the problem.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The longest wait that BashOutput accepts. */
const WAIT_MS = 50_000;

/**
 * Codes with which a call may fail because its keeper or daemon was killed while the call began. Either nothing ran, or
 * the code says that something may have run.
 */
const REFUSALS = ["spawn_failed", "remote_lost", "unavailable"];

export class Operations {
  #kit;
  #remote;
  #random;
  #journal;
  #work;
  #tag;
  #count = 0;
  /** Calls that failed with a code in REFUSALS. */
  refused = 0;

  constructor({ kit, remote, random, journal, work, tag }) {
    this.#kit = kit;
    this.#remote = remote;
    this.#random = random;
    this.#journal = journal;
    this.#work = work;
    this.#tag = tag;
  }

  /** Background commands are more frequent than kills. Otherwise few shells would be left to check. */
  static NAMES = [
    ...["foreground", "session", "background", "background", "background", "read", "kill"],
    ...["terminal", "preview", "files", "approval", "remote"],
  ];

  #next() {
    return `${this.#tag}-${++this.#count}`;
  }

  async #call(tool, args, options) {
    const result = await this.#kit.call(tool, args, options);
    if (REFUSALS.includes(result.code)) {
      this.refused++;
      return undefined;
    }
    return result;
  }

  async foreground() {
    const [token, code] = [this.#next(), this.#random.below(4)];
    const result = await this.#call("Bash", {
      command: `echo ${token}; sleep 0.${this.#random.below(4)}; (exit ${code})`,
    });
    if (result === undefined) return;
    expect(result.output.includes(token), `the output of ${token} is ${JSON.stringify(result.output)}`);
    expect(
      result.metadata.exit_code === code,
      `${token} exited with ${result.metadata.exit_code}, not ${code}`,
    );
  }

  async session() {
    const token = this.#next();
    const session = this.#kit.session(`session-${this.#random.below(3)}-${this.#tag}`);
    try {
      await session.run(`value=${token}; f() { echo "$value $1"; }`);
      const { stdout, restarted } = await session.run(`f again`);
      // Another operation may have set the value of the same session in between.
      expect(
        restarted || /^\S+ again\n$/.test(stdout),
        `the session lost its function: ${JSON.stringify(stdout)}`,
      );
    } catch (error) {
      this.#countRefusal(error);
    }
  }

  async background() {
    const [token, code, lines] = [this.#next(), this.#random.below(5), 1 + this.#random.below(2000)];
    const command = `for ((i = 0; i < ${lines}; i++)); do echo ${token}-$i; done; sleep ${this.#random.below(3)}; exit ${code}`;
    const result = await this.#call("Bash", { command, run_in_background: true });
    if (result === undefined) return;
    const id = result.metadata.bash_id;
    expect(typeof id === "string", `a background command has no id: ${result.error}`);
    this.#journal.write({ kind: "shell", id, token, code, lines });
  }

  async read() {
    const { id } = this.#random.pick(this.#unkilled()) ?? {};
    if (id === undefined) return;
    const result = await this.#call("BashOutput", { bash_id: id });
    expect(
      result === undefined || result.metadata.status !== undefined,
      `BashOutput of ${id}: ${result?.error}`,
    );
  }

  async kill() {
    const { id } = this.#random.pick(this.#unkilled()) ?? {};
    if (id === undefined) return;
    this.#journal.write({ kind: "killing", id });
    const result = await this.#call("KillShell", { shell_id: id });
    if (result === undefined) return;
    expect(result.success, `KillShell of ${id}: ${result.error}`);
    const survivors = result.metadata.survivors ?? [];
    expect(survivors.length === 0, `after the kill of ${id}, these survived: ${JSON.stringify(survivors)}`);
  }

  async terminal() {
    const [token, code] = [this.#next(), this.#random.below(5)];
    const started = await this.#call(
      "Bash",
      {
        command: `read -p 'name? ' name; echo "hello $name"; exit ${code}`,
        run_in_background: true,
        terminal: true,
      },
      { approve: () => true },
    );
    if (started === undefined) return;
    const bash_id = started.metadata.bash_id;
    expect(typeof bash_id === "string", `a terminal has no id: ${started.error}`);
    await this.#call("BashInput", { bash_id, wait_ms: 10_000 });
    await this.#call("BashInput", { bash_id, text: token, keys: ["Enter"] });
    const ended = await this.#call("BashOutput", { bash_id, wait_for: "exit", wait_ms: WAIT_MS });
    if (ended === undefined) return;
    const { screen = [], exit_code } = ended.metadata;
    expect(ended.metadata.status !== "running", `the terminal ${token} did not end: ${ended.output}`);
    expect(
      screen.join("\n").includes(`hello ${token}`),
      `the screen of ${token} is ${JSON.stringify(screen)}: ${ended.error}`,
    );
    expect(exit_code === code, `the terminal ${token} exited with ${exit_code}, not ${code}`);
  }

  async preview() {
    const token = this.#next();
    const dir = join(this.#work, "previews", token);
    mkdirSync(dir, { recursive: true });
    const file = join(dir, "file");
    const action = this.#random.pick(["commit", "discard", "undo"]);
    try {
      const { previewId, created } = await this.#kit.preview(`echo ${token} >file`, { cwd: dir });
      expect(!existsSync(file), `the preview ${token} wrote to the workspace`);
      expect(
        created.some((path) => path.endsWith("file")),
        `the preview ${token} lists ${JSON.stringify(created)}`,
      );
      if (action === "discard") {
        await this.#kit.previews.discard(previewId);
        expect(!existsSync(file), `the discarded preview ${token} wrote to the workspace`);
        return;
      }
      await this.#kit.previews.commit(previewId);
      this.#journal.write({ kind: "file", file, text: `${token}\n` });
      expect(readFileSync(file, "utf8") === `${token}\n`, `the committed file ${token} has other content`);
      if (action === "commit") return;
      this.#journal.write({ kind: "undoing", file });
      await this.#kit.previews.undo(previewId);
      expect(!existsSync(file), `the undo of ${token} left its file`);
    } catch (error) {
      this.#countRefusal(error);
    }
  }

  async files() {
    const token = this.#next();
    const file = join(this.#work, "files", `${token}.txt`);
    mkdirSync(join(this.#work, "files"), { recursive: true });
    const written = await this.#call("Write", { file_path: file, content: `one ${token}\ntwo\n` });
    if (written === undefined) return;
    expect(written.success, `Write of ${token}: ${written.error}`);
    this.#journal.write({ kind: "file", file, text: `one ${token}\ntwo\n`, or: `one ${token}\nthree\n` });
    const edited = await this.#call("Edit", { file_path: file, old_string: "two", new_string: "three" });
    if (edited === undefined) return;
    expect(edited.success, `Edit of ${token}: ${edited.error}`);
    this.#journal.write({ kind: "file", file, text: `one ${token}\nthree\n` });
    const found = await this.#call("Grep", { pattern: token, path: join(this.#work, "files") });
    expect(
      found === undefined || found.output.includes(token),
      `Grep does not find ${token}: ${found?.error}`,
    );
  }

  /** The request is approved from outside the call, then the agent repeats the call. */
  async approval() {
    const command = `git clean -fd -- ${this.#next()}`;
    const asked = await this.#call("Bash", { command });
    if (asked === undefined) return;
    expect(asked.code === "approval_pending", `${command} did not ask for approval: ${asked.code}`);
    await this.#kit.approvals.approve(asked.metadata.approval_id);
    const approved = await this.#call("Bash", { command });
    if (approved === undefined) return;
    // Not in a git repository: git fails, which proves that it ran.
    expect(
      approved.code === "exit_nonzero",
      `${command} did not run after its approval: ${approved.code} ${approved.error}`,
    );
  }

  async remote() {
    const [token, code] = [this.#next(), this.#random.below(4)];
    try {
      const run = await this.#remote.run(`echo ${token}; sleep 0.${this.#random.below(8)}; exit ${code}`);
      expect(
        run.stdout === `${token}\n` && run.exitCode === code,
        `remote ${token}: ${JSON.stringify(run.stdout)} ${run.exitCode}`,
      );
    } catch (error) {
      this.#countRefusal(error);
    }
  }

  #countRefusal(error) {
    if (!REFUSALS.includes(error?.code)) throw error;
    this.refused++;
  }

  /** The newest acknowledged shells for which no kill has begun. */
  #unkilled() {
    return unkilledShells(this.#journal.entries()).slice(-20);
  }
}

export function unkilledShells(entries) {
  const killed = new Set(entries.filter(({ kind }) => kind === "killing").map(({ id }) => id));
  return entries.filter(({ kind, id }) => kind === "shell" && !killed.has(id));
}

export function expect(holds, sentence) {
  if (!holds) throw new Error(sentence);
}
