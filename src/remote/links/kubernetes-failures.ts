// The error messages of a failed `kubectl exec`, observed on a real cluster. Only an answer of the API server proves
// that a pod is gone: a kubelet that has just restarted does not know its containers yet.
import type { KnownFailure } from "./known-failure.ts";

export const KUBERNETES_FAILURES: readonly KnownFailure[] = [
  {
    // This failure is not final: an API server that has just started gives this answer until it has loaded the roles.
    pattern: /Error from server \(Forbidden\)|is forbidden: User/i,
    why: "Kubernetes does not allow it",
    fix: () =>
      "The role needs the verbs get on pods and create on pods/exec in this namespace: kubectl auth can-i create pods/exec.",
    isFinal: false,
  },
  {
    pattern: /You must be logged in to the server|Error from server \(Unauthorized\)|Unable to authenticate/i,
    why: "Kubernetes does not accept your credentials: the token is wrong or has expired",
    fix: () => "Log in to the cluster again, and check that kubectl get pods works.",
    isFinal: true,
  },
  {
    pattern: /getting credentials: exec|exec plugin: invalid/i,
    why: "the credential plugin of kubectl failed",
    fix: () => "Log in to the cluster again, and check that kubectl get pods works without a question.",
    isFinal: false,
  },
  {
    pattern: /Error from server \(NotFound\): namespaces/i,
    why: "there is no such namespace",
    fix: () =>
      "List the namespaces with kubectl get namespaces, and correct the URL: kubernetes://NAMESPACE/POD.",
    isFinal: true,
  },
  {
    pattern: /Error from server \(NotFound\): pods|pods? "?[^"\n]*"? not found/i,
    why: "there is no such pod",
    fix: () =>
      "List the pods with kubectl get pods, and name the namespace in the URL: kubernetes://NAMESPACE/POD.",
    isFinal: true,
  },
  {
    pattern: /cannot exec (?:into|in) a container in a completed pod|cannot exec in a stopped/i,
    why: "the pod has ended",
    fix: () => "See why with kubectl describe pod POD: its deadline may be over, or its first process ended.",
    isFinal: true,
  },
  {
    pattern: /container \S+ is not valid for pod/i,
    why: "the pod has no such container",
    fix: () =>
      "Name a container of the pod in the URL: ?container=NAME. kubectl describe pod POD lists them.",
    isFinal: true,
  },
  {
    pattern: /container not found \(|pod does not exist|does not have a host assigned/i,
    why: "the container does not run",
    fix: () =>
      "See why with kubectl describe pod POD: it may still start, wait for its image, or have crashed.",
    isFinal: false,
  },
  {
    pattern:
      /Error in configuration|no configuration has been provided|error loading config file|^error: stat .*no such file or directory|server localhost:8080 was refused/im,
    why: "kubectl has no usable configuration",
    fix: () =>
      "Set KUBECONFIG to the file of your cluster, and check the context: kubectl config get-contexts.",
    isFinal: false,
  },
  {
    pattern: /x509: /i,
    why: "kubectl does not trust the certificate of the API server",
    fix: () => "Correct the certificate authority in your kubeconfig, or fetch the kubeconfig again.",
    isFinal: true,
  },
  {
    pattern: /Unable to connect to the server|The connection to the server \S+ was refused/i,
    why: "the API server cannot be reached",
    fix: () => "Check the server's address in your kubeconfig, the network, and that kubectl get pods works.",
    isFinal: false,
  },
];
