// Commands that delete data in databases, containers and volumes.

import { asksForHelp, type JudgedCommand } from "../facts.ts";
import type { Hit, Rule } from "../rule.ts";
import { shown } from "../shell-model/marks.ts";
import { onRows } from "./tables.ts";

const SQL_CLIENTS =
  /^(psql|mysql|mariadb|sqlite3?|sqlcmd|mysqlsh|clickhouse(-client)?|cockroach|duckdb|bq|usql|pgcli|mycli|snowsql|cqlsh)$/;
const SQL_LOSS =
  /\b(drop\s+(table|database|schema|view|index|user|role|keyspace|column)\b|truncate(\s+table)?\s+["'`\w]|alter\s+table\s+\S{1,128}\s+drop\b)/i;
const SQL_EVERY_ROW = /\b(delete\s+from|update\s+\S{1,128}\s+set)\b/i;

function losesRows(command: JudgedCommand): Hit | null {
  const texts = [...command.args.map(({ text }) => text), command.stdin.text ?? ""];
  for (const written of texts) {
    // Quoted text is a value.
    const text = written.replace(/'[^']*'/g, "''");
    const everyRow = SQL_EVERY_ROW.test(text) && !/\bwhere\b/i.test(text);
    if (SQL_LOSS.test(text) || everyRow)
      return { reason: `${shown(command.program)} would permanently drop tables or rows.` };
  }
  return null;
}

const FRAMEWORKS =
  /^(rails|rake|php|artisan|npx|pnpx|bunx|bun|prisma|python3?|django-admin|manage\.py|sequelize|typeorm|knex|alembic|supabase|npm|pnpm|yarn|drizzle-kit|mix)$/;

export const dataRules: readonly Rule[] = [
  {
    id: "drop-data",
    verdict: "ask",
    severity: "high",
    alternative: "Take a dump first, and name the rows with WHERE.",
    programs: SQL_CLIENTS,
    matches: [
      "mysql -e 'TRUNCATE TABLE users'",
      "psql -c 'DROP TABLE users'",
      "sqlite3 a.db 'delete from t'",
      "psql <<< 'drop schema x'",
    ],
    misses: ["psql -c 'select 1'", "sqlite3 a.db .tables", 'psql -c "delete from t where id = 1"'],
    check: losesRows,
  },
  {
    id: "drop-store",
    verdict: "ask",
    severity: "high",
    alternative: "Take a dump first, or use a separate database for the test.",
    matches: [
      "mongosh --eval 'db.dropDatabase()'",
      "redis-cli FLUSHALL",
      "dropdb prod",
      "rails db:drop",
      "npx prisma migrate reset --force",
      "php artisan migrate:fresh",
    ],
    misses: ["mongosh --eval 'db.users.find()'", "redis-cli ping", "rails db:migrate", "npx prisma generate"],
    check: onRows([
      {
        program: /^mongo(sh)?$/,
        args: /drop(Database|Index|User|\()|\.drop\(|(deleteMany|remove)\(\s*(\{\s*\})?\s*\)/,
        does: "drop a collection or a database",
      },
      {
        program: /^redis-cli$/,
        args: /^(-\S+ (?!flush|shutdown|config|debug)\S+ |-\S+ )*(flushall|flushdb|shutdown|config set|debug)\b/i,
        does: "empty or change the store",
      },
      { program: /^(dropdb|dropuser)$/, args: /\S/, does: "drop a database or a user" },
      { program: /^mysqladmin$/, args: /\bdrop\b|\bshutdown\b/, does: "drop a database" },
      { program: /^pg_restore$/, args: /(^| )(-c|--clean)( |$)/, does: "drop the data it restores over" },
      {
        program: FRAMEWORKS,
        args: /(^| )(db:(drop|reset|wipe|purge|schema:load)|db reset|migrate:(fresh|reset|refresh|rollback --all)|schema:drop|migrate reset|db push .*(--force-reset|--accept-data-loss)|ecto\.(drop|reset)|flush|reset_db|downgrade base)( |$)/,
        does: "drop the database of the application",
      },
      { program: /^(curl|http|xh)$/, args: /-X ?DELETE.*(:9200|:5984)/, does: "delete an index" },
    ]),
  },
  {
    id: "drop-containers",
    verdict: "ask",
    severity: "medium",
    alternative: "Name the one container or volume, and stop it first.",
    programs: /^(docker|podman|nerdctl|docker-compose|podman-compose)$/,
    matches: [
      "docker rm -f $(docker ps -aq)",
      "docker system prune -af",
      "docker volume rm data",
      "docker compose down -v",
    ],
    misses: [
      "docker ps",
      "docker compose up -d",
      "docker compose down",
      "docker rm web",
      "docker run --rm alpine ls",
    ],
    check: onRows([
      {
        program: /^(docker|podman|nerdctl)$/,
        args: /^(container )?(rm|remove) .*(-\w*f|--force|\uFDD0)|^(container )?(kill|stop) \uFDD0/,
        does: "remove containers that may be running",
      },
      {
        program: /^(docker|podman|nerdctl)$/,
        args: /^(system|volume|container|image|network|builder|buildx|pod) prune|^system reset|^(image rm|rmi) .*(-f|--force|\uFDD0)|^volume (rm|remove)/,
        does: "delete images, volumes or containers",
      },
      {
        program: /^(docker|podman|nerdctl)(-compose)?$/,
        args: /(^|compose .*)(down|rm)\b.*( -v| --volumes| --rmi| -\w*s\w*v)/,
        does: "delete the volumes of the project",
      },
      {
        program: /^docker$/,
        args: /^(swarm leave|stack rm|service rm|node rm|secret rm|context rm)/,
        does: "take down shared services",
      },
    ]),
  },
  {
    id: "container-escape",
    verdict: "ask",
    severity: "high",
    alternative: 'Mount the workspace only: -v "$PWD":/w -w /w',
    programs: /^(docker|podman|nerdctl)$/,
    matches: [
      "docker run -v /:/h alpine rm -rf /h/tmp/x",
      "docker run --privileged alpine",
      "docker run -v /var/run/docker.sock:/s alpine",
      "docker run --pid=host alpine",
    ],
    misses: ['docker run --rm -v "$PWD":/w -w /w node:20 npm test', "docker build -t x ."],
    check: mountsMachine,
  },
];

function mountsMachine(command: JudgedCommand): Hit | null {
  const line = command.args.map(({ text }) => text).join(" ");
  if (asksForHelp(command) || !/^(container )?(run|create|exec)\b/.test(line)) return null;
  const mounts =
    /(^| )(-v|--volume)[ =]?(\/|\/(etc|usr|var|home|root|boot|proc|sys|dev)\/?|\S*docker\.sock|~|\/home\/[^/: ]+\/?):|(source|src)=(\/|\S*docker\.sock)(,|$)/.test(
      line,
    );
  const opens =
    /(^| )(--privileged|--(pid|ipc|userns|uts)[= ]host|--cap-add[= ](ALL|SYS_\w+)|--device[= ]\/dev\/\w+|--security-opt[= ]\S*unconfined)( |$)/.test(
      line,
    );
  if (!mounts && !opens) return null;
  return { reason: `${shown(command.program)} would give the container control of this machine.` };
}
