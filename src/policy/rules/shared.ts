// Changes that affect other people: clouds, clusters, published packages.

import type { Rule } from "../rule.ts";
import { onRows } from "./tables.ts";

const REMOTE_ENGINE = /^(DOCKER_HOST|CONTAINER_HOST|DOCKER_CONTEXT)$/;

export const sharedRules: readonly Rule[] = [
  {
    id: "change-remote-engine",
    verdict: "ask",
    severity: "high",
    alternative: "Run it against the engine of this machine.",
    programs: /^(docker|podman|nerdctl|docker-compose)$/,
    matches: ["DOCKER_HOST=ssh://root@prod docker compose up -d"],
    misses: [
      "DOCKER_HOST=ssh://prod docker ps",
      "DOCKER_HOST=unix:///run/user/1000/docker.sock docker run x",
    ],
    check: ({ assignments, args }) =>
      assignments.some(({ name, value }) => REMOTE_ENGINE.test(name) && !/^(unix:|default|$)/.test(value)) &&
      !/^(ps|images|logs|info|version|inspect|stats|top|ls)$/.test(
        args.find(({ text }) => !text.startsWith("-"))?.text ?? "ps",
      )
        ? { reason: "The containers of another machine would change." }
        : null,
  },
  {
    id: "change-infrastructure",
    verdict: "ask",
    severity: "high",
    alternative: "Show the plan first (terraform plan, kubectl diff, --dry-run) and let the user apply it.",
    matches: [
      "terraform destroy -auto-approve",
      "terraform apply -auto-approve",
      "kubectl delete namespace prod",
      "helm uninstall app",
      "aws ec2 terminate-instances --instance-ids i-1",
      "gcloud projects delete p",
      "pulumi destroy --yes",
      "gh repo delete x",
    ],
    misses: [
      "terraform plan",
      "kubectl get pods",
      "aws s3 ls",
      "helm list",
      "gcloud projects list",
      "kubectl delete pod x --dry-run=client",
    ],
    check: onRows([
      {
        program: /^(terraform|tofu|terragrunt)$/,
        args: /(^| )(destroy|apply|import|taint|state (rm|mv|push)|force-unlock|workspace delete)( |$)/,
        does: "change real infrastructure",
      },
      {
        program: /^pulumi$/,
        args: /(^| )(destroy|up|update|refresh|cancel|stack rm|state delete)( |$)/,
        does: "change real infrastructure",
      },
      {
        program: /^(cdk|cdktf|serverless|sls|sst|copilot|eb|amplify|zappa|sam|chalice)$/,
        args: /(^| )(destroy|deploy|remove|delete|terminate|undeploy)( |$)/,
        does: "change real infrastructure",
      },
      {
        program: /^(kubectl|oc|k)$/,
        // What only reads is known; every other verb changes something.
        args: /\S/,
        unless:
          /--dry-run|--context[ =](kind|k3d|minikube|docker-desktop|rancher-desktop|colima|orbstack)|^(-\S+[ =]\S+ |--\S+=\S+ )*(get|describe|logs?|top|explain|api-resources|api-versions|version|cluster-info|diff|auth (can-i|whoami)|config (view|get-\S+|current-context|use-context (?!\S*prod))|port-forward|wait|events|rollout (status|history)|kustomize|completion|plugin|options|krew (list|search|info)|exec|cp|proxy|help|--help|ctx|ns|neat|tree|debug(?! .*\bnode\/))( |$)/,
        does: "change a cluster",
      },
      {
        program: /^(helm|helmfile)$/,
        args: /(^| )(uninstall|delete|del|rollback|upgrade|install|destroy|sync|apply|push)( |$)/,
        unless: /--dry-run|^diff |^repo |^plugin list/,
        does: "change a cluster",
      },
      {
        program: /^(aws|awslocal)$/,
        // What only reads is known; every other action changes something.
        args: /^(--[\w-]+[ =]\S+ )*[a-z][\w-]* [a-z][\w-]*/,
        unless:
          /--dry-?run|--generate-cli-skeleton|--endpoint-url[ =]\S*(localhost|127\.0\.0\.1)|^(--[\w-]+[ =]\S+ )*([\w-]+ (describe|list|get|head|lookup|search|filter|query|scan|batch-get|wait|help|ls|presign|tail|simulate|test|preview|estimate|decode|download|select|validate|assume|check|detect|view|start-query|insights)[\w-]*|configure (list|get)|s3 (ls|cp s3:|sync s3:)|sso (login|logout)|help|ecr-public get)/,
        does: "change resources of the account",
      },
      {
        program: /^(gcloud|gsutil|bq|az|oci|doctl|ibmcloud|linode-cli|hcloud|scw|openstack|aliyun)$/,
        args: /(^| )(delete|delete-\w+|remove|remove-\w+|rm|rb|destroy|purge|stop|terminate|deallocate|deploy|create|create-\w+|update|update-\w+|set-\w+|add-\w+|add|import|reset\S*|restore|failover|restart|start|patch|apply|enable|disable|resize|rotate|undelete|assign|detach\S*|attach\S*|revoke|regenerate|keys create|sql import|ssh)( |$)/,
        unless: /--dry-?run|--what-if|--validate-only/,
        does: "change resources of the account",
      },
      {
        program: /^(heroku|flyctl|fly|vercel|netlify|railway|render|wrangler|firebase|supabase|surge|now)$/,
        args: /(^| )(\S*:?destroy|apps:delete|rm|remove|delete|deploy|up|--prod|config:(set|unset)|secrets (set|put|delete|unset)|secret put|pg:\S+|db:reset|db (reset|push)|sites:delete|hosting:disable|projects:delete|\S+:(delete|remove|scale|restart|stop|rollback|promote|reset)|scale|kv:?\S* (delete|put)|releases rollback|rollback|promote|env (rm|add))( |$)/,
        unless: /--dry-?run|(^| )help( |$)/,
        does: "change a live deployment",
      },
      {
        program: /^(gh|glab|hub)$/,
        args: /^(repo (delete|archive|rename|edit)|release (delete|create|upload)|pr merge|mr merge|issue transfer|repo create|label delete|ssh-key (add|delete)|gpg-key (add|delete)|cache delete|ruleset|secret (set|delete|remove)|variable delete|issue delete|workflow (disable|run)|run delete|auth (logout|token)|api .*-X ?(DELETE|PUT|POST|PATCH)|api .*--method[ =](DELETE|PUT|POST|PATCH)|gist create)/,
        does: "change what other people see or use",
      },
      {
        program:
          /^(ansible|ansible-playbook|salt|knife|chef|puppet|nomad|consul|vault|eksctl|kops|kubeadm|rancher|argocd|flux|istioctl|etcdctl|minikube|kind|k3d|talosctl|rke|k0sctl)$/,
        args: /(^| )(destroy|delete|del|reset|purge|remove|job (stop|run)|system gc|kv (delete|destroy|put|metadata delete)|secrets disable|lease revoke|token revoke|policy delete|write|uninstall|app (delete|sync|rollback)|put|snapshot restore|member remove)( |$)/,
        // A cluster on this machine is made to be thrown away.
        unless:
          /--dry-?run|^delete cluster (--name|-n)[ =]\S+$|^cluster delete [\w-]+$|^delete (-p|--profile)[ =]\S+$/,
        does: "change shared machines",
      },
      {
        program: /^(vagrant|multipass|lxc|incus|virsh|VBoxManage|prlctl|orb|colima|limactl)$/,
        args: /(^| )(destroy|delete|undefine|purge|unregistervm .*--delete|vol-delete|pool-destroy|snapshot-delete)( |$)/,
        does: "delete a virtual machine",
      },
      {
        program: /^(rabbitmqctl|kafka-topics(\.sh)?|mongorestore|nats|pulsar-admin)$/,
        args: /(^| )(reset|force_reset|delete_\w+|purge_queue|--delete|--drop|rm|purge)( |$)/,
        does: "delete shared data",
      },
      {
        program:
          /^(adb|fastboot|ipmitool|cast|stripe|solana|ldapdelete|ldapmodify|ldapadd|cbt|sqlplus|redfishtool|racadm|esxcli|govc|snmpset|mosquitto_pub|nats)$/,
        args: /(^| )(shell .*\b(rm|wipe|reboot|pm (clear|uninstall)|svc|settings put)\b|uninstall|reboot|-w|erase|flash\w*|format|oem|power|raw|user|sel clear|send|create|delete\w*|dropfamily|-r|transfer|refunds?|pub|vm\.\w+)( |$)|ou=|dc=/,
        does: "change another machine or account",
      },
      {
        program: /^(vault)$/,
        args: /^(operator (?!(members|diagnose|raft list-peers|key-status))|auth (enable|disable)|policy write|token create|audit disable|plugin)/,
        does: "change shared secrets",
      },
      {
        program: /^gsutil$/,
        args: /(^| )(iam (ch|set)|acl (ch|set)|defacl (ch|set)|setmeta|lifecycle set|versioning set|web set|cors set|mb|rewrite)( |$)/,
        does: "change who may read a bucket",
      },
      { program: /^gcloud$/, args: /^config set .*prod/, does: "direct later commands to production" },
      {
        program: /^(gh|glab)$/,
        args: /^(repo deploy-key (add|delete)|(issue|pr) (close|delete|merge|edit) .*\uFDD0)/,
        does: "change what other people see or use",
      },
      {
        program:
          /^(pssh|parallel-ssh|pdsh|clush|fab|cap|mina|dokku|kamal|nixops|colmena|morph|bolt|rundeck|rd)$/,
        args: /\S/,
        unless: /--(list|version|help|dry-run)|(^| )(-l|-T|list|logs|ps|status|config)( |$)/,
        does: "change other machines",
      },
      {
        program: /^(rclone|mc|s3cmd|s5cmd|b2|azcopy|gsutil)$/,
        args: /(^| )(purge|delete|deletefile|rmdirs?|rb|rm|remove|del|cleanup|sync|move|settier|bucket delete|delete-bucket|delete-file-version)( |$)/,
        unless: /--dry-run|(^| )-n( |$)/,
        does: "delete data in a bucket",
      },
      {
        program: /^(curl|https?|xh)$/,
        args: /(^| )(-X ?|--request[ =])?DELETE( |$)/,
        unless: /(localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0|(^| ):\d+)/,
        does: "delete something on another machine",
      },
      {
        program: /^(docker|podman|nerdctl|docker-compose)$/,
        args: /^(-H|--host|--context|-c)[ =](?!unix:|default|desktop-linux)/,
        unless: /(^| )(ps|images|logs|info|version|inspect|stats|top|ls)( |$)/,
        does: "change containers on another machine",
      },
      {
        program: /^(kafka-\S+|rabbitmqctl|rabbitmqadmin|celery|nats|pulsar-admin)$/,
        args: /(^| )(--delete|--reset-offsets.*--execute|--alter|purge(_queue)?|delete\S*|reset|force_reset|forget_cluster_node|stop_app|--purge)( |$)/i,
        does: "delete shared data",
      },
      {
        program: /^(ansible|ansible-playbook|salt)$/,
        args: /\S/,
        unless:
          /--check|--syntax-check|--list-|--version|(^| )-m (ping|setup|debug|ansible\.builtin\.(ping|setup|debug))( |$)/,
        does: "change other machines",
      },
    ]),
  },
  {
    id: "publish",
    verdict: "ask",
    severity: "high",
    alternative: "Try it first with --dry-run, and let the user publish.",
    matches: [
      "npm publish",
      "cargo publish",
      "twine upload dist/*",
      "gem push x.gem",
      "docker push x/y",
      "poetry publish",
      "npm unpublish x",
      "yarn npm publish",
    ],
    misses: [
      "npm pack",
      "npm run publish-docs-check",
      "cargo publish --dry-run",
      "docker pull x",
      "npm publish --dry-run",
    ],
    check: onRows([
      {
        program: /^(npm|pnpm|bun|lerna|changeset|np|semantic-release|release-it)$/,
        args: /^(-\S+ )*(publish|unpublish|deprecate|dist-tag (add|rm)|owner|access|token|star|hook)( |$)/,
        unless: /--dry-run/,
        does: "publish or change a package for all its users",
      },
      {
        program: /^(semantic-release|release-it|np)$/,
        args: /(?:)/,
        unless: /--dry-run|(^| )-d( |$)/,
        does: "publish a package",
      },
      {
        program: /^yarn$/,
        args: /^(npm )?publish( |$)/,
        unless: /--dry-run|-n( |$)/,
        does: "publish a package",
      },
      {
        program: /^cargo$/,
        args: /^(publish|yank|owner)( |$)/,
        unless: /--dry-run/,
        does: "publish a crate",
      },
      {
        program: /^(twine|flit|hatch|poetry|uv|pdm|maturin)$/,
        args: /^(upload|publish)( |$)/,
        unless: /--dry-run/,
        does: "publish a package",
      },
      { program: /^python3?$/, args: /-m twine upload|setup\.py .*upload/, does: "publish a package" },
      { program: /^gem$/, args: /^(push|yank|owner)( |$)/, does: "publish a gem" },
      {
        program: /^(docker|podman|nerdctl|buildah|skopeo|crane|oras)$/,
        args: /^(image )?(push|manifest push|buildx build .*--push|copy|delete)|--push( |$)/,
        does: "publish an image",
      },
      {
        program: /^(mvn|mvnw|gradle|gradlew)$/,
        args: /(^| |:)(deploy|publish(?!ToMavenLocal)\w*|release:perform|release|uploadArchives|closeAndRelease\w*|bintrayUpload)( |$)/,
        unless: /--dry-run|(^| )-m( |$)/,
        does: "publish an artifact",
      },
      {
        program: /^(gh-pages|mkdocs|mike|ghp-import|angular-cli-ghpages|surge)$/,
        args: /(^| )(gh-deploy|deploy|-p|--push)( |$)|^(-d|\.\/)/,
        does: "publish a site",
      },
      {
        program: /^(curl|wget|https?|xh)$/,
        args: /hooks\.slack\.com\/|discord(app)?\.com\/api\/webhooks|api\.telegram\.org\/bot|outlook\.office\.com\/webhook|chat\.googleapis\.com/,
        does: "send a message to other people",
      },
      {
        program: /^git$/,
        args: /^push (heroku|dokku|production|prod|live|deploy)( |$)/,
        does: "deploy what it pushes",
      },
      { program: /^(dotnet|nuget)$/, args: /^(nuget )?(push|delete)( |$)/, does: "publish a package" },
      {
        program:
          /^(vsce|ovsx|sbt|dart|flutter|hf|huggingface-cli|anaconda|svn|web-ext|jsr|deno|wally|pod|swift|expo|eas|fastlane|snapcraft|flatpak|goreleaser|helm|composer|mix|luarocks|conan|opam|stack|cabal)$/,
        args: /^(-\S+ )*(publish\w*|pub publish|ci-release|upload|push|submit|release|commit|ci|import|trunk push|hex\.publish|hex publish|supply|deliver|pilot)( |$)/,
        unless: /--dry-run|--snapshot/,
        does: "publish a release",
      },
    ]),
  },
];
