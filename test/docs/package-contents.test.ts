// The contents of the installed package: every page and example that it links to, and instructions that work before the
// package is published.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const text = (file: string) => readFileSync(join(root, file), "utf8");

test("every link in a packed page leads to a packed file or a public address", () => {
  const out = execFileSync("npm", ["pack", "--dry-run", "--json", "--silent"], {
    cwd: root,
    encoding: "utf8",
  });
  const [{ files }] = JSON.parse(out) as [{ files: readonly { readonly path: string }[] }];
  const packed = new Set(files.map(({ path }) => path));
  const folders = new Set([...packed].map((path) => dirname(path)));
  const pages = [...packed].filter((path) => /\.md$|^llms\.txt$/.test(path));
  expect(pages).toEqual(expect.arrayContaining(["README.md", "llms.txt", "docs/library.md"]));
  const dead = pages.flatMap((page) =>
    [...text(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map(([, target = ""]) => target)
      .filter((target) => !/^https?:/.test(target))
      .filter((target) => {
        const path = normalize(join(dirname(page), target)).replace(/\/$/, "");
        return !packed.has(path) && !folders.has(path);
      })
      .map((target) => `${page} -> ${target}`),
  );
  expect(dead).toEqual([]);
});

test("while the package is unpublished, the pages mention that before they rely on npx", () => {
  const { repository } = JSON.parse(text("package.json"));
  expect(repository).toBeUndefined();
  for (const page of ["README.md", "llms.txt"]) {
    const notice = text(page).search(/not on npm yet/i);
    expect(notice).toBeGreaterThan(0);
    for (const { index } of text(page).matchAll(/npx -y nacre/g)) expect(index).toBeGreaterThan(notice);
  }
});

test("the README's JavaScript runs on the oldest supported Node: it does not use await using", () => {
  for (const [block] of text("README.md").matchAll(/```js\n[\s\S]*?```/g))
    expect(block).not.toContain("await using");
});
