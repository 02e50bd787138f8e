// The paths where programs store keys, tokens, sessions and histories. The policy's class `secret` and the sandbox's
// masks both use this list, so the sandbox hides exactly the files that the policy asks about. Pure data, because the
// policy imports it.
//
// Only fixed paths are listed. A file that can be in any directory (`.env`, `*.pem`) is neither classed nor masked: a
// mask needs a path, and even a search of the whole disk before every command would miss a file that is created a
// second later. Name such files in `hide`. /proc/PID/environ is not listed either: the policy recognizes such paths by
// their form, and in the sandbox a PID namespace hides other processes.
//
// Each entry lists the secret itself, not the directory of the program that uses it, because programs such as Cargo,
// Gradle or Claude Code must still find their caches and settings. A whole directory is listed only if no command needs
// anything in it.

import { type ListedPath, listedPaths, type PathTable } from "./listed-paths.ts";

/**
 * Credential files that also configure a program: they can make the program run something, or talk to another server.
 * In a writable home directory, the sandbox also prevents a command from creating such a path. Otherwise the program
 * would use the command's file the next time that the person runs it.
 */
const STEERING: PathTable = {
  ssh: ".ssh/",
  GnuPG: ".gnupg/",
  "password store": ".password-store/",
  AWS: ".aws/",
  Azure: ".azure/",
  "Google Cloud": ".config/gcloud/",
  Kubernetes: ".kube/",
  Docker: ".docker/config.json, .docker/contexts/",
  Podman: ".config/containers/auth.json",
  "GitHub CLI": ".config/gh/",
  "1Password CLI": ".config/op/, .op/",
  netrc: ".netrc",
  npm: ".npmrc",
  Yarn: ".yarnrc.yml",
  PyPI: ".pypirc",
  git: ".git-credentials, .config/git/credentials",
  PostgreSQL: ".pgpass",
  MongoDB: ".mongorc.js, .mongoshrc.js",
  MySQL: ".my.cnf",
  Cargo: ".cargo/credentials.toml, .cargo/credentials",
  Terraform: ".terraformrc",
  Bundler: ".bundle/config",
  NuGet: ".nuget/NuGet/NuGet.Config, .config/NuGet/NuGet.Config",
  Maven: ".m2/settings.xml, .m2/settings-security.xml",
  Gradle: ".gradle/gradle.properties",
  "Claude Code": ".claude.json",
  Cursor: ".cursor/mcp.json",
};

