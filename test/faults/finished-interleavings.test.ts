// In random order, background shells exit, two agents in two hosts read, and hosts are killed during a read.
// Every end is reported. A host marks an end as reported before it answers its next call. If the host is
// killed earlier, the end may be reported twice.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, mkdirSync, mkdtempSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, expect, test } from "vitest";
import { ShellManager } from "../../src/shell-manager.ts";
import { isLong } from "../fixtures/long.ts";
import { helper } from "../fixtures/marked.ts";
import { useShells } from "../fixtures/shells.ts";

const { directory } = useShells();
const ROUNDS = isLong ? 200 : 6;

interface CallResult {
  readonly bash_id?: string;
  readonly is_running?: boolean;
  readonly finished?: readonly { readonly bash_id: string; readonly status: string }[];
}

class ReportHost {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (found: CallResult | undefined) => void>();
  #last = 0;
  #hasEnded = false;
  /** The shells whose end this host's last answer reported. */
  reported: RoundShell[] = [];

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(base: string, durable: boolean): Promise<ReportHost> {
    const args = [join(base, "work"), join(base, "state"), "team", durable ? "durable" : ""];
    const child = spawn(process.execPath, [helper("report-host.mjs"), ...args], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const host = new ReportHost(child);
    child.stdin?.on("error", () => {});
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    const ready = new Promise<CallResult | undefined>((resolve) => host.#waiting.set(0, resolve));
    lines.on("line", (line) => {
      const [number, found] = JSON.parse(line) as [number, CallResult];
      host.#settle(number, found);
    });
    // "close" is emitted after all lines that the host wrote before its death.
    lines.on("close", () => host.#end());
    if (!(await ready)) throw new Error("The host ended before it was ready.");
    return host;
  }

  #end(): void {
    this.#hasEnded = true;
    for (const number of [...this.#waiting.keys()]) this.#settle(number, undefined);
  }

  #settle(number: number, found: CallResult | undefined): void {
    const resolve = this.#waiting.get(number);
    this.#waiting.delete(number);
    resolve?.(found);
  }

  /** undefined if the host was killed before its answer. */
  call(tool: string, args: object, agentId: string): Promise<CallResult | undefined> {
    if (this.#hasEnded) throw new Error("The host has ended.");
    const number = ++this.#last;
    const answer = new Promise<CallResult | undefined>((resolve) => this.#waiting.set(number, resolve));
    this.#child.stdin?.write(`${JSON.stringify([number, tool, args, { agentId, sessionId: agentId }])}\n`);
    return answer;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, "exit");
  }
}

/** A shell of one round. It ends when the test writes to its fifo. */
interface RoundShell {
  readonly id: string;
  readonly fifo: number;
  /** The number of reports of hosts that were not killed before their next answer. */
  certain: number;
  /** The number of reports of hosts that were killed before they answered another call. */
  uncertain: number;
}

const hosts: ReportHost[] = [];
const fifos: number[] = [];
const counts = { ends: 0, repeated: 0, kills: 0 };
const random = (below: number) => Math.floor(Math.random() * below);
const anyHost = () => hosts[random(2)] as ReportHost;

afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.kill()));
  for (const fd of fifos.splice(0)) closeSync(fd);
});

class Round {
  readonly #base: string;
  readonly #shells = new Map<string, RoundShell>();
  readonly #trace: string[] = [];

  constructor(base: string) {
    this.#base = base;
  }

