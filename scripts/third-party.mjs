// The text of THIRD_PARTY_LICENSES.md: the packages whose code is in dist, as the build recorded them, and their licenses.
// npm run fix writes the file; test/docs/licenses.test.ts fails if it is stale.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureBuilt, root } from "./setup.mjs";

export const LICENSES_FILE = join(root, "THIRD_PARTY_LICENSES.md");

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** Packages that contain no license file: where their copyright is stated, and the license that they name. */
const WITHOUT_FILE = {
  "@humanwhocodes/momoa": ({ author }) =>
    `Copyright ${author}\n\nLicensed under the Apache License, Version 2.0. Its text is part of the license of\n@modelcontextprotocol/core below.`,
  "@xterm/headless": () => {
    const source = readFileSync(
      join(root, "node_modules/@xterm/headless/lib-headless/xterm-headless.mjs"),
      "utf8",
    );
    const owners = [...source.matchAll(/^ \*\s+(Copyright .*?)(?: \(MIT License\))?$/gm)].map(
      ([, line]) => line,
    );
    return `${[...new Set(owners)].join("\n")}\n\n${MIT}`;
  },
};

/** The folders of the packages whose code the build has put into dist (tsdown.config.ts records them). */
function bundledFolders() {
  const folder = join(root, "dist/bundled");
  const found = readdirSync(folder).flatMap((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));
  return [...new Set(found)].sort();
}

export function thirdPartyLicenses() {
  const packages = bundledFolders().map((folder) => ({
    folder: join(root, folder),
    manifest: JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")),
  }));
  const table = tableOf([
    ["package", "version", "license"],
    ...packages.map(({ manifest: { name, version, license } }) => [name, version, license]),
  ]);
  const texts = packages.map((one) => `## ${one.manifest.name}\n\n\`\`\`text\n${licenseOf(one)}\n\`\`\``);
  return `# Third-party licenses

The files in \`dist\` contain code from these packages. \`npm run fix\` generates this page from the modules in the build.

${table}

${texts.join("\n\n")}
`;
}

/** Pads the cells as the formatter does. Otherwise npm run fix would change the page twice. */
function tableOf(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(" | ")} |`;
  const [head, ...body] = rows;
  return [line(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...body.map(line)].join(
    "\n",
  );
}

export function writeThirdPartyLicenses() {
  ensureBuilt();
  writeFileSync(LICENSES_FILE, thirdPartyLicenses());
}

function licenseOf({ folder, manifest }) {
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file !== undefined) return readFileSync(join(folder, file), "utf8").replaceAll("\r", "").trim();
  const text = WITHOUT_FILE[manifest.name];
  if (text === undefined)
    throw new Error(
      `${manifest.name} is bundled and has no license file: state its license in scripts/third-party.mjs.`,
    );
  return text(manifest).trim();
}
