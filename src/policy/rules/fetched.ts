// Package managers that download code which is not a dependency of the project.

import type { Rule } from "../rule.ts";
import { onRows } from "./tables.ts";

const URL = /(^| )(git\+|https?:|git:|ssh:|git@|github:|gitlab:|bitbucket:|gist:)/;

/** Packages that most projects have installed, or that many people run without installing them. */
const WELL_KNOWN_NAMES = `tsc typescript tsx ts-node eslint prettier biome @biomejs/biome vitest jest mocha playwright cypress vite next nuxt astro turbo nx
prisma drizzle-kit tailwindcss webpack rollup esbuild storybook typedoc @angular/cli rimraf depcheck knip npm-check-updates ncu
serve http-server degit sort-package-json madge license-checker concurrently cross-env husky lint-staged commitlint @commitlint/cli
lerna @changesets/cli changeset nodemon tsup swc source-map-explorer size-limit lighthouse json-server openapi-typescript
@redocly/cli redocly spectral @stoplight/spectral-cli @graphql-codegen/cli markdownlint markdownlint-cli markdownlint-cli2 cspell stylelint svgo
npm-run-all wait-on envinfo c8 nyc ava tap jscodeshift type-coverage ts-prune publint @arethetypeswrong/cli attw wrangler vercel netlify
create-vite create-react-app create-next-app create-svelte create-astro create-vue create-remix create-t3-app create-expo-app create-turbo
create-react-router sv shadcn shadcn@latest @sveltejs/kit expo tailwindcss-cli @tailwindcss/cli oxlint dprint rspack parcel browserslist
update-browserslist-db fixpack syncpack taze dotenv-cli pm2 live-server @mermaid-js/mermaid-cli mmdc
ruff black isort mypy pyright flake8 pylint pytest pre-commit tox nox cookiecutter copier poetry pdm hatch build pip-audit bandit
safety codespell vulture pyupgrade autoflake djlint sqlfluff yamllint mkdocs jupyter jupyterlab ipython nbstripout check-jsonschema
ty basedpyright httpie coverage twine virtualenv uv pipdeptree`;

const WELL_KNOWN = new RegExp(
  `^((dlx|x|run|exec|create) )?(-\\w+ |--(yes|bun|silent|quiet|python[ =]\\S+|from \\S+|no-install) )*(${WELL_KNOWN_NAMES.trim()
    .split(/\s+/)
    .map((name) => name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"))
    .join("|")})(@[\\w.^~-]+)?( |$)`,
);

export const fetchedRules: readonly Rule[] = [
  {
    id: "run-package",
    verdict: "ask",
    severity: "medium",
    alternative: "Add the package to the project first, then run it from there.",
    matches: [
      "npx -y some-random-package",
      "pnpm dlx x",
      "bunx x",
      "uvx x",
      "npx --yes x",
      "deno run https://x.example/a.ts",
      "pipx run x",
    ],
    misses: ["npx tsc --noEmit", "npx eslint . --fix", "npx vitest", "uv run pytest", "yarn build"],
    check: onRows({
      "download and run a package": [
        {
          program: /^(npx|pnpx)$/,
          args: /^(-\S+ )*(-y|--yes|-p|--package)( |=)|^(-\S+ )*\S+@(latest|next|\d)|^(-\S+ )*(https?:|github:|git\+)/,
          unless: WELL_KNOWN,
        },
        {
          program: /^npm$/,
          args: /^(exec|x|init|create) .*(-y |--yes )|^(init|create) (?!-)\S/,
          unless: new RegExp(
            `${WELL_KNOWN.source}|^(create|init) (vite|react-app|next-app|svelte|astro|vue|remix|expo-app|turbo|playwright|@vitejs/app|vue@\\S+|vite@\\S+|next-app@\\S+)( |$)`,
          ),
        },
        { program: /^(pnpm|yarn|bun)$/, args: /^(dlx|create|x)( |$)/, unless: WELL_KNOWN },
        { program: /^bunx$/, args: /\S/, unless: WELL_KNOWN },
        {
          program: /^(uvx|pipx)$/,
          args: /^(?!(list|install|uninstall|upgrade|--version|ensurepath)\b)\S/,
          unless: WELL_KNOWN,
        },
        { program: /^uv$/, args: /^tool run /, unless: new RegExp(WELL_KNOWN.source.replace("^", "^tool ")) },
      ],
      "download and run code": [
        { program: /^(deno|bun|go)$/, args: /^(run|install|x) .*(https?:\/\/|\S+\.\S+\/\S+@)/ },
        { program: /^nix$/, args: /^(run|shell|develop) (?!\.|-)\S/ },
      ],
    }),
  },
  {
    id: "install-unreviewed",
    verdict: "ask",
    severity: "medium",
    alternative: "Install a released version from the registry, into the project.",
    matches: [
      "pip install git+https://github.com/x/y",
      "npm install -g some-tool",
      "npm i https://x.example/a.tgz",
      "cargo install --git https://x/y",
      "pip install --index-url http://x y",
      "gem install x",
      "go install x.com/y@latest",
    ],
    misses: [
      "npm install lodash",
      "pip install -r requirements.txt",
      "yarn add -D vitest",
      "npm ci",
      "pip install requests",
      "cargo build",
    ],
    check: onRows({
      "install code from outside the registry": [
        {
          program: /^(pip[\d.]*|pipenv|uv|poetry|pdm|conda|mamba)$/,
          args: /(^|pip )(install|add)\b/,
          unless:
            /^(?!.*((^| )(git\+|https?:|git:|ssh:|git@)|--(extra-)?index-url|(^| )-i |--break-system-packages|--trusted-host))/,
        },
        {
          program: /^python[\d.]*$/,
          args: /^-m pip install .*(git\+|https?:|--(extra-)?index-url|--break-system-packages)/,
        },
        { program: /^(npm|pnpm|yarn|bun)$/, args: new RegExp(`^(i|install|add)\\b.*${URL.source}`) },
      ],
      "change the programs of the whole machine": [
        {
          program: /^(npm|pnpm|bun)$/,
          args: /^(i|install|add|update|up|uninstall|remove|rm|link)\b.*( -g| --global| --location=global)/,
        },
        { program: /^npm$/, args: /^(-g|--global) (i|install|add|uninstall)/ },
        { program: /^yarn$/, args: /^global (add|remove|upgrade)/ },
        { program: /^gem$/, args: /^(install|update|uninstall)\b/ },
        {
          program: /^(brew|port)$/,
          args: /^(install|reinstall|upgrade|uninstall|remove|rm|tap|cask|services (start|stop|restart))\b/,
        },
      ],
      "use another package registry": [
        {
          program: /^(npm|pnpm|yarn|pip[\d.]*)$/,
          args: /--registry[ =]http|^config set (registry|script-shell|prefix|.*_authToken)/,
        },
      ],
      "install a program for the whole user account": [
        { program: /^cargo$/, args: /^(install|binstall)\b/, unless: /--path|--list/ },
        { program: /^(pipx|uv)$/, args: /^(tool )?install /, unless: /^install -e/ },
        { program: /^go$/, args: /^install \S+@/ },
      ],
      "install an extension": [{ program: /^(code|codium|cursor)$/, args: /--install-extension/ }],
      "install a plugin": [
        { program: /^(helm|krew|kubectl|gh|asdf|mise)$/, args: /^(plugin|krew|extension|ext) (install|add)/ },
      ],
    }),
  },
];
