// Privileges of other users, and changes to the machine itself: services, packages, the kernel, the network.

import { asksForHelp } from "../facts.ts";
import type { Rule } from "../rule.ts";
import { onRows } from "./tables.ts";

const ANY = /(?:)/;

export const privilegeRules: readonly Rule[] = [
  {
    id: "elevate",
    verdict: "ask",
    severity: "high",
    alternative: "Do it without root privileges, or let the user run this command.",
    programs:
      /^(sudo|doas|su|pkexec|runuser|gosu|su-exec|sudoedit|run0|nsenter|unshare|chroot|capsh|setpriv)$/,
    matches: [
      "sudo apt-get install -y jq",
      "sudo systemctl restart nginx",
      "su -c 'ls'",
      "doas ls",
      "nsenter -t 1 -m sh",
      "unshare -r id",
    ],
    misses: ["sudo --version", "which sudo", "echo sudo ls"],
    check: (command) =>
      asksForHelp(command) || /^-(V|h)$/.test(command.args[0]?.text ?? "")
        ? null
        : { reason: `${command.program} would run with the privileges of another user.` },
  },
  {
    id: "change-machine",
    verdict: "ask",
    severity: "medium",
    alternative: "Use the installed programs or a container, or ask the user to change the machine.",
    matches: [
      "usermod -aG docker dev",
      "passwd dev",
      "sysctl -w vm.swappiness=1",
      "umount -l /mnt",
      "systemctl restart nginx",
      "systemctl isolate multi-user.target",
      "telinit 3",
      "iptables -F",
      "insmod x.ko",
      "mount --bind a b",
    ],
    misses: [
      "systemctl status nginx",
      "systemctl --user list-units",
      "sysctl vm.swappiness",
      "mount",
      "iptables -L",
      "service --status-all",
      "ip addr",
      "date +%s",
    ],
    check: onRows({
      "change users or their passwords": [
        {
          program:
            /^(useradd|adduser|userdel|deluser|usermod|groupadd|addgroup|groupdel|delgroup|groupmod|gpasswd|passwd|chpasswd|chage|chsh|chfn|newusers|vipw|vigr|visudo|dscl)$/,
          args: ANY,
          unless: /(^| )(-S|--status|-l)( |$)|--check|(^| )-c$/,
        },
      ],
      "change a setting of the kernel": [
        { program: /^sysctl$/, args: /(^| )(-w|--write|-p|--load|--system)|\w=/ },
      ],
      "mount or unmount file systems": [
        { program: /^(mount|umount|fusermount3?|mount\..+)$/, args: /\S/, unless: /^(-l|-V|-h|-t \w+)$/ },
      ],
      "change the running kernel": [
        {
          program: /^(insmod|rmmod|modprobe|depmod|kmod|dkms)$/,
          args: /\S/,
          unless: /(^| )(-n|--dry-run|--show-depends|list|status)/,
        },
      ],
      "change services of the machine": [
        {
          program: /^systemctl$/,
          args: /(^| )(start|stop|restart|reload|enable|disable|mask|unmask|kill|daemon-reload|daemon-reexec|set-default|set-property|edit|revert|preset|link|reset-failed|import-environment|set-environment|try-restart|condrestart|isolate)( |$)/,
        },
        { program: /^(init|telinit)$/, args: /^[2-5abcqu]$/i },
        {
          program:
            /^(service|rc-service|rc-update|update-rc\.d|chkconfig|launchctl|initctl|sv|s6-svc|supervisorctl|invoke-rc\.d)$/,
          args: /(^| )(start|stop|restart|reload|enable|disable|add|del|delete|remove|load|unload|bootstrap|bootout|kickstart|defaults|on|off|up|down)( |$)/,
        },
      ],
      "change the firewall": [
        {
          program: /^(iptables|ip6tables|nft|ebtables|arptables|ufw|firewall-cmd|pfctl|iptables-restore)$/,
          args: /\S/,
          unless: /^(-L|-S|-n|-v|--list|list|status|--state|--list-all|-t \w+ -L|-s \w+)/,
        },
      ],
      "change the network of the machine": [
        {
          program: /^(ip|ifconfig|route|nmcli|networksetup|resolvectl|tc|brctl|wg-quick|netplan|iw|ethtool)$/,
          args: /(^| )(add|del|delete|set|flush|up|down|apply|change|replace|modify|off)( |$)/,
        },
      ],
      "change settings of the machine": [
        { program: /^(timedatectl|hostnamectl|localectl)$/, args: /(^| )set-/ },
        {
          program:
            /^(update-alternatives|ldconfig|locale-gen|dpkg-reconfigure|debconf-set-selections|update-ca-certificates|trust|certutil)$/,
          args: ANY,
          unless: /--(list|display|query|get-selections)|^-p$|^-L/,
        },
        { program: /^defaults$/, args: /^(-\w+ )*(write|delete|import|rename)( |$)/ },
      ],
      "set the clock": [
        { program: /^(ntpdate|rdate|chronyd)$/, args: /\S/, unless: /(^| )-q( |$)/ },
        { program: /^(date|hwclock)$/, args: /(^| )(-s|--set|--systohc|-w)/ },
      ],
      "rename the machine": [{ program: /^hostname$/, args: /^[A-Za-z]/ }],
      "change how the machine boots": [
        {
          program:
            /^(update-grub|grub-install|grub-mkconfig|efibootmgr|update-initramfs|dracut|mkinitcpio|bootctl|bless|nvram|csrutil|spctl)$/,
          args: ANY,
          unless: /^(-v|status|list|--print|-p)?$/,
        },
      ],
      "change the security settings of the machine": [
        {
          program:
            /^(setenforce|aa-(disable|complain|teardown)|auditctl|chcon|semanage|setsebool|restorecon|apparmor_parser)$/,
          args: ANY,
          unless: /^-l/,
        },
      ],
      "change the machine": [
        {
          program: /^(swapon|mkinitrd|quotaon|edquota|setquota|losetup|zramctl|kexec|crm|pcs)$/,
          args: /\S/,
          unless: /--show|^-s$|-l|-a$/,
        },
      ],
      "attach to the init process": [
        {
          program: /^(gdb|strace|ltrace|lldb|reptyr)$/,
          args: /(^| )(-p ?|--pid[ =]|--attach-pid[ =]|attach )1( |$)/,
        },
      ],
      "make files immutable": [{ program: /^chattr$/, args: /(^| )[-+=]\w*[ia]/ }],
    }),
  },
  {
    id: "change-packages",
    verdict: "ask",
    severity: "medium",
    alternative: "Install into the project (npm, a virtual environment) instead of the machine.",
    matches: [
      "apt-get remove --purge python3",
      "apt install jq",
      "dnf install x",
      "dpkg -i x.deb",
      "pacman -Syu",
      "apk add curl",
    ],
    misses: [
      "apt list --installed",
      "apt-cache search x",
      "dpkg -l",
      "pacman -Q",
      "brew list",
      "apt-get --version",
    ],
    check: onRows({
      "change the packages of the machine": [
        {
          program:
            /^(apt|apt-get|aptitude|dnf|yum|microdnf|zypper|apk|tdnf|urpmi|emerge|xbps-install|eopkg|pkg|port|slackpkg|swupd|nix-env|guix|snap|flatpak)$/,
          args: /(^| )(install|remove|purge|autoremove|upgrade|dist-upgrade|full-upgrade|add|del|delete|erase|uninstall|reinstall|downgrade|swap|update|refresh|bundle-add|-i|-e|-u|--uninstall|--install)( |$)/,
          unless: /(^| )(--dry-run|-s|--simulate|--just-print|--no-act)( |$)/,
        },
        { program: /^zypper$/, args: /(^| )(in|rm|up|dup)( |$)/ },
        { program: /^(emerge|xbps-remove)$/, args: /\S/, unless: /(^| )(-p|--pretend|-s|--search)( |$)/ },
        {
          program: /^(dpkg|rpm)$/,
          args: /(^| )(-i|-r|-P|-e|-U|-F|--install|--remove|--purge|--erase|--unpack|--configure|-[iUFe]vh?)( |$)/,
        },
        { program: /^(pacman|yay|paru)$/, args: /(^| )-(S[^si]*|R\w*|U\w*)( |$)/ },
      ],
    }),
  },
];
