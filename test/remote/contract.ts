// The contract that every link must fulfill. npm test runs it over a command link, npm run remote over real programs.
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { RemoteToolkit } from "../../src/toolkit.ts";
import { createToolkit } from "../../src/toolkit.ts";
import { isLong } from "../fixtures/long.ts";

export interface ContractPlace {
  readonly url: string;
  /** Cuts the open link. */
  cut(): void | Promise<void>;
  /** Other methods to cut the link, by name, such as a connection that no longer transfers data. */
  readonly otherCuts?: Readonly<Record<string, () => void>>;
}

export interface ContractOptions {
  readonly place: () => ContractPlace | Promise<ContractPlace>;
  /** Size of the output that is compared byte by byte. */
  readonly outputBytes: number;
  readonly cutCount: number;
}

// The linger is longer than two attempts that hang. If a cut stops a client program before its greeting, the attempt
// hangs for connectMaxMs.
const TIMES = { pingMs: 500, silentMaxMs: 3_000, lingerMs: 300_000, retryMaxMs: 500, connectMaxMs: 20_000 };
/** nacre detects a silent link after a second and a half, and a hanging attempt after twenty seconds. */
const CUT_TIMES = { ...TIMES, pingMs: 250, silentMaxMs: 1_500, retryMaxMs: 300 };

