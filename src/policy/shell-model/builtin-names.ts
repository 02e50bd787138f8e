// The names of bash's builtins.

const BUILTIN_NAMES: ReadonlySet<string> = new Set(
  ". : [ alias bg bind break builtin caller cd command compgen complete continue declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait".split(
    " ",
  ),
);

export function isBuiltinName(name: string): boolean {
  return BUILTIN_NAMES.has(name);
}
