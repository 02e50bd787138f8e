// File tools, terminals and previews through a link.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createToolkit, type RemoteToolkit } from "../../src/toolkit.ts";
import { useLeakProof } from "../fixtures/leak-proof.ts";
import { describeSandboxed } from "../fixtures/sandboxes.ts";
import { type RemotePlace, remotePlace } from "./remote-place.ts";

const directory = useLeakProof();
const opened: { readonly place: RemotePlace; readonly kit: RemoteToolkit }[] = [];

afterEach(async () => {
  for (const { place, kit } of opened.splice(0)) {
    await kit.dispose();
    await place.end();
  }
});

async function connected() {
  const place = remotePlace(directory());
  const { url, work } = place;
  const kit = await createToolkit({ remote: url, policy: "off", with: ["files", "terminals", "preview"] });
  opened.push({ place, kit });
  return { kit, work, place };
}

test("the file tools work on files of the remote machine", async () => {
  const { kit, work } = await connected();
  const file_path = join(work, "notes.txt");
  expect(await kit.call("Write", { file_path, content: "one\ntwo\n" })).toMatchObject({ success: true });
  expect(await kit.call("Edit", { file_path, old_string: "two", new_string: "three" })).toMatchObject({
    success: true,
  });
  expect(readFileSync(file_path, "utf8")).toBe("one\nthree\n");
  expect((await kit.call("Read", { file_path })).output).toContain("three");
  expect((await kit.call("Grep", { pattern: "thr.e", path: work })).output).toContain("notes.txt");
  expect((await kit.call("Glob", { pattern: "*.txt", path: work })).output).toContain("notes.txt");
});

test("a program in a terminal of the remote machine gets typed input, even after a cut", async () => {
  const { kit, place } = await connected();
  const command = `read -p 'name? ' name; echo "hello $name"; read -p 'more? ' more; echo "bye $more"`;
  const started = await kit.call("Bash", { command, run_in_background: true, terminal: true });
  const bash_id = String(started.metadata.bash_id);
  expect(await kit.call("BashInput", { bash_id, wait_ms: 10_000 })).toMatchObject({
    metadata: { waiting: "line" },
  });
  await kit.call("BashInput", { bash_id, text: "ada", keys: ["Enter"] });
  for (const pid of place.links()) process.kill(pid, "SIGKILL");
  await kit.call("BashInput", { bash_id, text: "eve", keys: ["Enter"] });
  const ended = await kit.call("BashOutput", { bash_id, wait_for: "exit", wait_ms: 20_000 });
  expect(ended.output).toContain("hello ada");
  expect(ended.output).toContain("bye eve");
  expect(ended.metadata).toMatchObject({ exit_code: 0 });
});

test("a wait on the remote machine accepts text or a RegExp, and refuses a function", async () => {
  const { kit } = await connected();
  const started = await kit.call("Bash", {
    command: "echo starting; echo 'READY 1'; exec sleep 1000",
    run_in_background: true,
  });
  const shell = kit.shells.get(String(started.metadata.bash_id));
  expect(await shell?.waitFor("READY", 20_000)).toMatchObject({ line: "READY 1" });
  expect(await shell?.waitFor(/^ready \d$/gi, 20_000)).toMatchObject({ line: "READY 1" });
  const isReady = { matches: (line: string) => line.startsWith("READY") };
  await expect(shell?.waitFor({ pattern: isReady }, 20_000)).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("Use text or a RegExp"),
  });
});

describeSandboxed("a preview on the remote machine", () => {
  test("lists its changes, and is committed and undone there", async () => {
    const { kit, work } = await connected();
    writeFileSync(join(work, "old"), "old\n");
    const files = () => [existsSync(join(work, "new")), existsSync(join(work, "old"))];
    const previewed = await kit.call("Bash", { command: "echo new >new; rm old", preview: true });
    expect([previewed.metadata, files()]).toMatchObject([
      { created: ["new"], deleted: ["old"] },
      [false, true],
    ]);
    const preview_id = String(previewed.metadata.preview_id);
    await kit.call("Preview", { preview_id, action: "commit" });
    expect(files()).toEqual([true, false]);
    await kit.call("Preview", { preview_id, action: "undo" });
    expect(files()).toEqual([false, true]);
  });
});