const KEPT: PathTable = {
  keyrings:
    ".local/share/keyrings/, .local/share/kwalletd/, .gnome2/keyrings/, .local/share/python_keyring/, Library/Keychains/",
  "password managers":
    ".config/1Password/, .config/Bitwarden/, .config/Bitwarden CLI/, .config/gopass/, .local/share/gopass/, .local/share/lpass/, .config/keepassxc/, .cache/keepassxc/, .google_authenticator, .config/Yubico/, .authinfo, .authinfo.gpg",
  age: ".config/sops/age/, .config/age/",

  "Claude Code": ".claude/.credentials.json, .claude/.claude.json, .claude/history.jsonl, .config/Claude/",
  Codex: ".codex/auth.json, .codex/.credentials.json, .codex/history.jsonl",
  Gemini:
    ".gemini/oauth_creds.json, .gemini/google_accounts.json, .gemini/gemini-credentials.json, .gemini/mcp-oauth-tokens.json, .gemini/mcp-oauth-tokens-v2.json, .gemini/.env",
  opencode: ".local/share/opencode/auth.json, .local/share/opencode/mcp-auth.json",
  Cursor:
    ".config/cursor/auth.json, .cursor/auth.json, .cursor/cli-config.json, .config/Cursor/User/globalStorage/",
  Copilot: ".config/github-copilot/, .copilot/config.json, .copilot/mcp-config.json",
  "VS Code": ".config/Code/User/globalStorage/state.vscdb, .config/VSCodium/User/globalStorage/state.vscdb",
  "other agents":
    ".qwen/oauth_creds.json, .config/goose/secrets.yaml, .local/share/amp/secrets.json, .factory/auth.json, .continue/.env, .aider/oauth-keys.env, .codeium/config.json, .local/share/amazon-q/data.sqlite3, .local/share/crush/crush.json, .config/io.datasette.llm/keys.json, .continue/config.json, .continue/config.yaml, .openai/, .config/openai/, .anthropic/, .config/anthropic/, .mcp-auth/, .augment/session.json, .cline/data/secrets.json, .grok/user-settings.json, .config/Windsurf/User/globalStorage/, .ollama/id_ed25519",
  "Hugging Face":
    ".cache/huggingface/token, .cache/huggingface/stored_tokens, .huggingface/token, .kaggle/kaggle.json",
  "machine learning":
    ".config/wandb/, .modal.toml, .lightning/credentials.json, .runpod/, .vast_api_key, .config/vastai/, .comet.config, .mlflow/credentials, .ngc/config, .config/earthengine/, .cdsapirc",
  Jupyter:
    ".jupyter/jupyter_server_config.json, .jupyter/jupyter_server_config.py, .jupyter/jupyter_notebook_config.json, .jupyter/jupyter_notebook_config.py, .local/share/jupyter/runtime/",

  hub: ".config/hub",
  forges: ".config/glab-cli/, .config/tea/, .config/berg/, .config/hut/",
  "other version control":
    ".subversion/auth/, .bazaar/authentication.conf, .config/breezy/authentication.conf, .cvspass",
  "continuous integration": ".circleci/cli.yml, .travis/config.yml, .config/bk.yaml",
  Docker: ".docker/machine/, .docker/trust/, .docker/key.pem, .docker/.token_seed",
  Helm: ".config/helm/registry/, .config/argocd/, .argocd/, .talos/, .rancher/cli2.json",
  minikube:
    ".minikube/ca.key, .minikube/client.key, .minikube/proxy-client-ca.key, .minikube/certs/, .minikube/profiles/, .minikube/machines/",
  "virtual machines": ".vagrant.d/insecure_private_key, .vagrant.d/data/, .lima/_config/user",
  rclone: ".config/rclone/, .rclone.conf",
  Vault: ".vault-token",
  "secret managers": ".doppler/, .infisical/, .akeyless/, .consul-token, .config/hcp/",
  Ansible:
    ".ansible/vault_pass, .ansible/vault_pass.txt, .ansible/galaxy_token, .vault_pass, .vault_pass.txt, .vault-pass",
  Chef: ".chef/",
  "single sign-on": ".awsvault/, .saml2aws, .okta/, .okta_aws_login_config, .granted/, .tsh/, .globus/",
  certificates: ".step/secrets/, .local/share/mkcert/rootCA-key.pem, .pki/, .keystore",
  Terraform: ".terraform.d/credentials.tfrc.json",
  Pulumi: ".pulumi/credentials.json, .config/pulumi/",
  "cloud CLIs":
    ".config/doctl/, .oci/, .bluemix/, .aliyun/, .tccli/, .hcloud/, .config/hcloud/, .config/scw/, .config/linode-cli, .config/openstack/, .config/exoscale/, .config/ovhcloud-cli/, .ovh.conf, .vultr-cli.yaml, .config/vultr-cli.yaml, .civo.json, .yc/, .config/yandex-cloud/",
  hosting:
    ".fly/config.yml, .local/share/com.vercel.cli/auth.json, .config/com.vercel.cli/auth.json, .vercel/auth.json, .now/auth.json, .config/netlify/config.json, .netlify/config.json, .config/.wrangler/, .wrangler/config/, .cloudflared/, .railway/config.json, .supabase/access-token, .config/configstore/firebase-tools.json, .config/stripe/, .config/ngrok/, .ngrok2/, .config/heroku/, .appwrite/, .render/, .expo/state.json, .config/configstore/snyk.json, .clasprc.json, .convex/config.json, .deta/tokens, .config/turso/, .config/planetscale/, .config/neonctl/, .config/asciinema/",
  storage:
    ".s3cfg, .boto, .gsutil/, .mc/config.json, .b2_account_info, .config/b2/, .dropbox_uploader, .dropbox/, .config/onedrive/, .config/Nextcloud/, .config/borg/keys/, .config/borg/security/, .config/syncthing/, .local/state/syncthing/, .ipfs/config, .ipfs/keystore/",
  "data platforms": ".databrickscfg, .snowflake/, .snowsql/, .dbt/profiles.yml, .influxdbv2/configs",
  databases:
    ".mylogin.cnf, .pg_service.conf, .odbc.ini, .cassandra/credentials, .mongodb/, .local/share/DBeaverData/",
  gem: ".gem/credentials, .local/share/gem/credentials",
  packages:
    ".composer/auth.json, .config/composer/auth.json, .config/pypoetry/auth.toml, .hex/hex.config, .sbt/.credentials, .ivy2/.credentials, .config/dart/pub-credentials.json, .pub-cache/credentials.json, .conan/.conan.db, .conan2/.conan.db, .conan2/credentials.json, .sentryclirc, .conda/.anaconda.com/, .continuum/, .jfrog/, .local/share/uv/credentials/, .luarocks/upload_config.lua, .pause",
  ".NET": ".microsoft/usersecrets/, .aspnet/DataProtection-Keys/, .local/share/.IdentityService/",
  Android: ".android/adbkey",
  "HTTP clients": ".config/httpie/, .httpie/, .config/Postman/, .config/Insomnia/",
  mail: ".msmtprc, .fetchmailrc, .mailrc, .thunderbird/, .config/evolution/, .config/msmtp/, .mbsyncrc, .config/isyncrc, .offlineimaprc, .getmail/, .config/aerc/accounts.conf, .config/himalaya/",
  "file shares":
    ".smbcredentials, .davfs2/secrets, .config/filezilla/, .filezilla/, .config/remmina/, .vnc/passwd, .lftp/, .lftprc, .local/share/lftp/",
  "remote logins": ".putty/, .config/putty/, .Xauthority, .ICEauthority, .rhosts, .shosts",
  chat: ".config/Slack/, .config/discord/, .config/Signal/, .local/share/TelegramDesktop/, .config/Element/, .local/share/signal-cli/, .purple/, .config/weechat/sec.conf, .weechat/sec.conf, .irssi/config, .config/toot/",

  Chrome:
    ".config/google-chrome/, .config/google-chrome-beta/, .config/google-chrome-unstable/, .var/app/com.google.Chrome/, Library/Application Support/Google/Chrome/",
  Chromium:
    ".config/chromium/, snap/chromium/common/, .var/app/org.chromium.Chromium/, Library/Application Support/Chromium/",
  Firefox:
    ".mozilla/, snap/firefox/common/.mozilla/, .var/app/org.mozilla.firefox/, .librewolf/, .waterfox/, .zen/, Library/Application Support/Firefox/",
  Brave:
    ".config/BraveSoftware/, .var/app/com.brave.Browser/, snap/brave/, Library/Application Support/BraveSoftware/",
  Edge: ".config/microsoft-edge/, .config/microsoft-edge-beta/, .config/microsoft-edge-dev/, .var/app/com.microsoft.Edge/, Library/Application Support/Microsoft Edge/",
  "other browsers":
    ".config/vivaldi/, .config/opera/, .local/share/qutebrowser/, Library/Safari/, Library/Cookies/, Library/Application Support/Arc/",

  wallets:
    ".bitcoin/, .litecoin/, .dogecoin/, .dashcore/, .zcash/, .bitmonero/, Monero/wallets/, .electrum/, .ethereum/keystore/, .local/share/io.parity.ethereum/keys/, .foundry/keystores/, .brownie/accounts/, .config/solana/, .sui/, .aptos/, .near-credentials/, .cosmos/, .gaia/, .cardano/, .config/Exodus/, .config/Ledger Live/, .config/atomic/, .config/MetaMask/, .local/share/Bisq/",

  "shell histories":
    ".bash_history, .bash_sessions/, .zsh_history, .zsh_sessions/, .zhistory, .histfile, .sh_history, .ksh_history, .mksh_history, .history, .tcsh_history, .local/share/fish/fish_history, .config/nushell/history.txt, .config/nushell/history.sqlite3, .local/share/powershell/PSReadLine/, .local/share/xonsh/, .local/share/atuin/, .local/share/mcfly/",
  "REPL histories":
    ".python_history, .ipython/profile_default/history.sqlite, .node_repl_history, .irb_history, .local/share/irb/, .pry_history, .local/share/pry/, .php_history, .Rhistory, .julia/logs/repl_history.jl, .ghc/ghci_history, .local/share/ghc/ghci_history, .scala_history, .ammonite/history, .deno/deno_history.txt, .lua_history, .erlang-history/, .gdb_history, .lldb/lldb-widehistory, .octave_hist",
  "database histories":
    ".psql_history, .mysql_history, .mariadb_history, .sqlite_history, .rediscli_history, .dbshell, .influx_history, .cassandra/cqlsh_history, .usql_history, .clickhouse-client-history, .duckdb_history, .mycli-history, .config/pgcli/history, .config/litecli/history, .sqlcmd_history, .snowsql_history, .cypher_shell_history, .neo4j/.cypher_shell_history",
  "other histories": ".lesshst, .calc_history, .units_history",
};

