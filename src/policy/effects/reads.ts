// Who shows or hands on the content of files: the readers that matter for secrets. Listing and checking is not reading.

import type { EffectiveCommand, Field } from "../shell-model/command.ts";
import type { RawEffect } from "./effect.ts";

const READERS =
  /^(cat|tac|head|tail|less|more|most|bat|batcat|nl|od|xxd|hexdump|strings|base64|base32|cut|sort|uniq|grep|[efr]grep|rg|ag|awk|gawk|mawk|sed|jq|yq|tar|bsdtar|zip|7z|gzip|xz|bzip2|zstd|openssl|diff|cmp|paste|tee|rev|fold|fmt|column|view|vi|vim|nano|emacs|split|dd|scp|rsync|rclone|aws|gsutil|s3cmd|gh|xargs|curl|wget|nc|ncat|socat|source|\.|mail|mailx|mutt|xclip|pbcopy|wl-copy|code|pandoc|python3?|node|perl|ruby|gpg)$/;

/** Options whose value is a file to send: `-d @file`, `-F f=@file`, `-T file`, `if=file`. */
const FILE_IN_VALUE =
  /^(?:-[dFT]|--(?:data(?:-\w+)?|form|upload-file|post-file|body-file)=?)?(?:[\w.]+=)?[@<]?(~?[/.\w].*)$/;

export function reads(program: string): boolean {
  return READERS.test(program);
}

export function readsOf(command: EffectiveCommand): readonly RawEffect[] {
  const connects = /^(scp|rsync)$/.test(command.program);
  return command.args.flatMap((arg, i) => {
    // A key that opens the connection is used, not shown.
    if (connects && command.args[i - 1]?.text === "-i") return [];
    const path = pathIn(arg.text);
    const target: Field = { ...arg, text: path ?? "" };
    return path === null ? [] : [{ kind: "read", target }];
  });
}

function pathIn(text: string): string | null {
  if (!/[./]/.test(text) || text.length > 512) return null;
  const [, path = ""] = FILE_IN_VALUE.exec(text) ?? [];
  return /^(-|https?:)/.test(path) || path === "" ? null : path;
}
