// Changes that affect other people: clouds, clusters, published packages.

import type { Rule } from "../rule.ts";
import { onRows } from "./tables.ts";

const REMOTE_ENGINE = /^(DOCKER_HOST|CONTAINER_HOST|DOCKER_CONTEXT)$/;

export const sharedRules: readonly Rule[] = [
  {
    id: "change-remote-engine",
    verdict: "ask",
    severity: "high",
    alternative: "Use the container engine of this machine.",
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
        ? { reason: "The command would change containers of another machine." }
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
    check: onRows({
      "change real infrastructure": [
        {
          program: /^(terraform|tofu|terragrunt)$/,
          args: /(^| )(destroy|apply|import|taint|state (rm|mv|push)|force-unlock|workspace delete)( |$)/,
        },
        { program: /^pulumi$/, args: /(^| )(destroy|up|update|refresh|cancel|stack rm|state delete)( |$)/ },
        {
          program: /^(cdk|cdktf|serverless|sls|sst|copilot|eb|amplify|zappa|sam|chalice)$/,
          args: /(^| )(destroy|deploy|remove|delete|terminate|undeploy)( |$)/,
        },
      ],
      "change a cluster": [
        {
          program: /^(kubectl|oc|k)$/,
          // `unless` lists the verbs that only read. Every other verb changes something.
          args: /\S/,
          unless:
            /--dry-run|--context[ =](kind|k3d|minikube|docker-desktop|rancher-desktop|colima|orbstack)|^(-\S+[ =]\S+ |--\S+=\S+ )*(get|describe|logs?|top|explain|api-resources|api-versions|version|cluster-info|diff|auth (can-i|whoami)|config (view|get-\S+|current-context|use-context (?!\S*prod))|port-forward|wait|events|rollout (status|history)|kustomize|completion|plugin|options|krew (list|search|info)|exec|cp|proxy|help|--help|ctx|ns|neat|tree|debug(?! .*\bnode\/))( |$)/,
        },
        {
          program: /^(helm|helmfile)$/,
          args: /(^| )(uninstall|delete|del|rollback|upgrade|install|destroy|sync|apply|push)( |$)/,
          unless: /--dry-run|^diff |^repo |^plugin list/,
        },
      ],
      "change resources of the account": [
        {
          program: /^(aws|awslocal)$/,
          // `unless` lists the actions that only read. Every other action changes something.
          args: /^(--[\w-]+[ =]\S+ )*[a-z][\w-]* [a-z][\w-]*/,
          unless:
            /--dry-?run|--generate-cli-skeleton|--endpoint-url[ =]\S*(localhost|127\.0\.0\.1)|^(--[\w-]+[ =]\S+ )*([\w-]+ (describe|list|get|head|lookup|search|filter|query|scan|batch-get|wait|help|ls|presign|tail|simulate|test|preview|estimate|decode|download|select|validate|assume|check|detect|view|start-query|insights)[\w-]*|configure (list|get)|s3 (ls|cp s3:|sync s3:)|sso (login|logout)|help|ecr-public get)/,
        },
        {
          program: /^(gcloud|gsutil|bq|az|oci|doctl|ibmcloud|linode-cli|hcloud|scw|openstack|aliyun)$/,
          args: /(^| )(delete|delete-\w+|remove|remove-\w+|rm|rb|destroy|purge|stop|terminate|deallocate|deploy|create|create-\w+|update|update-\w+|set-\w+|add-\w+|add|import|reset\S*|restore|failover|restart|start|patch|apply|enable|disable|resize|rotate|undelete|assign|detach\S*|attach\S*|revoke|regenerate|keys create|sql import|ssh)( |$)/,
          unless: /--dry-?run|--what-if|--validate-only/,
        },
      ],
      "change a live deployment": [
        {
          program: /^(heroku|flyctl|fly|vercel|netlify|railway|render|wrangler|firebase|supabase|surge|now)$/,
          args: /(^| )(\S*:?destroy|apps:delete|rm|remove|delete|deploy|up|--prod|config:(set|unset)|secrets (set|put|delete|unset)|secret put|pg:\S+|db:reset|db (reset|push)|sites:delete|hosting:disable|projects:delete|\S+:(delete|remove|scale|restart|stop|rollback|promote|reset)|scale|kv:?\S* (delete|put)|releases rollback|rollback|promote|env (rm|add))( |$)/,
          unless: /--dry-?run|(^| )help( |$)/,
        },
      ],
      "change what other people see or use": [
        {
          program: /^(gh|glab|hub)$/,
          args: /^(repo (delete|archive|rename|edit)|release (delete|create|upload)|pr merge|mr merge|issue transfer|repo create|label delete|ssh-key (add|delete)|gpg-key (add|delete)|cache delete|ruleset|secret (set|delete|remove)|variable delete|issue delete|workflow (disable|run)|run delete|auth (logout|token)|api .*-X ?(DELETE|PUT|POST|PATCH)|api .*--method[ =](DELETE|PUT|POST|PATCH)|gist create)/,
        },
        {
          program: /^(gh|glab)$/,
          args: /^(repo deploy-key (add|delete)|(issue|pr) (close|delete|merge|edit) .*\uFDD0)/,
        },
      ],
      "change shared machines": [
        {
          program:
            /^(ansible|ansible-playbook|salt|knife|chef|puppet|nomad|consul|vault|eksctl|kops|kubeadm|rancher|argocd|flux|istioctl|etcdctl|minikube|kind|k3d|talosctl|rke|k0sctl)$/,
          args: /(^| )(destroy|delete|del|reset|purge|remove|job (stop|run)|system gc|kv (delete|destroy|put|metadata delete)|secrets disable|lease revoke|token revoke|policy delete|write|uninstall|app (delete|sync|rollback)|put|snapshot restore|member remove)( |$)/,
          // Clusters on this machine are disposable.
          unless:
            /--dry-?run|^delete cluster (--name|-n)[ =]\S+$|^cluster delete [\w-]+$|^delete (-p|--profile)[ =]\S+$/,
        },
      ],
      "delete a virtual machine": [
        {
          program: /^(vagrant|multipass|lxc|incus|virsh|VBoxManage|prlctl|orb|colima|limactl)$/,
          args: /(^| )(destroy|delete|undefine|purge|unregistervm .*--delete|vol-delete|pool-destroy|snapshot-delete)( |$)/,
        },
      ],
      "delete shared data": [
        {
          program: /^(rabbitmqctl|kafka-topics(\.sh)?|mongorestore|nats|pulsar-admin)$/,
          args: /(^| )(reset|force_reset|delete_\w+|purge_queue|--delete|--drop|rm|purge)( |$)/,
        },
        {
          program: /^(kafka-\S+|rabbitmqctl|rabbitmqadmin|celery|nats|pulsar-admin)$/,
          args: /(^| )(--delete|--reset-offsets.*--execute|--alter|purge(_queue)?|delete\S*|reset|force_reset|forget_cluster_node|stop_app|--purge)( |$)/i,
        },
      ],
      "change another machine or account": [
        {
          program:
            /^(adb|fastboot|ipmitool|cast|stripe|solana|ldapdelete|ldapmodify|ldapadd|cbt|sqlplus|redfishtool|racadm|esxcli|govc|snmpset|mosquitto_pub|nats)$/,
          args: /(^| )(shell .*\b(rm|wipe|reboot|pm (clear|uninstall)|svc|settings put)\b|uninstall|reboot|-w|erase|flash\w*|format|oem|power|raw|user|sel clear|send|create|delete\w*|dropfamily|-r|transfer|refunds?|pub|vm\.\w+)( |$)|ou=|dc=/,
        },
      ],
      "change shared secrets": [
        {
          program: /^(vault)$/,
          args: /^(operator (?!(members|diagnose|raft list-peers|key-status))|auth (enable|disable)|policy write|token create|audit disable|plugin)/,
        },
      ],
      "change the access rights of a bucket": [
        {
          program: /^gsutil$/,
          args: /(^| )(iam (ch|set)|acl (ch|set)|defacl (ch|set)|setmeta|lifecycle set|versioning set|web set|cors set|mb|rewrite)( |$)/,
        },
      ],
      "direct later commands to production": [{ program: /^gcloud$/, args: /^config set .*prod/ }],
      "change other machines": [
        {
          program:
            /^(pssh|parallel-ssh|pdsh|clush|fab|cap|mina|dokku|kamal|nixops|colmena|morph|bolt|rundeck|rd)$/,
          args: /\S/,
          unless: /--(list|version|help|dry-run)|(^| )(-l|-T|list|logs|ps|status|config)( |$)/,
        },
        {
          program: /^(ansible|ansible-playbook|salt)$/,
          args: /\S/,
          unless:
            /--check|--syntax-check|--list-|--version|(^| )-m (ping|setup|debug|ansible\.builtin\.(ping|setup|debug))( |$)/,
        },
      ],
      "delete data in a bucket": [
        {
          program: /^(rclone|mc|s3cmd|s5cmd|b2|azcopy|gsutil)$/,
          args: /(^| )(purge|delete|deletefile|rmdirs?|rb|rm|remove|del|cleanup|sync|move|settier|bucket delete|delete-bucket|delete-file-version)( |$)/,
          unless: /--dry-run|(^| )-n( |$)/,
        },
      ],
      "delete something on another machine": [
        {
          program: /^(curl|https?|xh)$/,
          args: /(^| )(-X ?|--request[ =])?DELETE( |$)/,
          unless: /(localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0|(^| ):\d+)/,
        },
      ],
      "change containers on another machine": [
        {
          program: /^(docker|podman|nerdctl|docker-compose)$/,
          args: /^(-H|--host|--context|-c)[ =](?!unix:|default|desktop-linux)/,
          unless: /(^| )(ps|images|logs|info|version|inspect|stats|top|ls)( |$)/,
        },
      ],
    }),
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
    check: onRows({
      "publish or change a package for all its users": [
        {
          program: /^(npm|pnpm|bun|lerna|changeset|np|semantic-release|release-it)$/,
          args: /^(-\S+ )*(publish|unpublish|deprecate|dist-tag (add|rm)|owner|access|token|star|hook)( |$)/,
          unless: /--dry-run/,
        },
      ],
      "publish a package": [
        { program: /^(semantic-release|release-it|np)$/, args: /(?:)/, unless: /--dry-run|(^| )-d( |$)/ },
        { program: /^yarn$/, args: /^(npm )?publish( |$)/, unless: /--dry-run|-n( |$)/ },
        {
          program: /^(twine|flit|hatch|poetry|uv|pdm|maturin)$/,
          args: /^(upload|publish)( |$)/,
          unless: /--dry-run/,
        },
        { program: /^python3?$/, args: /-m twine upload|setup\.py .*upload/ },
        { program: /^(dotnet|nuget)$/, args: /^(nuget )?(push|delete)( |$)/ },
      ],
      "publish a crate": [{ program: /^cargo$/, args: /^(publish|yank|owner)( |$)/, unless: /--dry-run/ }],
      "publish a gem": [{ program: /^gem$/, args: /^(push|yank|owner)( |$)/ }],
      "publish an image": [
        {
          program: /^(docker|podman|nerdctl|buildah|skopeo|crane|oras)$/,
          args: /^(image )?(push|manifest push|buildx build .*--push|copy|delete)|--push( |$)/,
        },
      ],
      "publish an artifact": [
        {
          program: /^(mvn|mvnw|gradle|gradlew)$/,
          args: /(^| |:)(deploy|publish(?!ToMavenLocal)\w*|release:perform|release|uploadArchives|closeAndRelease\w*|bintrayUpload)( |$)/,
          unless: /--dry-run|(^| )-m( |$)/,
        },
      ],
      "publish a site": [
        {
          program: /^(gh-pages|mkdocs|mike|ghp-import|angular-cli-ghpages|surge)$/,
          args: /(^| )(gh-deploy|deploy|-p|--push)( |$)|^(-d|\.\/)/,
        },
      ],
      "send a message to other people": [
        {
          program: /^(curl|wget|https?|xh)$/,
          args: /hooks\.slack\.com\/|discord(app)?\.com\/api\/webhooks|api\.telegram\.org\/bot|outlook\.office\.com\/webhook|chat\.googleapis\.com/,
        },
      ],
      "deploy the pushed code": [
        { program: /^git$/, args: /^push (heroku|dokku|production|prod|live|deploy)( |$)/ },
      ],
      "publish a release": [
        {
          program:
            /^(vsce|ovsx|sbt|dart|flutter|hf|huggingface-cli|anaconda|svn|web-ext|jsr|deno|wally|pod|swift|expo|eas|fastlane|snapcraft|flatpak|goreleaser|helm|composer|mix|luarocks|conan|opam|stack|cabal)$/,
          args: /^(-\S+ )*(publish\w*|pub publish|ci-release|upload|push|submit|release|commit|ci|import|trunk push|hex\.publish|hex publish|supply|deliver|pilot)( |$)/,
          unless: /--dry-run|--snapshot/,
        },
      ],
    }),
  },
];
