// Commands try to change files that nacre uses outside the sandbox (its package, bash, rules and audit log),
// in every location where they can be installed. Each attempt must succeed without a sandbox.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, onTestFinished, test } from "vitest";
import { installInto, PEOPLE, type Person, runAs } from "../fixtures/installed.ts";
import { describeSandboxed } from "../fixtures/sandboxes.ts";
import {
  AS_LIBRARY,
  type Installation,
  installationFor,
  mainOf,
  nacre,
  PROTECTED,
  REFUSED,
  type Setup,
} from "./installations.ts";

const CASES = PEOPLE.flatMap((person) =>
  REFUSED.map((setup) => ({ person, setup, user: person.name, where: setup.name })),
);

describeSandboxed("a sandbox that cannot protect the package", () => {
  test.each(CASES)("is refused to $user: $where", ({ person, setup }) => {
    const installed = installationFor(person, setup);
    const attack = `echo : >>'${installed.folder}/planted' && echo REACHED`;
    const confined = nacre(person, installed, ["--sandbox", "workspace-write", attack]);
    expect(confined.stderr).toContain(installed.folder);
    expect(confined.stderr).toContain("npm install -g");
    expect(confined.stdout).not.toContain("REACHED");
    expect(confined.status).not.toBe(0);
    // Without a sandbox the same command succeeds.
    expect(nacre(person, installed, [attack]).stdout).toContain("REACHED");
    // With --allow-unsandboxed it runs with a warning.
    const loose = nacre(person, installed, [
      "--sandbox",
      "workspace-write",
      "--allow-unsandboxed",
      "echo ran",
    ]);
    expect(loose.stdout).toContain("ran");
    expect(loose.stderr).toContain("not enforced");
  });
});