export function remoteContract(name: string, { place: open, outputBytes, cutCount }: ContractOptions): void {
  describe(name, () => {
    let place: ContractPlace;
    let kit: RemoteToolkit<"shells">;

    beforeAll(async () => {
      place = await open();
      kit = await createToolkit({ remote: { url: place.url, ...TIMES }, policy: "off" });
    });
    afterAll(async () => {
      await kit?.dispose();
    });

    test("streams, exit codes and signals pass through", async () => {
      const run = await kit.run("echo out; echo err >&2; exit 7");
      expect([run.stdout, run.stderr, run.exitCode, run.ok]).toEqual(["out\n", "err\n", 7, false]);
      expect((await kit.run("kill -TERM $$")).signal).toBe("SIGTERM");
      expect((await kit.run("cat", { input: "from here" })).stdout).toBe("from here");
      expect((await kit.call("Bash", { command: "echo tool; exit 3" })).toWire()).toMatchObject({
        output: "tool\n",
        exit_code: 3,
        error_code: "exit_nonzero",
      });
    });

    test("a session keeps its state", async () => {
      const session = kit.session("state");
      await session.run("cd /; word=kept; f() { echo f-$word; }");
      expect((await session.run("f; pwd")).stdout).toBe("f-kept\n/\n");
      expect(session.cwd).toBe("/");
    });

    test("output arrives while the command runs", async () => {
      const seen: string[] = [];
      for await (const { text } of kit.run("echo one; read -r _ || echo two")) seen.push(text);
      expect(seen.join("")).toBe("one\ntwo\n");
    });

    test("a timeout ends the command, and a kill reports the processes that it ended", async () => {
      expect(await kit.run("sleep 1000", { timeoutMs: 300 })).toMatchObject({ timedOut: true, ok: false });
      const started = await kit.call("Bash", {
        command: "trap '' TERM; setsid sleep 1000 & echo up; wait",
        run_in_background: true,
      });
      const shell = kit.shells.get(String(started.metadata.bash_id));
      await shell?.waitFor("up", 30_000);
      const report = await shell?.kill({ graceMs: 200 });
      expect(report?.survivors).toEqual([]);
      expect(report?.signalled.length).toBeGreaterThanOrEqual(2);
      expect(shell?.status).toBe("killed");
    });

    test("a cancelled call ends its command", async () => {
      const cancel = new AbortController();
      const run = kit.run("echo up; sleep 1000", { signal: cancel.signal, onOutput: () => cancel.abort() });
      expect(await run).toMatchObject({ aborted: true, stdout: "up\n" });
    });

    test("100 commands run at once", async () => {
      const runs = Array.from({ length: 100 }, (_, index) =>
        kit.run(`echo ${index}; exit $((${index} % 3))`),
      );
      const results = await Promise.all(runs);
      expect(results.map(({ stdout, exitCode }) => `${stdout.trim()} ${exitCode}`)).toEqual(
        Array.from({ length: 100 }, (_, index) => `${index} ${index % 3}`),
      );
    });

    test(`${outputBytes} bytes arrive unchanged`, { timeout: 1_200_000 }, async () => {
      const command = `head -c ${outputBytes} /dev/zero | openssl enc -aes-128-ctr -K 00112233445566778899aabbccddeeff -iv 0 2>/dev/null`;
      const shell = await kit.session("bytes").start(`${command} | tee >(sha256sum >&2); sleep 0.1`);
      const hash = createHash("sha256");
      let bytesCount = 0;
      let printed = "";
      for await (const { stream, bytes } of shell.outputBytes()) {
        if (stream === "stderr") printed += bytes.toString();
        else {
          hash.update(bytes);
          bytesCount += bytes.length;
        }
      }
      expect(bytesCount).toBe(outputBytes);
      expect(printed.split(" ")[0]).toBe(hash.digest("hex"));
    });

    test(`${cutCount} cuts lose no byte and run nothing twice`, { timeout: 1_200_000 }, async () => {
      const cutKit = await createToolkit({ remote: { url: place.url, ...CUT_TIMES }, policy: "off" });
      const file = (await cutKit.run("mktemp")).stdout.trim();
      const kinds = [["kill", () => place.cut()] as const, ...Object.entries(place.otherCuts ?? {})];
      const madeCuts: string[] = [];
      let cuts = 0;
      let isDone = false;
      let failure: unknown;
      const cutting = (async () => {
        while (cuts < cutCount && !isDone) {
          await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 300));
          // First make each kind of cut once, because the short form has too few cuts for a random choice.
          const index = cuts < kinds.length ? cuts : Math.floor(Math.random() * kinds.length);
          const [kind, cut] = kinds[index] ?? ["kill", () => place.cut()];
          await cut();
          madeCuts.push(kind);
          cuts += 1;
          // Wait until a call receives its result over the new link. Otherwise there may be no link to cut yet.
          await cutKit.run("true");
        }
      })().catch((error: unknown) => {
        failure = error;
        isDone = true;
      });
      // A shell that prints continuously: each of its lines must arrive once.
      const ticker = await cutKit
        .session("ticks")
        .start(`n=0; while [ ! -e ${file}.stop ]; do echo $((n++)); sleep 0.02; done; echo end`);
      const ticks = (async () => {
        let text = "";
        for await (const { bytes } of ticker.outputBytes()) text += bytes.toString();
        return text;
      })();
      let count = 0;
      onTestFinished(() => {
        isDone = true;
      });
      while (cuts < cutCount && !isDone) {
        const numbers = Array.from({ length: 3 }, (_, index) => count + index);
        count += 3;
        const runs = numbers.map((number) =>
          cutKit.run(
            `echo ${number} >>${file}; head -c 40000 /dev/zero | tr '\\0' x; sleep 0.05; echo ${number} >&2; exit $((${number} % 5))`,
          ),
        );
        for (const [index, run] of (await Promise.all(runs)).entries()) {
          const number = numbers[index] ?? -1;
          expect([run.stdout.length, run.stderr, run.exitCode]).toEqual([40_000, `${number}\n`, number % 5]);
        }
      }
      await cutting;
      expect(failure).toBeUndefined();
      await cutKit.run(`touch ${file}.stop`);
      const printed = (await ticks).trim().split("\n");
      expect(printed).toEqual([...Array.from({ length: printed.length - 1 }, (_, n) => String(n)), "end"]);
      expect(await ticker.wait()).toBe(0);
      const lines = (await cutKit.run(`cat ${file}; rm ${file} ${file}.stop`)).stdout
        .trim()
        .split("\n")
        .map(Number);
      expect(lines.sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, index) => index));
      expect(new Set(madeCuts).size).toBe(Math.min(kinds.length, cutCount));
      console.log(
        `${name}: ${madeCuts.length} cuts (${kinds.map(([kind]) => `${kind} ${madeCuts.filter((one) => one === kind).length}`).join(", ")}), ${count} commands, ${printed.length} lines`,
      );
      await cutKit.dispose();
    });

    test.runIf(isLong)(
      "with the default times, a silent link is detected and restored",
      { timeout: 300_000 },
      async () => {
        const patient = await createToolkit({ remote: place.url, policy: "off" });
        await patient.run("true");
        const run = patient.run("echo began; sleep 10; echo went; exit 4");
        const [cut = () => place.cut()] = Object.values(place.otherCuts ?? {});
        cut();
        expect(await run).toMatchObject({ stdout: "began\nwent\n", exitCode: 4 });
        await patient.dispose();
      },
    );
  });
}

/** Connects for the first time. Returns the message of the error. */
export async function failureOf(url: string): Promise<string> {
  try {
    const kit = await createToolkit({ remote: url });
    await kit.dispose();
    return "it connected";
  } catch (error) {
    return String((error as Error).message);
  }
}
