// Tools for containers, clusters and virtual machines, including those that run a command inside one.

import type { Field } from "../shell-model/command.ts";
import { effectsOn, type RawEffect } from "./effect.ts";
import { printsSettings } from "./print-texts.ts";
import type { ProgramFamily } from "./program-record.ts";
import { runInPod } from "./runs/remote.ts";

const COMPLETION = printsSettings(/\bcompletions?\b/);

export const containers: ProgramFamily = {
  familiar: "ansible docker docker-compose helm kubectl podman terraform act",
  programs: {
    kubectl: { runs: runInPod, prints: COMPLETION },
    oc: { runs: runInPod },
    "helm k3d kind minikube flux argocd": { prints: COMPLETION },
    "docker podman nerdctl": { effects: (_options, { args }) => mounted(args), prints: COMPLETION },
    distrobox: { wraps: { verb: ["enter"], skip: 1 } },
    toolbox: { options: { values: "-c container" }, wraps: { verb: ["run"] } },
    machinectl: { wraps: { verb: ["shell"], skip: 1 } },
    lxc: { wraps: { verb: ["exec"], skip: 1 } },
    vagrant: { options: { values: "-c command" }, wraps: { verb: ["ssh"], text: "-c command" } },
    "flatpak-spawn": { wraps: {} },
    "systemd-nspawn": { options: { values: "-DMuibxPLSZ directory machine user bind image" }, wraps: {} },
    schroot: { options: { values: "-cnud chroot user directory" }, wraps: {} },
    proot: { options: { values: "-rbwqRS" }, wraps: {} },
    chroot: { options: { values: "userspec groups" }, wraps: { skip: 1 } },
    fakeroot: { options: { values: "-lsib" }, wraps: {} },
    "fakechroot firejail": { wraps: {} },
    unshare: { options: { values: "-RSGl root wd setuid setgid map-user map-group" }, wraps: {} },
    nsenter: { options: { values: "-tSG target setuid setgid" }, wraps: {} },
    "sandbox-exec": { options: { values: "-pfnD" }, wraps: {} },
    ip: { wraps: { verb: ["netns exec"], skip: 1 } },
    "qemu-img": {
      options: { values: "-fOoStTmnl" },
      effects: ({ operands }) =>
        effectsOn(
          /^(convert|dd|create)$/.test(operands[0]?.text ?? "") ? operands.slice(1).slice(-1) : [],
          "write",
        ),
    },
  },
};

/** A container may write to each path that is mounted into it, unless the mount is read-only. */
function mounted(args: readonly Field[]): readonly RawEffect[] {
  return args.flatMap((arg, i): readonly RawEffect[] => {
    const before = args[i - 1]?.text ?? "";
    const [, own] = /^(?:-v|--volume|--mount)=?(.+)$/.exec(arg.text) ?? [];
    const value = own ?? (/^(-v|--volume|--mount)$/.test(before) ? arg.text : undefined);
    if (value === undefined) return [];
    const [, source] = /(?:^|,)(?:source|src)=([^,]+)/.exec(value) ?? /^([^:]+):/.exec(value) ?? [];
    if (source === undefined || !/^[/~.]/.test(source)) return [];
    const isReadOnly = /:(\w+,)*ro(,|$)|,(readonly|ro)(,|$)/.test(value);
    const target = { ...arg, text: source };
    return isReadOnly ? [{ kind: "read", target }] : effectsOn([target], "may-write", { how: "familiar" });
  });
}
