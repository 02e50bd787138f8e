// examples/evaluate.mjs in real containers: npm run remote -- docker.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../docs/pages.ts";
import { type ContainerPlace, debianRootfs, startDocker } from "./real-engines.ts";

describe.runIf((process.env["NACRE_REMOTE_LINKS"] ?? "").split(",").includes("docker"))("docker", () => {
  const dir = mkdtempSync(join(tmpdir(), "nacre-evaluate-"));
  let place: ContainerPlace;
  beforeAll(async () => {
    debianRootfs(join(dir, "rootfs.tar"));
    place = await startDocker(dir, join(dir, "rootfs.tar"));
  });
  afterAll(async () => {
    await place?.end();
    rmSync(dir, { recursive: true, force: true });
  });

  test("the evaluation harness runs each task in a separate container, and removes the containers", async () => {
    const argv = [join(root, "examples/evaluate.mjs"), "docker", "nacre-test:1"];
    const env = { ...process.env, NACRE_HOME: join(dir, "home") };
    const { stdout } = await promisify(execFile)(process.execPath, argv, { env, timeout: 100_000 });
    expect(stdout).toMatch(/^pass sort .*\npass count .*\nFAIL unsolved .*\n2 of 3 tasks passed\n$/);
    expect(place.engine("ps", "-aq", "--filter", "label=nacre.fleet")).toBe("");
  });
});