const OF_THE_MACHINE: PathTable = {
  accounts: "etc/shadow, etc/shadow-, etc/gshadow, etc/gshadow-, etc/security/opasswd, etc/sudoers",
  "host keys":
    "etc/ssh/ssh_host_rsa_key, etc/ssh/ssh_host_ecdsa_key, etc/ssh/ssh_host_ed25519_key, etc/ssh/ssh_host_dsa_key",
  "private keys":
    "etc/ssl/private/, etc/pki/tls/private/, etc/pki/private/, etc/letsencrypt/live/, etc/letsencrypt/archive/, etc/letsencrypt/keys/, etc/letsencrypt/accounts/",
  networks:
    "etc/NetworkManager/system-connections/, etc/wireguard/, etc/wpa_supplicant/, etc/ppp/chap-secrets, etc/ppp/pap-secrets, etc/ipsec.secrets, etc/openvpn/client/, var/lib/iwd/",
  Kerberos: "etc/krb5.keytab",
  Kubernetes:
    "etc/kubernetes/admin.conf, etc/kubernetes/super-admin.conf, etc/kubernetes/pki/, etc/rancher/k3s/k3s.yaml, var/lib/kubelet/pki/",
  MySQL: "etc/mysql/debian.cnf",
};

/**
 * Directories in nacre's state root: the approval requests, and the files with the token of the page. A command that
 * knows the token can approve itself. The sandbox masks the whole state root, so these need no mask of their own.
 */
