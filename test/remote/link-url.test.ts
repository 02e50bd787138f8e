// The argument lists for accepted URLs, and refusals of URLs that a client program could misread.
import { expect, test } from "vitest";
import { parseRemote } from "../../src/remote/links/link-url.ts";

test.each([
  ["ssh://host", ["ssh", "-T", "-o", "BatchMode=yes", "--", "host", "'sh' '-c' 'a b'"]],
  [
    "ssh://me@host:2222?cwd=/srv",
    ["ssh", "-T", "-o", "BatchMode=yes", "-p", "2222", "-l", "me", "--", "host", "'sh' '-c' 'a b'"],
  ],
  ["ssh://[::1]:22", ["ssh", "-T", "-o", "BatchMode=yes", "-p", "22", "--", "::1", "'sh' '-c' 'a b'"]],
  ["docker://box", ["docker", "exec", "-i", "--", "box", "sh", "-c", "a b"]],
  ["podman://box_1.x", ["podman", "exec", "-i", "--", "box_1.x", "sh", "-c", "a b"]],
  [
    "kubernetes://dev/pod-0?container=main",
    ["kubectl", "exec", "-i", "-n", "dev", "-c", "main", "pod-0", "--", "sh", "-c", "a b"],
  ],
  ['command:["nsenter","-t","1"]?cwd=/', ["nsenter", "-t", "1", "sh", "-c", "a b"]],
])("%s becomes an argument list", (url, argv) => {
  expect(parseRemote(url).argv(["sh", "-c", "a b"])).toEqual(argv);
});

test.each([
  ...[
    "",
    "host",
    "ssh:host",
    "ssh://",
    "http://host",
    "ssh://host/path",
    "ssh://a b",
    "ssh://host:0",
    "ssh://host:70000",
  ],
  ...[
    "ssh://-oProxyCommand=id",
    "ssh://-l@host",
    "ssh://me@-oProxyCommand=id",
    "ssh://$(id)",
    "ssh://a;id",
    "ssh://`id`",
  ],
  ...[
    "ssh://host%0aProxyCommand=id",
    "ssh://host%00",
    "ssh://us%20er@host",
    "ssh://a'b@host",
    "ssh://host?port=1",
  ],
  ...["docker://--privileged", "docker://a/b", "docker://a%0ab", "podman://-it", "docker://box?cwd=relative"],
  ...["docker://box?cwd=/a&cwd=/b", "docker://box?user=root", "docker://box?cwd=%0a", "docker://box#x"],
  ...[
    "kubernetes://--kubeconfig=x",
    "kubernetes://ns/--as=root",
    "kubernetes://a/b/c",
    "kubernetes://pod?container=-x",
  ],
  ...["kubernetes://-n/pod", "kubernetes://POD", "slurm://--uid=0", "slurm://1;id", "slurm://"],
  ...[
    "command:",
    "command:[]",
    "command:{}",
    'command:["-x"]',
    'command:[""]',
    'command:["a",1]',
    'command:["a"]x',
  ],
  ...["ssh://%2doProxyCommand=id", "ssh://%2Dl@host", "ssh://-me@host", "ssh://me%40-oProxyCommand=id"],
  ...["docker://%2d-privileged", "podman://%2Dit", "kubernetes://ns/%2d-as=root", "slurm://%2d-uid=0"],
  ...["kubernetes://%2dn/pod", "kubernetes://pod?container=%2dx", "ssh://[-x]", "ssh://[%2dx]:22"],
  ...[
    "ssh://host?cwd=/a%0ab",
    "ssh://host?cwd=/a%00b",
    "docker://box?cwd=/a%1b[31m",
    "docker://box?cwd=/%7f",
  ],
  ...[
    "docker://box?cwd=/a%c2%85b",
    "docker://box?cwd=/a%e2%80%a8b",
    'command:["a"]?cwd=/a%0ab',
    "ssh://host?cwd=-x",
  ],
  ...["ssh://host?cwd=%2d/x", "ssh://host?cwd=~", "slurm://1?cwd=/%0d", "kubernetes://pod?cwd=/a%0a"],
  ...['command:["a\\u0000b"]', "ssh://%zz", "ssh://host?cwd"],
])("%j is refused", (url) => {
  expect(() => parseRemote(url)).toThrow(/The remote URL .* cannot be used: .*The forms are ssh/s);
});
