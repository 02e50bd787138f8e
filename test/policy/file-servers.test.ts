import { describe, expect, it } from "vitest";
import { explain, judge } from "../../src/policy/judge.ts";
import { dev, verdictOf } from "./dev.ts";

const readsOf = (command: string) =>
  explain(command, dev).commands.flatMap(({ paths }) =>
    paths.filter(({ effect }) => effect === "read").map(({ path }) => path),
  );

describe("static file servers", () => {
  it.each([
    "cd /usr/share && python3 -u -m http.server 18765 --bind 127.0.0.1",
    "cd /usr/share && python3 -m http.server 18765 --bind=127.0.0.1",
    "cd /usr/share && python3 -m http.server 18765 -b localhost",
    "cd /usr/share && python3.12 -m http.server -b127.0.0.1 18765",
    "cd /usr/share && pypy3 -mhttp.server -b ::1",
    "python -m http.server -d /srv/www --bin 127.0.1.1 -p HTTP/1.1 --cgi 8000",
    "cd ~ && python3 -m http.server -b 127.0.0.1",
    "cd /usr/share && npx http-server -a 127.0.0.1",
    "npx http-server /usr/share -a localhost -p 8080",
    "npx serve -l tcp://127.0.0.1:5000 /usr/share",
    "npx serve -l unix:/tmp/s.sock /usr/share",
    "cd / && php -S 127.0.0.1:8000",
    "php -S '[::1]:8000' -t /usr/share",
    "ruby -run -e httpd /usr/share -b 127.0.0.1 -p 9090",
    "busybox httpd -f -p 127.0.0.1:8080 -h /usr/share",
  ])("serving any directory on loopback is allowed: %j", (command) => {
    expect(verdictOf(command)).toBe("allow");
  });

  it.each([
    "cd /usr/share && python3 -m http.server 18765",
    "cd /usr/share && python3 -mhttp.server",
    "python3 -m http.server --directory=/usr/share",
    "python3 -m http.server -d/usr/share",
    "python3 -m http.server -d ~/Documents -b 192.168.1.5",
    'cd /usr/share && python3 -m http.server -b "$ADDR"',
    "python3 -m http.server -b 127.0.0.1 -b 0.0.0.0",
    "python3 -m http.server -b0.0.0.0",
    "cd / && python2 -m SimpleHTTPServer 8000",
    "python3 -m pyftpdlib -d ~",
    "cd /usr/share && npx http-server",
    "http-server /usr/share -p 8080",
    "npx serve -l 5000 /srv/www",
    "http-server dist ~/Documents",
    "npx serve -l tcp://0.0.0.0:5000 dist",
    "php -S 192.168.1.5:8000 -t /usr/share",
    "ruby -run -e httpd -- -p 9090 /usr/share",
    "busybox httpd -f -p 8080 -h /usr/share",
  ])("the policy asks about serving a directory outside the workspace to other machines: %j", (command) => {
    expect(judge(command, dev)).toMatchObject({ verdict: "ask", rule: "expose-server" });
  });

  it.each([
    "python3 -m http.server 8000",
    "python3 -m http.server -d dist",
    "cd $(mktemp -d) && python3 -m http.server",
    "npx http-server -p 8080 dist",
    "npx serve -s build",
    "php -S localhost:8000 router.php",
    "cd / && pkill -f http.server",
    "cd / && python3 tool.py http.server",
    "cd /usr/share && python3 -c 'print(1)' -m http.server",
    "cd / && php tool.php -S 0",
    "cd / && httpd -v",
  ])(
    "serving a directory of the workspace is allowed, and so are programs that serve nothing: %j",
    (command) => {
      expect(verdictOf(command)).toBe("allow");
    },
  );

  it("the reason names the directory that other machines could read", () => {
    expect(judge("python3 -m http.server -d /usr/share", dev).reason).toBe(
      "python3 would let every other machine read /usr/share.",
    );
  });

  it("the policy asks about serving keys on loopback, because every local process could read them", () => {
    for (const command of [
      "python3 -m http.server -b 127.0.0.1 -d ~/.ssh",
      "cd ~/.ssh && python3 -m http.server -b 127.0.0.1",
      "cd ~ && npx http-server .aws -a 127.0.0.1",
    ])
      expect(judge(command, dev)).toMatchObject({ verdict: "ask", rule: "read-secret" });
  });

  it("a server reads only the directories that it serves, not files named like its address or module", () => {
    expect(readsOf("python3 -m http.server 8000 --bind 127.0.0.1 -d dist")).toEqual(["/home/dev/proj/dist"]);
    expect(readsOf("python3 -m http.server -p HTTP/1.1")).toEqual(["/home/dev/proj"]);
    expect(readsOf("ruby -run -e httpd www -b 127.0.0.1")).toEqual(["/home/dev/proj/www"]);
    expect(readsOf("python3 -m json.tool a.json")).toEqual(["/home/dev/proj/a.json"]);
  });
});