test("nacre mcp returns the same refusal and runs nothing", async () => {
  const installed = installationFor(PEOPLE[0] as Person, REFUSED[0] as Setup);
  const client = new Client({ name: "test", version: "1.0.0" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [installed.program, "mcp", "--policy", "off", "--sandbox", "workspace-write"],
    env: { PATH: process.env["PATH"] ?? "", HOME: installed.home, NACRE_HOME: join(installed.home, "state") },
    cwd: installed.workspace,
    stderr: "ignore",
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const answer = await client.callTool({ name: "Bash", arguments: { command: "touch ran" } });
  expect(answer.isError).toBe(true);
  expect(JSON.stringify(answer.content)).toContain("npm install -g");
  expect(existsSync(join(installed.workspace, "ran"))).toBe(false);
});

test("nacre doctor reports that a sandbox would be refused", () => {
  const person = PEOPLE[0] as Person;
  const installed = installationFor(person, REFUSED[0] as Setup);
  const doctor = runAs(person, [process.execPath, installed.program, "doctor"], {
    cwd: installed.workspace,
    home: installed.home,
    env: { NACRE_HOME: join(installed.home, "state") },
  });
  expect(doctor.stdout).toContain("npm install -g");
});

const LINKED: readonly (Setup & { readonly attacks: readonly string[] })[] = [
  {
    name: "a link in its node_modules",
    make: ({ workspace }) => {
      const folder = installInto(join(workspace, "vendor"));
      mkdirSync(join(workspace, "node_modules"));
      symlinkSync("../vendor/nacre", join(workspace, "node_modules/nacre"));
      return { folder, program: mainOf(join(workspace, "node_modules/nacre")), flags: [] };
    },
    attacks: [
      "rm node_modules/nacre && echo REACHED",
      "ln -sfn ../evil node_modules/nacre && echo REACHED",
      "mv node_modules away && echo REACHED",
    ],
  },
  {
    name: "a link to a link",
    make: ({ workspace }) => {
      const folder = installInto(join(workspace, "vendor"));
      for (const dir of ["links", "tools"]) mkdirSync(join(workspace, dir));
      symlinkSync("../vendor", join(workspace, "links/second"));
      symlinkSync("../links/second/nacre", join(workspace, "tools/first"));
      return { folder, program: mainOf(join(workspace, "tools/first")), flags: [] };
    },
    attacks: [
      "ln -sfn ../evil tools/first && echo REACHED",
      "ln -sfn ../evil links/second && echo REACHED",
      "mv links away && echo REACHED",
    ],
  },
];

/** Tries all attacks in one sandboxed command, and expects that none succeeds. Returns the output of each. */
function attempted(person: Person, installed: Installation, attacks: readonly string[]): string[] {
  const script = attacks.map((attack) => `( ${attack} ) 2>&1; echo NEXT`).join("; ");
  const { stdout, stderr } = nacre(person, installed, ["--sandbox", "workspace-write", script]);
  expect(stderr).not.toContain("cannot be enforced");
  const printed = stdout.split("NEXT\n").slice(0, -1);
  expect(printed).toEqual(attacks.map(() => expect.not.stringContaining("REACHED")));
  return printed;
}

describeSandboxed("a package in the workspace that is started through a link", () => {
  test.each(
    PEOPLE.flatMap((person) =>
      LINKED.map((setup) => ({ person, setup, user: person.name, where: setup.name })),
    ),
  )("cannot be replaced by a command of $user: $where", ({ person, setup }) => {
    const reasons = attempted(person, installationFor(person, setup), setup.attacks);
    for (const [index, attack] of setup.attacks.entries()) {
      expect(reasons[index], attack).toMatch(
        /Read-only file system|Device or resource busy|Permission denied/,
      );
      // Without a sandbox the same command succeeds.
      const open = nacre(person, installationFor(person, setup), [attack]);
      expect(open.stdout, attack).toContain("REACHED");
    }
  });
});

describeSandboxed("a package in a writable path", () => {
  test.each(
    PEOPLE.flatMap((person) =>
      PROTECTED.map((setup) => ({ person, setup, user: person.name, where: setup.name })),
    ),
  )("cannot be changed by a command of $user: $where", ({ person, setup }) => {
    const installed = installationFor(person, setup);
    const { folder } = installed;
    const attacks = [
      `echo : >>'${folder}/dist/engine/hook.sh' && echo REACHED`,
      `rm -f '${folder}/dist/cli/main.js' && echo REACHED`,
      `mv '${folder}' '${folder}.old' && echo REACHED`,
      `mv '${join(folder, "..")}' '${join(folder, "..")}.old' && echo REACHED`,
      `echo : >>node_modules/nacre/dist/cli/main.js && echo REACHED`,
    ];
    attempted(person, installed, attacks);
    // The siblings of the package are writable.
    const beside = `echo x >'${join(folder, "../beside")}' && echo REACHED`;
    expect(nacre(person, installed, ["--sandbox", "workspace-write", beside]).stdout).toContain("REACHED");
    expect(nacre(person, installed, [attacks[0] ?? ""]).stdout).toContain("REACHED");
  });

  test("is refused by the library before anything runs", () => {
    for (const person of PEOPLE) {
      const installed = installationFor(person, AS_LIBRARY);
      const script = join(installed.workspace, "host.js");
      writeFileSync(
        script,
        `import { createToolkit } from "nacre";
try { await createToolkit({ workingDir: process.cwd(), sandbox: "workspace-write" }); console.log("STARTED"); }
catch (error) { console.log(error.code, error.message); }`,
      );
      const ran = runAs(person, [process.execPath, script], {
        cwd: installed.workspace,
        home: installed.home,
      });
      expect(ran.stdout).toContain(`spawn_failed The sandbox "workspace-write" cannot be enforced here`);
      expect(ran.stdout).toContain(installed.folder);
      expect(ran.stdout).toContain("npm install -g");
    }
  });
});

describe("the keeper's scripts", () => {
  test("are read from the package once, so later changes are not run", () => {
    const person = PEOPLE[0] as Person;
    const installed = installationFor(person, AS_LIBRARY);
    const script = join(installed.workspace, "host.js");
    const marker = join(installed.home, "marker");
    writeFileSync(
      script,
      `import { ShellManager } from "nacre";
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
const manager = new ShellManager({ poolSize: 0, stateRoot: ${JSON.stringify(join(installed.home, "state"))} });
const run = async () => {
  const shell = await manager.createShell({ command: "echo ran", workingDir: "/", background: false });
  await shell.wait(20_000);
  process.stdout.write(shell.getAllOutput());
};
await run();
const folder = ${JSON.stringify(join(installed.folder, "dist/engine"))};
for (const name of readdirSync(folder)) {
  if (!name.endsWith(".sh")) continue;
  const text = readFileSync(folder + "/" + name, "utf8");
  writeFileSync(folder + "/" + name, text.replace("\\n", "\\necho planted >>${marker}\\n"));
}
await run();
// The same holds for the keeper that replaces a killed one.
const keeper = readdirSync("/proc").find((pid) => { try {
  return readFileSync("/proc/" + pid + "/comm", "utf8") === "nacre-keeper\\n" &&
    readFileSync("/proc/" + pid + "/stat", "utf8").split(") ")[1].split(" ")[1] === String(process.pid);
} catch { return false; } });
process.kill(Number(keeper), "SIGKILL");
await run();
await manager.dispose();
console.log("done");`,
    );
    const ran = runAs(person, [process.execPath, script], { cwd: installed.workspace, home: installed.home });
    expect(ran.stdout).toBe("ran\nran\nran\ndone\n");
    expect(existsSync(marker)).toBe(false);
    // The next host reads the changed scripts.
    const again = nacre(person, installed, ["echo again"]);
    expect(again.stdout).toContain("again");
    expect(readFileSync(marker, "utf8")).toContain("planted");
  });
});