export const STATE_CREDENTIALS: readonly string[] = ["approvals", "ui"];

/** Credentials in every home directory that commands must not create either. */
export const STEERING_CREDENTIALS: readonly ListedPath[] = listedPaths(STEERING);

/** Credentials in every home directory. */
export const HOME_CREDENTIALS: readonly ListedPath[] = [...STEERING_CREDENTIALS, ...listedPaths(KEPT)];

/** Credentials below the root of the file system. */
export const MACHINE_CREDENTIALS: readonly ListedPath[] = listedPaths(OF_THE_MACHINE);

/**
 * Variables that move a path, with the default path. For each path below the default, the list also has the same path
 * below the variable's value.
 */
export const RELOCATIONS: Readonly<Record<string, string>> = {
  XDG_CONFIG_HOME: ".config",
  XDG_DATA_HOME: ".local/share",
  XDG_CACHE_HOME: ".cache",
  AWS_SHARED_CREDENTIALS_FILE: ".aws",
  AWS_CONFIG_FILE: ".aws",
  ANSIBLE_VAULT_PASSWORD_FILE: ".ansible/vault_pass",
  AZURE_CONFIG_DIR: ".azure",
  BOTO_CONFIG: ".boto",
  BUNDLE_USER_CONFIG: ".bundle/config",
  CARGO_HOME: ".cargo",
  CLAUDE_CONFIG_DIR: ".claude",
  CLOUDSDK_CONFIG: ".config/gcloud",
  CODEX_HOME: ".codex",
  DATABRICKS_CONFIG_FILE: ".databrickscfg",
  DOCKER_CONFIG: ".docker",
  GH_CONFIG_DIR: ".config/gh",
  GLAB_CONFIG_DIR: ".config/glab-cli",
  GNUPGHOME: ".gnupg",
  GOOGLE_APPLICATION_CREDENTIALS: ".config/gcloud",
  GRADLE_USER_HOME: ".gradle",
  HF_HOME: ".cache/huggingface",
  HISTFILE: ".bash_history",
  JUPYTER_CONFIG_DIR: ".jupyter",
  JUPYTER_RUNTIME_DIR: ".local/share/jupyter/runtime",
  KAGGLE_CONFIG_DIR: ".kaggle",
  KUBECONFIG: ".kube",
  MYSQL_HISTFILE: ".mysql_history",
  NETRC: ".netrc",
  NODE_REPL_HISTORY: ".node_repl_history",
  NPM_CONFIG_USERCONFIG: ".npmrc",
  OCI_CLI_CONFIG_FILE: ".oci",
  PASSWORD_STORE_DIR: ".password-store",
  PGPASSFILE: ".pgpass",
  PGSERVICEFILE: ".pg_service.conf",
  PSQL_HISTORY: ".psql_history",
  PULUMI_HOME: ".pulumi",
  PYTHON_HISTORY: ".python_history",
  RCLONE_CONFIG: ".config/rclone",
  REGISTRY_AUTH_FILE: ".config/containers/auth.json",
  SNOWFLAKE_HOME: ".snowflake",
  SOPS_AGE_KEY_FILE: ".config/sops/age",
  SQLITE_HISTORY: ".sqlite_history",
  TF_CLI_CONFIG_FILE: ".terraformrc",
  WANDB_CONFIG_DIR: ".config/wandb",
  npm_config_userconfig: ".npmrc",
};
