// npm run fix: formats, applies safe lint fixes, and writes the JSON schema of rule files and the licenses of bundled packages.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ensureInstalled, root } from "./setup.mjs";
import { writeThirdPartyLicenses } from "./third-party.mjs";

ensureInstalled();
// Fix first: the schema needs a build, and a build can need the fixes.
const biome = join(root, "node_modules/.bin/biome");
const { status } = spawnSync(biome, ["check", "--write", "."], { cwd: root, stdio: "inherit" });
await import("./policy-schema.mjs");
writeThirdPartyLicenses();
process.exitCode = status ?? 1;
