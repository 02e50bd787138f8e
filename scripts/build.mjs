// npm run build [-- --api]: builds dist. With --api it also writes the API reference to docs/api.
import { join } from "node:path";
import { ensureBuilt, root, run } from "./setup.mjs";

ensureBuilt();
if (process.argv.includes("--api")) run(join(root, "node_modules/.bin/typedoc"), []);
