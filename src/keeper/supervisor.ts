// Where the program is that a sandboxed session begins with.
import { fileURLToPath } from "node:url";

export const SUPERVISOR = fileURLToPath(new URL("../keeper/supervisor.sh", import.meta.url));
