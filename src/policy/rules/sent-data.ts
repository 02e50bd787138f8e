// Local data in the URL, a header or the body of a request.

import type { JudgedCommand } from "../facts.ts";
import { isCertain } from "../shell-model/marks.ts";

/** Whether the request contains local data. */
export function carriesData({ args, substituted, program }: JudgedCommand): boolean {
  const isPacked = substituted.includes("packed");
  const isData = isPacked || substituted.includes("data");
  const isToken = substituted.includes("token");
  if (!WEB_CLIENT.test(program)) return false;
  if (substituted.includes("identity")) return true;
  if (!isData && !isToken) return false;
  return args.some(({ text }, i) => {
    if (isCertain(text)) return false;
    const before = args[i - 1]?.text ?? "";
    const isField = FIELD.test(before) || FIELD.test(text);
    if (isField && AUTHORIZATION.test(text)) return false;
    if (isField) return isData || args.some(({ text: url }) => OPEN_HOST.test(url));
    const [, host = "", path = "", query = ""] = ADDRESS.exec(text) ?? [];
    if (isToken && !isData) return OPEN_HOST.test(text);
    return isPacked ? host + path + query !== "" : !isCertain(host) || !isCertain(query);
  });
}

const WEB_CLIENT = /^(curl|wget|https?|xh|httpie|aria2c|lynx|w3m|websocat|wscat|grpcurl)$/;
/** Options whose value is sent. */
const FIELD =
  /^(-[HAUbedFu]|--(header|user-agent|referer|cookie|data(-\w+)?|form|json|post-data|body-data|user|url-query))(=|$)/;
const AUTHORIZATION = /authorization|api-?key|private-token|x-\w*-?token|bearer/i;
const ADDRESS = /^(?:\w+:\/\/)?([^/?#]+\.[^/?#]+|\[[^\]]+\])([^?#]*)([?#].*)?$/s;
/** A URL without encryption, or with an IP address instead of a name. */
const OPEN_HOST = /^http:\/\/|^(https?:\/\/)?\d+\.\d+\.\d+\.\d+/;
