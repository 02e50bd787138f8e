// Changes that affect other people: clouds, clusters, published packages.

import type { Rule } from "../rule.ts";
import { onRows } from "./tables.ts";

export const sharedRules: readonly Rule[] = [
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
        args: /(^| )(delete|drain|cordon|replace|scale|rollout (undo|restart)|patch|apply|taint|edit|evict)( |$)/,
        unless: /--dry-run|(^| )auth can-i /,
        does: "change a cluster",
      },
      {
        program: /^(helm|helmfile)$/,
        args: /(^| )(uninstall|delete|del|rollback|upgrade|install|destroy|sync|apply|push)( |$)/,
        unless: /--dry-run|^diff /,
        does: "change a cluster",
      },
      {
        program: /^(aws|awslocal)$/,
        args: /(^| )(terminate-|delete-|deregister-|stop-|remove-|purge-|revoke-|put-|update-|create-|modify-|reboot-|s3 (rb|rm|mv|sync)|s3api delete)/,
        does: "change resources of the account",
      },
      {
        program: /^(gcloud|gsutil|bq|az|oci|doctl|ibmcloud|linode-cli|hcloud|scw|openstack|aliyun)$/,
        args: /(^| )(delete|delete-\w+|remove|rm|rb|destroy|purge|stop|terminate|deallocate|deploy|keys create)( |$)/,
        does: "change resources of the account",
      },
      {
        program: /^(heroku|flyctl|fly|vercel|netlify|railway|render|wrangler|firebase|supabase|surge|now)$/,
        args: /(^| )(\S*:?destroy|apps:delete|rm|remove|delete|deploy|up|--prod|config:(set|unset)|secrets set|pg:reset|db:reset|sites:delete|hosting:disable|projects:delete)( |$)/,
        does: "change a live deployment",
      },
      {
        program: /^(gh|glab|hub)$/,
        args: /^(repo (delete|archive|rename|edit)|release (delete|create|upload)|pr merge|mr merge|secret (set|delete|remove)|variable delete|issue delete|workflow (disable|run)|run delete|auth (logout|token)|api .*-X ?(DELETE|PUT|POST|PATCH)|api .*--method[ =](DELETE|PUT|POST|PATCH)|gist create)/,
        does: "change what other people see or use",
      },
      {
        program:
          /^(ansible|ansible-playbook|salt|knife|chef|puppet|nomad|consul|vault|eksctl|kops|kubeadm|rancher|argocd|flux|istioctl|etcdctl|minikube|kind|k3d)$/,
        args: /(^| )(destroy|delete|del|reset|purge|remove|job stop|system gc|kv delete|uninstall)( |$)/,
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
        program: /^(ansible|ansible-playbook|salt)$/,
        args: /\S/,
        unless: /--check|--syntax-check|--list-|--version/,
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
        args: /^(publish|unpublish|deprecate|dist-tag (add|rm)|owner|access|token|star|hook)( |$)/,
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
        args: /(^| )(deploy|publish|release:perform|uploadArchives)( |$)/,
        does: "publish an artifact",
      },
      { program: /^(dotnet|nuget)$/, args: /^(nuget )?(push|delete)( |$)/, does: "publish a package" },
      {
        program:
          /^(vsce|ovsx|web-ext|jsr|deno|wally|pod|swift|expo|eas|fastlane|snapcraft|flatpak|goreleaser|helm|composer|mix|luarocks|conan|opam|stack|cabal)$/,
        args: /^(publish|upload|push|submit|release|trunk push|hex\.publish|hex publish|supply|deliver|pilot)( |$)/,
        unless: /--dry-run|--snapshot/,
        does: "publish a release",
      },
    ]),
  },
];
