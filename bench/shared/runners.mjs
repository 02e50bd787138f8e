// The libraries that the benchmarks compare: nacre and its peers. Each function prepares one library for a working
// directory and returns { run(command), close() }, or undefined if the peer is not available.
import { ShellManager } from "nacre";
import { runShell, spawnBash } from "../measure.mjs";
import { importPeer, peerTitle } from "./peers.mjs";
import { readPart } from "./read-part.mjs";
import { SentinelSession } from "./sentinel-session.mjs";

export const RUNNERS = {
  "nacre session": async (dir, stateRoot) => {
    const manager = new ShellManager({ stateRoot });
    await manager.warmUp();
    const session = manager.session("bench", { workingDir: dir });
    return {
      run: async (command) => {
        const { stdout, stderr } = await session.run(command);
        return readPart(stdout) + readPart(stderr);
      },
      close: () => manager.dispose(),
    };
  },
  "nacre fresh shell": async (dir, stateRoot) => {
    const manager = new ShellManager({ stateRoot });
    await manager.warmUp();
    return {
      run: async (command) => (await runShell(manager, command, dir)).output,
      close: () => manager.dispose(),
    };
  },
  spawn: async (dir) => ({
    run: async (command) => (await spawnBash(command, dir)).output,
    close: () => {},
  }),
  execa: async (dir) => {
    const execa = await importPeer("execa");
    return (
      execa && {
        run: async (command) => (await execa.execa({ shell: "bash", cwd: dir, all: true })`${[command]}`).all,
        close: () => {},
      }
    );
  },
  zx: async (dir) => {
    const zx = await importPeer("zx");
    if (!zx) return undefined;
    const $ = zx.$({ cwd: dir, shell: "bash", prefix: "", quiet: true });
    return { run: async (command) => (await $([command])).text(), close: () => {} };
  },
  "stdin and sentinel": async (dir) => {
    const session = new SentinelSession(dir);
    return { run: (command) => session.run(command), close: () => session.close() };
  },
  "pi bash tool": async (dir) => {
    const pi = await importPeer("pi");
    if (!pi) return undefined;
    const tool = pi.createBashTool(dir);
    return {
      run: async (command) => (await tool.execute("bench", { command })).content[0].text,
      close: () => {},
    };
  },
  "just-bash": async () => {
    const justBash = await importPeer("just-bash");
    if (!justBash) return undefined;
    const bash = new justBash.Bash({
      cwd: "/home/user",
      files: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`/home/user/file${i}`, "x"])),
    });
    return { run: async (command) => (await bash.exec(command)).stdout, close: () => {} };
  },
};

const VERSIONED = { execa: "execa", zx: "zx", "pi bash tool": "pi", "just-bash": "just-bash" };

export function runnerTitle(name) {
  const peer = VERSIONED[name];
  return peer === undefined ? name : peerTitle(peer).replace(peer, name);
}
