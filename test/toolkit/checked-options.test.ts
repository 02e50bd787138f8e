// The options of every public method are checked at run time. The error about an unknown name suggests the nearest name.
import { expect, test } from "vitest";
import { NacreError, ShellManager } from "../../src/index.ts";
import { useToolkit } from "../fixtures/toolkit.ts";

const kit = useToolkit();

const shell = () => kit().session("s").start("sleep 300");

const MISTAKES: readonly [string, string, () => unknown][] = [
  [
    "session.run has no option timeout. Did you mean timeoutMs?",
    "run",
    () =>
      kit()
        .session()
        .run("ls", { timeout: 5 } as never),
  ],
  [
    "session.run has no option stdin. Choose from: cwd,",
    "run",
    () =>
      kit()
        .session()
        .run("ls", { stdin: "x" } as never),
  ],
  [
    "The option cwd must be a string; it is 5.",
    "run",
    () =>
      kit()
        .session()
        .run("ls", { cwd: 5 } as never),
  ],
  [
    "kit.run has no option timout. Did you mean timeoutMs?",
    "run",
    () => kit().run("ls", { timout: 5 } as never),
  ],
  [
    "The option timeoutMs must be milliseconds above 0, or Infinity for none; it is -1.",
    "run",
    () => kit().run("ls", { timeoutMs: -1 }),
  ],
  ["kit.run needs an object of options; it got 5.", "run", () => kit().run("ls", 5 as never)],
  [
    "The option onOutput must be a function; it is true.",
    "run",
    () => kit().run("ls", { onOutput: true } as never),
  ],
  [
    "session.start has no option durabel. Did you mean durable?",
    "start",
    () =>
      kit()
        .session()
        .start("ls", { durabel: true } as never),
  ],
  [
    "The id of a session must be a string that is not blank; it is 5.",
    "session",
    async () => kit().session(5 as never),
  ],
  [
    "kit.session has no option sesionId. Did you mean sessionId?",
    "session",
    async () => kit().session("a", { sesionId: "x" } as never),
  ],
  ['There is no event "ended". Did you mean end?', "on", async () => kit().on("ended" as never, () => {})],
  [
    "kit.check has no option cwd. Did you mean workingDir?",
    "check",
    async () => kit().check("ls", { cwd: "/" } as never),
  ],
  [
    "shell.waitFor has no option patern. Did you mean pattern?",
    "waitFor",
    async () => (await shell()).waitFor({ patern: "x" } as never),
  ],
  [
    "The option pattern must be a string of one line, a RegExp, or an object with a function matches; it is 5.",
    "waitFor",
    async () => (await shell()).waitFor({ pattern: 5 } as never),
  ],
  ["waitFor needs something to wait for", "waitFor", async () => (await shell()).waitFor({})],
  [
    "shell.output has no option sgnal. Did you mean signal?",
    "output",
    async () => (await shell()).output({ sgnal: 1 } as never),
  ],
  [
    "shell.kill has no option grace. Did you mean graceMs?",
    "kill",
    async () => (await shell()).kill({ grace: 1 } as never),
  ],
  [
    "shells.killAll has no option all. Choose from: by.",
    "killAll",
    async () => kit().shells.killAll({ all: true } as never),
  ],
  [
    "manager.createShell has no option cwd. Did you mean workingDir?",
    "createShell",
    async () => kit().manager.createShell({ command: "ls", cwd: "/" } as never),
  ],
  [
    "new ShellManager has no option stateroot. Did you mean stateRoot?",
    "manager",
    async () => new ShellManager({ stateroot: "/x" } as never),
  ],
];

test.each(MISTAKES)("%s", async (words, _method, make) => {
  const error = await Promise.resolve()
    .then(make)
    .then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
  expect(error).toBeInstanceOf(NacreError);
  expect((error as NacreError).code).toBe("invalid_input");
  expect((error as NacreError).message).toContain(words);
});

test("kit.call returns the error about an option, a tool or a parameter as a result", async () => {
  const options = { timeout: 5 } as never;
  expect(await kit().call("Bash", { command: "ls" }, options)).toMatchObject({
    success: false,
    code: "invalid_input",
    error: "kit.call has no option timeout. Did you mean timeoutMs?",
  });
  expect((await kit().call("Bsh" as string, {})).error).toContain(
    'Unknown tool: "Bsh". Did you mean Bash? Available',
  );
  expect((await kit().call("Bash", { command: "ls", timeot: 5 } as never)).error).toContain(
    'Unknown parameter: "timeot". Did you mean timeout? Known parameters: ',
  );
});
