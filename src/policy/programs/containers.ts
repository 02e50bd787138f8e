// Containers, clusters and virtual machines, with the tools that run a command inside one.

import { effectsOn } from "./effect.ts";
import { printsSettings } from "./print-texts.ts";
import type { ProgramFamily } from "./program-record.ts";
import { runInPod } from "./runs/remote.ts";

const COMPLETION = printsSettings(/\bcompletions?\b/);

export const containers: ProgramFamily = {
  familiar: "ansible docker docker-compose helm kubectl podman terraform act",
  programs: {
    kubectl: { runs: runInPod, prints: COMPLETION },
    oc: { runs: runInPod },
    "helm docker k3d kind minikube flux argocd": { prints: COMPLETION },
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
