// Turns off zod's code generation. zod compiles a function for every schema. The SDK has hundreds of schemas and a
// server uses each a few times, so compiling costs more time than it saves and delays every start. Import this before
// the SDK.
import { config } from "zod";

config({ jitless: true });
