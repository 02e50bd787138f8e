// Part of npm run fix: writes the JSON schema of rule files for editors, from the shape that the policy reads. A test
// fails if the schema is stale.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ensureBuilt, root, run } from "./setup.mjs";

ensureBuilt();
const { RULES_SCHEMA } = await import(pathToFileURL(join(root, "dist", "policy.js")).href);
const file = join(root, "policy-rules.schema.json");
writeFileSync(file, `${JSON.stringify(RULES_SCHEMA, null, 2)}\n`);
run(join(root, "node_modules/.bin/biome"), ["format", "--write", file]);
