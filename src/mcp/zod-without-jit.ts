// zod writes and compiles a program for every schema it meets. The SDK has hundreds and a server uses each a few
// times, so that costs more than it saves: a client waits for it at every start. Imported before the SDK.
import { config } from "zod";

config({ jitless: true });
