import { ensureBuilt } from "./setup.mjs";

ensureBuilt();
