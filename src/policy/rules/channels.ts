// Connections for arbitrary data, and programs that send data to another machine.

import { onEffect, type Rule } from "../rule.ts";
import { onRows } from "./tables.ts";

const connects = onEffect({
  kinds: ["write", "append", "read"],
  classes: ["network"],
  // Scripts often connect to their own machine to wait until a port is open.
  when: ({ resolved }) => !/^\/dev\/(tcp|udp)\/(localhost|127\.\d+\.\d+\.\d+|::1)\//.test(resolved.path),
  reason: "{program} would open a connection to {path}.",
});

const opens = onRows({
  "open a connection for arbitrary data": [
    { program: /^(nc(\.\w+)?|ncat|netcat)$/, args: /\S/, unless: /(^| )(-\w*z\w*|-h)( |$)/ },
    {
      program:
        /^(socat|telnet|cryptcat|sbd|pwncat|chisel|frpc|ngrok|localtunnel|lt|bore|croc|wormhole|magic-wormhole|tailscale|cloudflared|inlets|gost)$/,
      args: /\S/,
      unless: /^(-V|-h|status|version|help)/,
    },
  ],
  "open a tunnel to this machine or its network": [
    { program: /^(ssh|autossh)$/, args: /(^| )-\w*[RDw]( |\d)/ },
  ],
  "send local data to a bucket": [
    { program: /^(aws|awslocal)$/, args: /^s3 (cp|sync|mv) (?!s3:)\S+ s3:/, unless: /--dry-?run/ },
    {
      program: /^(gsutil|s3cmd|rclone|mc|azcopy|b2|gcloud)$/,
      args: /^(-\w+ )*(storage )?(cp|copy|sync|mv|move|put|upload|rsync|mirror|upload-file|copyto|moveto)\b/,
      unless: /--dry-?run|(^| )-n( |$)/,
    },
  ],
  "send data to another machine": [
    {
      program:
        /^(smbclient|unison|restic|borg|duplicity|kopia|duplicacy|rdiff-backup|syncthing|magic-wormhole|asciinema|ipfs|ztcp|onionshare|filebrowser|dropbox|megaput|gdrive|rdfind|zsync)$/,
      args: /(^| )(-c|upload|add|pin|backup|create|sync|push|put|mput|\S+:\/\/|\S+@\S+|\d+\.\d+\.\d+\.\d+)/,
      unless: /(^| )(rec|play|list|snapshots|check|info|--dry-run|-n)( |$)(?!.*upload)/,
    },
    {
      program: /^(ffmpeg|gst-launch-1\.0|vlc|cvlc|obs)$/,
      args: /(^| )(tcp|udp|rtmps?|rtsp|srt|rist|sftp|ftp):\/\/(?!localhost|127\.)/,
    },
    { program: /^(pastebinit|wgetpaste|gist|termbin|ix|sprunge|transfer|ffsend|haste)$/, args: /(?:)/ },
    { program: /^(mail|mailx|mutt|sendmail|msmtp|swaks|sftp|ftp|lftp|ncftpput|tftp)$/, args: /\S/ },
  ],
  "attack another machine": [
    {
      program:
        /^(hping3|hydra|medusa|ncrack|masscan|zmap|sqlmap|nikto|msfconsole|msfvenom|john|hashcat|aircrack-ng|airodump-ng|ettercap|arpspoof|bettercap|responder|slowloris|wfuzz|gobuster|ffuf|dirb|crackmapexec|nxc|evil-winrm|impacket-\w+|theHarvester|goldeneye|siege)$/,
      args: /\S/,
      unless: /^(-h|--version|--help)/,
    },
  ],
});

export const channelRules: readonly Rule[] = [
  {
    id: "open-channel",
    verdict: "ask",
    severity: "medium",
    alternative: "Use curl for a request, or nc -z to check whether a port is open.",
    matches: [
      "nc -l 4444",
      "ngrok http 3000",
      "ssh -R 80:localhost:3000 h",
      "exec 5<>/dev/tcp/10.0.0.1/80",
      "aws s3 cp a s3://b",
      "rclone copy . r:x",
    ],
    misses: ["nc -z localhost 5432", "ssh host ls", "curl localhost"],
    check: (command) => connects(command) ?? opens(command),
  },
];
