// Commands that delete data in databases, containers and volumes.

import { asksForHelp, type JudgedCommand } from "../facts.ts";
import type { Check, Hit, Rule } from "../rule.ts";
import { shown } from "../shell-model/marks.ts";
import { onRows } from "./tables.ts";

const SQL_CLIENTS =
  /^(psql|mysql|mariadb|sqlite3?|sqlcmd|mysqlsh|clickhouse(-client)?|cockroach|duckdb|bq|usql|pgcli|mycli|snowsql|cqlsh|docker|podman|docker-compose|kubectl|wrangler|turso|heroku|fly|flyctl|supabase|pscale|neonctl|dbmate|trino|presto|beeline|spark-sql|hive|impala-shell|gcloud|aws|az|ksql|steampipe|sqlplus|isql)$/;
const SQL_LOSS =
  /\b(drop\s+(table|database|schema|view|index|user|role|keyspace|column)\b|truncate(\s+table)?\s+["'`\w]|alter\s+table\s+\S{1,128}\s+drop\b)/i;
const SQL_EVERY_ROW = /\b(delete\s+from|update\s+\S{1,128}\s+set)\b/i;

function losesRows(command: JudgedCommand): Hit | null {
  const isElsewhere = command.args.some(({ text }) =>
    /^\w+:\/\/\S*@(?!localhost|127\.|db[:/]|postgres[:/])[\w.-]+\.[\w.-]+/.test(text),
  );
  if (isElsewhere && command.stdin.connected && command.stdin.text === null)
    return {
      reason: `${shown(command.program)} would run statements on another machine, and the policy does not see them.`,
    };
  const texts = [...command.args.map(({ text }) => text), command.stdin.text ?? ""];
  for (const written of texts) {
    // Quoted text is a value, not a statement.
    const text = written.replace(/'[^']*'/g, "''");
    const everyRow = SQL_EVERY_ROW.test(text) && !/\bwhere\b/i.test(text);
    if (SQL_LOSS.test(text) || everyRow)
      return { reason: `${shown(command.program)} would permanently drop tables or rows.` };
  }
  return null;
}

const FRAMEWORKS =
  /^(rails|rake|php|artisan|npx|pnpx|bunx|bun|prisma|python3?|django-admin|manage\.py|sequelize|typeorm|knex|alembic|supabase|npm|pnpm|yarn|drizzle-kit|mix)$/;

/** The sockets on which container engines listen. */
const CONTAINER_SOCKET = /(docker|containerd|podman|crio)\S*\.sock/;

function commandsSocket({ program, args }: JudgedCommand): Hit | null {
  const line = args.map(({ text }) => text).join(" ");
  if (program !== "curl" || !/--unix-socket/.test(line) || !CONTAINER_SOCKET.test(line)) return null;
  if (!/(^| )(-X ?(?!GET)|--request[ =](?!GET)|-d|--data|--json|-T|-F)/.test(line)) return null;
  return {
    reason: "curl would control the containers of this machine through the container engine's socket.",
  };
}

/** Whether the command works on a test database, which is disposable. */
const isTest = ({ assignments }: JudgedCommand): boolean =>
  assignments.some(({ name, value }) => /_ENV$/.test(name) && value === "test");

function unlessTest(check: Check): Check {
  const { needs } = check;
  const own = (command: JudgedCommand) => (isTest(command) ? null : check(command));
  return needs === undefined ? own : Object.assign(own, { needs });
}

export const dataRules: readonly Rule[] = [
  {
    id: "drop-data",
    verdict: "ask",
    severity: "high",
    alternative: "Dump the database first, and limit the change with WHERE.",
    programs: SQL_CLIENTS,
    matches: [
      "mysql -e 'TRUNCATE TABLE users'",
      "psql -c 'DROP TABLE users'",
      "sqlite3 a.db 'delete from t'",
      "psql <<< 'drop schema x'",
    ],
    misses: [
      "psql < dump.sql",
      "psql -c 'select 1'",
      "sqlite3 a.db .tables",
      'psql -c "delete from t where id = 1"',
    ],
    check: losesRows,
  },
  {
    id: "drop-store",
    verdict: "ask",
    severity: "high",
    alternative: "Back up the data first, or use a separate database for the test.",
    matches: [
      "mongosh --eval 'db.dropDatabase()'",
      "redis-cli FLUSHALL",
      "dropdb prod",
      "rails db:drop",
      "npx prisma migrate reset --force",
      "php artisan migrate:fresh",
    ],
    misses: [
      "RAILS_ENV=test rails db:drop",
      "dropdb -h localhost app_test",
      "mongosh --eval 'db.users.find()'",
      "redis-cli ping",
      "rails db:migrate",
      "npx prisma generate",
    ],
    check: unlessTest(
      onRows({
        "drop a collection or a database": [
          {
            program: /^mongo(sh)?$/,
            args: /drop(Database|Index|User|\()|\.drop\(|(deleteMany|remove)\(\s*(\{\s*\})?\s*\)/,
          },
        ],
        "empty the database or change its settings": [
          {
            program: /^redis-cli$/,
            args: /^(-\S+ (?!flush|shutdown|config|debug)\S+ |-\S+ )*(flushall|flushdb|shutdown|config set|debug)\b/i,
          },
        ],
        "delete keys that are known only at run time": [
          { program: /^(redis-cli|valkey-cli)$/, args: /(^| )(del|unlink) .*\uFDD0/i },
        ],
        "delete nodes": [{ program: /^cypher-shell$/, args: /detach delete|\bdelete n\b|drop /i }],
        "drop the database": [
          {
            program: /^(flyway|liquibase|dbmate|migrate|goose|atlas|tern)$/,
            args: /(^| )(clean|drop-all|dropAll|drop|reset|schema clean)( |$)/,
          },
        ],
        "drop a database or a user": [
          {
            program: /^(dropdb|dropuser)$/,
            args: /\S/,
            unless: /^(?!.*(-h|--host)[ =](?!localhost|127\.))(.* )?\w+[_-]test$/,
          },
        ],
        "drop a database": [{ program: /^mysqladmin$/, args: /\bdrop\b|\bshutdown\b/ }],
        "drop existing data before it restores the backup": [
          { program: /^pg_restore$/, args: /(^| )(-c|--clean)( |$)/ },
        ],
        "drop the application's database": [
          {
            program: FRAMEWORKS,
            args: /(^| )(db:(drop|reset|wipe|purge|schema:load)|db reset|migrate:(fresh|reset|refresh|rollback --all)|schema:drop|migrate reset|db push .*(--force-reset|--accept-data-loss)|ecto\.(drop|reset)|flush|reset_db|downgrade base)( |$)/,
          },
        ],
        "delete an index": [{ program: /^(curl|http|xh)$/, args: /-X ?DELETE.*(:9200|:5984)/ }],
      }),
    ),
  },
  {
    id: "drop-containers",
    verdict: "ask",
    severity: "medium",
    alternative: "Name the single container or volume, and stop the container first.",
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
    check: onRows({
      "remove containers that may be running": [
        {
          program: /^(docker|podman|nerdctl)$/,
          args: /^(container )?(rm|remove) (?!-f [\w-]*(test|tmp|ci|dev|demo)[\w-]*$).*(-\w*f|--force|\uFDD0)|^(container )?(kill|stop) \uFDD0/,
        },
      ],
      "delete images, volumes or containers": [
        {
          program: /^(docker|podman|nerdctl)$/,
          args: /^(system|volume|container|image|network|builder|buildx|pod) prune|^system reset|^(image rm|rmi) .*(-f|--force|\uFDD0)|^volume (rm|remove)/,
        },
      ],
      "delete the volumes of the project": [
        {
          program: /^(docker|podman|nerdctl)(-compose)?$/,
          args: /(^|compose .*)(down|rm)\b.*( -v| --volumes| --rmi| -\w*s\w*v)/,
        },
      ],
      "shut down shared services": [
        { program: /^docker$/, args: /^(swarm leave|stack rm|service rm|node rm|secret rm|context rm)/ },
      ],
    }),
  },
  {
    id: "container-escape",
    verdict: "ask",
    severity: "high",
    alternative: 'Mount the workspace only: -v "$PWD":/w -w /w',
    programs: /^(docker|podman|nerdctl|curl)$/,
    matches: [
      "curl --unix-socket /var/run/docker.sock -X POST http://d/containers/z/start",
      "docker run -v /:/h alpine rm -rf /h/tmp/x",
      "docker run --privileged alpine",
      "docker run -v /var/run/docker.sock:/s alpine",
      "docker run --pid=host alpine",
    ],
    misses: [
      "curl --unix-socket /var/run/docker.sock http://d/containers/json",
      'docker run --rm -v "$PWD":/w -w /w node:20 npm test',
      "docker build -t x .",
    ],
    check: (command) => mountsMachine(command) ?? commandsSocket(command),
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
