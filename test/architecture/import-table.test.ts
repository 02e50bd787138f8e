// The table of import rules names only folders and packages that exist, and every folder of src has its layer.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../docs/pages.ts";

interface Rule {
  readonly from: { readonly path?: string };
  readonly to: { readonly path?: string | readonly string[] };
}

const { allowed } = createRequire(import.meta.url)("../../.dependency-cruiser.cjs") as {
  readonly allowed: readonly Rule[];
};

/** `layers` lists folders, and files without their extension. `packages` lists what a folder may import from npm. */
const layers: string[] = [];
const packages: { readonly folder: string; readonly name: string }[] = [];
for (const { from, to } of allowed) {
  const folder = /^\^src\/([\w/-]+)\(/.exec(from.path ?? "")?.[1];
  const name = /node_modules\/(.*)\(\/\|\$\)$/.exec(String(to.path))?.[1];
  if (folder === undefined) continue;
  if (name === undefined) layers.push(folder);
  else packages.push({ folder, name });
}

/** The package's entry points export from every folder, so they have no layer. */
const ENTRY_POINTS = ["index.ts", "policy.ts", "tool.ts"];

/** Folders whose parts have separate layers. */
const DIVIDED = ["remote"];

test("every layer is a folder or a file of src, and vice versa", () => {
  const names = readdirSync(join(root, "src"))
    .filter((name) => !ENTRY_POINTS.includes(name))
    .flatMap((name) =>
      DIVIDED.includes(name) ? readdirSync(join(root, "src", name)).map((part) => `${name}/${part}`) : [name],
    );
  expect(layers.sort()).toEqual([...new Set(names.map((name) => name.replace(/\.ts$/, "")))].sort());
});

test.each(packages)("$name is a dependency, and $folder/ imports it", ({ folder, name }) => {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const { dependencies, devDependencies, peerDependencies } = manifest;
  expect({ ...dependencies, ...devDependencies, ...peerDependencies }).toHaveProperty([name]);
  const files = readdirSync(join(root, "src", folder), { recursive: true, encoding: "utf8" });
  const isImport = new RegExp(`(?:from|import\\() ?"${name}["/]`);
  const importing = files.filter(
    (file) => file.endsWith(".ts") && isImport.test(readFileSync(join(root, "src", folder, file), "utf8")),
  );
  expect(importing).not.toEqual([]);
});
