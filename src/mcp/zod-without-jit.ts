// Turns off zod's code generation. zod compiles a function for every schema. The SDK has hundreds of schemas, and a
// server uses each only a few times. So compiling them takes more time than it saves, and delays every start. Import
// this before the SDK.
import { config } from "zod";

config({ jitless: true });