  async run(observer: ShellManager): Promise<void> {
    for (let i = 0; i <= random(3); i++) await this.#start(i);
    const steps = this.#steps();
    while (steps.length > 0) await steps.splice(random(steps.length), 1)[0]?.();
    // Every shell has exited by now, or ended with its host.
    for (const { id } of this.#shells.values()) await observer.getShell(id)?.wait(60_000);
    // Read twice: a host's second answer proves that the host has marked the ends in its first answer.
    for (const which of [0, 1, 0, 1]) await this.#read(which, "a");
    for (const { id, certain, uncertain } of this.#shells.values()) {
      counts.ends++;
      counts.repeated += certain + uncertain - 1;
      const lost = `the end of ${id} was not reported\n${this.#trace.join("\n")}`;
      expect(certain + uncertain, lost).toBeGreaterThan(0);
    }
  }

  /** Starts a shell with this number as its exit code. */
  async #start(number: number): Promise<void> {
    const fifo = join(mkdtempSync(join(this.#base, "work", "shell-")), "fifo");
    execFileSync("mkfifo", [fifo]);
    const fd = openSync(fifo, constants.O_RDWR);
    fifos.push(fd);
    const command = `read -r line <${fifo}; exit ${number}`;
    const host = anyHost();
    const found = await host.call("Bash", { command, run_in_background: true }, "a");
    const id = String(found?.bash_id);
    this.#shells.set(id, { id, fifo: fd, certain: 0, uncertain: 0 });
    this.#take(found, host);
  }

  #steps(): (() => Promise<unknown>)[] {
    const shells = [...this.#shells.values()];
    return [
      ...shells.map(
        ({ fifo }) =>
          async () =>
            writeSync(fifo, "\n"),
      ),
      ...shells.filter(() => random(3) === 0).map((shell) => () => this.#readOutput(shell)),
      ...[1, 2, 3].map(() => () => this.#read(random(2), random(2) === 0 ? "a" : "b")),
      () => Promise.all([this.#read(0, "a"), this.#read(1, "b")]),
      ...(random(2) === 0 ? [() => this.#killHost()] : []),
    ];
  }

  async #read(which: number, agent: string): Promise<void> {
    const host = hosts[which] as ReportHost;
    this.#take(await host.call("Bash", { command: "true" }, agent), host);
  }

  /** A BashOutput result that shows the end of a shell counts as its report. */
  async #readOutput(shell: RoundShell): Promise<void> {
    const host = anyHost();
    const found = await host.call("BashOutput", { bash_id: shell.id }, "b");
    this.#take(found, host);
    if (found?.is_running !== false || shell.certain > 0) return;
    shell.certain++;
    host.reported.push(shell);
  }

  async #killHost(): Promise<void> {
    counts.kills++;
    const which = random(2);
    const host = hosts[which] as ReportHost;
    const inFlight = host.call("Bash", { command: "true" }, "a");
    for (let turns = random(30); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
    await host.kill();
    this.#take(await inFlight, host);
    for (const shell of host.reported) {
      shell.certain--;
      shell.uncertain++;
    }
    this.#trace.push(`host ${which} killed`);
    hosts[which] = await ReportHost.start(this.#base, random(2) === 0);
  }

  /** Counts the reports in an answer. If there is no answer, the ends in the previous answer may not be marked. */
  #take(found: CallResult | undefined, host: ReportHost): void {
    if (!found) return;
    host.reported = [];
    for (const { bash_id } of found.finished ?? []) {
      this.#trace.push(`${bash_id} by host ${hosts.indexOf(host)}`);
      const shell = this.#shells.get(bash_id);
      if (!shell) throw new Error(`${bash_id}, of an earlier round, is reported again`);
      expect(shell.certain, `reported twice:\n${this.#trace.join("\n")}`).toBe(0);
      shell.certain++;
      host.reported.push(shell);
    }
  }
}

test(`every end of a shell is reported in ${ROUNDS} random interleavings`, {
  timeout: 3_600_000,
}, async () => {
  const base = directory();
  mkdirSync(join(base, "work"));
  hosts.push(await ReportHost.start(base, true), await ReportHost.start(base, false));
  const observer = new ShellManager({ stateRoot: join(base, "state"), poolSize: 0 });
  for (let round = 0; round < ROUNDS; round++) await new Round(base).run(observer);
  await observer.dispose();
  if (isLong)
    console.log(`${counts.ends} ends, ${counts.kills} killed hosts, ${counts.repeated} repeated reports`);
});
