"""Holds the rendered manifests against the schemas of Kubernetes, KEDA and the Prometheus operator, and against each other.

usage: manifests.py --command APUS --rendered FILE...

Started by deploy/bin/check-kubernetes. The command reads the configuration of the ConfigMap, so that its queues and
settings are the program's own.
"""

import argparse
import ipaddress
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib

import kubernetes_validate
import yaml
from cloudcoil.models.keda import v1alpha1 as keda
from cloudcoil.models.prometheus_operator import v1 as prometheus

# The oldest supported version and the newest known one.
VERSIONS = ["1.31", "1.37"]
MODELS = {
    "ScaledObject": keda.ScaledObject,
    "TriggerAuthentication": keda.TriggerAuthentication,
    "PodMonitor": prometheus.PodMonitor,
}
USER = 65532
DIGEST = re.compile(r"@sha256:[0-9a-f]{64}$")


class Checker:
    """Counts what was compared and keeps what is wrong."""

    def __init__(self):
        self.comparisons = 0
        self.failures = []

    def expect(self, condition, text):
        self.comparisons += 1
        if not condition:
            self.failures.append(text)

    def equal(self, found, wanted, what):
        self.expect(found == wanted, f"{what} is {found!r}, and should be {wanted!r}")


def name_of(manifest):
    return f"{manifest['kind']} {manifest['metadata']['name']}"


def check_schema(check, manifest):
    """The schema of Kubernetes, or the model of a custom resource."""
    model = MODELS.get(manifest["kind"])
    if model:
        return check_model(check, model, manifest)
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(manifest, version, strict=True)
            check.expect(True, "")
        except kubernetes_validate.ValidationError as error:
            check.expect(False, f"{name_of(manifest)}, Kubernetes {version}: {error.message}")


def check_model(check, model, manifest):
    """Refuses wrong types. A model keeps fields that it does not know, so they are looked for."""
    try:
        parsed = model.model_validate(manifest)
    except ValueError as error:
        return check.expect(False, f"{name_of(manifest)}: {error}")
    unknown = list(unknown_fields(parsed, ""))
    return check.expect(not unknown, f"{name_of(manifest)}: unknown fields {unknown}")


def unknown_fields(value, path):
    """The paths of fields that a model of pydantic took without knowing them."""
    if isinstance(value, list):
        for index, entry in enumerate(value):
            yield from unknown_fields(entry, f"{path}[{index}]")
    elif hasattr(value, "model_extra"):
        for name in value.model_extra or {}:
            yield f"{path}.{name}"
        for name in type(value).model_fields:
            yield from unknown_fields(getattr(value, name), f"{path}.{name}")


def seconds(text):
    """A duration as the configuration writes it."""
    units = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
    number = text.rstrip("mhs")
    return float(number) * units[text[len(number):]]


def pods(manifests):
    for manifest in manifests:
        if manifest["kind"] in ("Deployment", "Job"):
            yield manifest, manifest["spec"]["template"]["spec"]


def check_pods(check, manifests):
    """What every pod has to be."""
    for manifest, pod in pods(manifests):
        name = name_of(manifest)
        security = pod["securityContext"]
        check.equal((security["runAsNonRoot"], security["runAsUser"]), (True, USER), f"{name}: the user")
        check.equal(security["seccompProfile"]["type"], "RuntimeDefault", f"{name}: seccompProfile")
        check.equal(pod["automountServiceAccountToken"], False, f"{name}: automountServiceAccountToken")
        volumes = {volume["name"] for volume in pod["volumes"]}
        for container in pod["containers"]:
            limits = container["securityContext"]
            check.equal(limits["readOnlyRootFilesystem"], True, f"{name}: readOnlyRootFilesystem")
            check.equal(limits["allowPrivilegeEscalation"], False, f"{name}: allowPrivilegeEscalation")
            check.equal(limits["capabilities"], {"drop": ["ALL"]}, f"{name}: capabilities")
            check.expect("memory" in container["resources"]["limits"], f"{name}: no limit of the memory")
            check.equal({mount["name"] for mount in container["volumeMounts"]}, volumes, f"{name}: mounts")
            check.expect(not any("subPath" in mount for mount in container["volumeMounts"]), f"{name}: subPath")
            ports = {port["name"]: port["containerPort"] for port in container.get("ports", [])}
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                if probe in container:
                    check.expect(container[probe]["httpGet"]["port"] in ports, f"{name}: port of {probe}")
            check.expect(DIGEST.search(container["image"]), f"{name}: the image has no digest: {container['image']}")


def find(manifests, kind, name):
    found = [entry for entry in manifests if entry["kind"] == kind and entry["metadata"]["name"] == name]
    if len(found) != 1:
        raise SystemExit(f"manifests: {len(found)} of {kind} {name}")
    return found[0]


def selects(selector, labels):
    """Whether a label selector matches."""
    expressions = selector.get("matchExpressions", [])
    return all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items()) and all(
        entry["operator"] == "In" and labels.get(entry["key"]) in entry["values"] for entry in expressions)


def check_worker(check, manifests, configuration):
    """Times, ports and paths of the worker against the configuration that it reads."""
    worker = find(manifests, "Deployment", "apus-worker")
    pod = worker["spec"]["template"]["spec"]
    drain = seconds(configuration["worker"]["drain_timeout"])
    # After the drain the worker waits up to five seconds for confirms, and closes its connections.
    check.expect(
        pod["terminationGracePeriodSeconds"] >= drain + 15,
        f"terminationGracePeriodSeconds {pod['terminationGracePeriodSeconds']} for a drain of {drain} s")
    container = pod["containers"][0]
    admin = int(configuration["admin"]["listen"].rpartition(":")[2])
    check.equal({port["name"]: port["containerPort"] for port in container["ports"]}, {"admin": admin}, "its ports")
    check.equal(container["startupProbe"]["httpGet"]["path"], "/livez", "startupProbe")
    check.equal(container["livenessProbe"]["httpGet"]["path"], "/livez", "livenessProbe")
    check.equal(container["readinessProbe"]["httpGet"]["path"], "/readyz", "readinessProbe")
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    for app in configuration["app"]:
        check.expect(app["apns"]["key_file"].startswith(mounts["keys"] + "/"), f"key_file of {app['name']}")
    rolling = worker["spec"]["strategy"]["rollingUpdate"]
    check.equal(rolling, {"maxSurge": 1, "maxUnavailable": 0}, "rollingUpdate")


def check_others(check, manifests, configuration):
    """What consumes outcomes or relays serves its metrics where all do, and has the time to end in order."""
    for manifest, pod in pods(manifests):
        name = manifest["metadata"]["name"]
        if name not in ("apus-analytics", "apus-webhooks", "apus-relay"):
            continue
        container = pod["containers"][0]
        check.equal(container["args"], [name.removeprefix("apus-"), "--listen", configuration["admin"]["listen"]], name)
        drain = seconds(configuration["worker"]["drain_timeout"])
        check.expect(pod["terminationGracePeriodSeconds"] >= drain + 15, f"{name}: terminationGracePeriodSeconds")


def check_secrets(check, manifests, configuration):
    """Each pod mounts the secrets that its variables name, and no other; only the workers have the keys of APNs."""
    signing = {
        f"APUS_APP_{index}_WEBHOOK_SECRET_FILE" for index, app in enumerate(configuration["app"]) if "webhook" in app}
    for manifest, pod in pods(manifests):
        name = name_of(manifest)
        container = pod["containers"][0]
        mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        for variable in container["env"]:
            check.expect(variable["name"].endswith("_FILE"), f"{name}: {variable['name']} is no file")
        wanted = {variable["value"] for variable in container["env"]}
        check.equal(mounted_secrets(check, pod, mounts), wanted, f"{name}: the secrets that it mounts")
        is_signer = container["args"][0] == "webhooks"
        found = {variable["name"] for variable in container["env"]}
        check.equal(found & signing, signing if is_signer else set(), f"{name}: the secrets of webhooks")
        keys = {volume["secret"]["secretName"] for volume in pod["volumes"] if "secret" in volume}
        check.equal(keys, {"apus-apns-keys"} if container["args"][0] == "run" else set(), f"{name}: whole secrets")


def mounted_secrets(check, pod, mounts):
    """The paths of single entries of secrets in a pod's volumes."""
    paths = set()
    for volume in pod["volumes"]:
        for source in volume.get("projected", {}).get("sources", []):
            secret = source.get("secret")
            if secret:
                check.expect(secret.get("items"), f"{volume['name']}: all of the secret {secret['name']}")
                paths |= {f"{mounts[volume['name']]}/{item['path']}" for item in secret.get("items", [])}
    return paths


def check_policies(check, manifests):
    """What may leave each pod: workers reach all push services and the collector of traces, nothing private."""
    policies = [entry["spec"] for entry in manifests if entry["kind"] == "NetworkPolicy"]
    apns, other, private = ("17.188.1.1", "2620:149::1"), ("142.250.1.1", "2a00:1450::1"), (
        "10.0.0.1", "100.64.0.1", "169.254.169.254", "172.16.0.1", "192.168.0.1", "fd00::1", "fe80::1")
    for manifest, pod in pods(manifests):
        labels = manifest["spec"]["template"]["metadata"]["labels"]
        rules = [rule for policy in policies if selects(policy["podSelector"], labels)
                 for rule in policy.get("egress", [])]
        name, command = name_of(manifest), pod["containers"][0]["args"][0]
        sends = command in ("run", "webhooks")
        for address in other:
            check.equal(lets_out(rules, address, 443), sends, f"{name}: to {address}:443")
        for address in apns:
            check.equal(lets_out(rules, address, 2197), command == "run", f"{name}: to {address}:2197")
        for address in private:
            check.equal(lets_out(rules, address, 443), False, f"{name}: to {address}:443")
        check.equal(lets_out_to(rules, "monitoring", 4318), command == "run", f"{name}: to the collector of traces")


def lets_out(rules, address, port):
    """Whether a rule with blocks of addresses admits one; rules without addresses are for fixed ports of any."""
    address = ipaddress.ip_address(address)

    def holds(block):
        network = ipaddress.ip_network(block["cidr"])
        return address in network and not any(address in ipaddress.ip_network(each) for each in block.get("except", []))
    return any(port in [entry["port"] for entry in rule["ports"]]
               and ("to" not in rule or any(holds(peer["ipBlock"]) for peer in rule["to"] if "ipBlock" in peer))
               for rule in rules)


def lets_out_to(rules, namespace, port):
    """Whether a rule admits a port of the pods of a namespace."""
    labels = {"kubernetes.io/metadata.name": namespace}
    return any(port in [entry["port"] for entry in rule["ports"]]
               and any(selects(peer["namespaceSelector"], labels) for peer in rule.get("to", [])
                       if "namespaceSelector" in peer)
               for rule in rules)


def check_selectors(check, manifests):
    """Services, budgets, policies and monitors select the pods that they are meant for."""
    labels = {manifest["metadata"]["name"]: manifest["spec"]["template"]["metadata"]["labels"]
              for manifest, _ in pods(manifests)}
    wanted = {
        ("PodDisruptionBudget", "apus-worker"): {"apus-worker"},
        ("PodDisruptionBudget", "apus-registry"): {"apus-registry"},
        ("NetworkPolicy", "apus-default"): set(labels),
        ("NetworkPolicy", "apus-worker"): {"apus-worker"},
        ("NetworkPolicy", "apus-registry"): {"apus-registry"},
        ("NetworkPolicy", "apus-webhooks"): {"apus-webhooks"},
        ("PodMonitor", "apus"): {"apus-worker", "apus-registry"},
        ("Service", "apus-registry"): {"apus-registry"},
    }
    for manifest in manifests:
        key = (manifest["kind"], manifest["metadata"]["name"])
        if key not in wanted:
            continue
        selector = manifest["spec"].get("podSelector", manifest["spec"].get("selector"))
        if manifest["kind"] == "Service":
            selector = {"matchLabels": selector}
        check.equal({name for name in labels if selects(selector, labels[name])}, wanted[key], " ".join(key))
    for manifest, _ in pods(manifests):
        if manifest["kind"] == "Deployment":
            check.expect(selects(manifest["spec"]["selector"], labels[manifest["metadata"]["name"]]),
                         f"{name_of(manifest)}: its selector")


def check_scaling(check, manifests, topology):
    """One trigger for each queue that workers consume, and an owner of the number of replicas."""
    scaled = [entry for entry in manifests if entry["kind"] == "ScaledObject"]
    worker = find(manifests, "Deployment", "apus-worker")
    check.equal("replicas" in worker["spec"], not scaled, "whether the worker has a number of replicas")
    for entry in scaled:
        spec = entry["spec"]
        check.equal(spec["scaleTargetRef"]["name"], "apus-worker", "what is scaled")
        consumed = {item["name"] for item in topology if item["kind"] == "quorum queue"
                    and (".work" in item["name"] or item["name"].endswith(".fanout"))}
        check.equal({trigger["metadata"]["queueName"] for trigger in spec["triggers"]}, consumed, "the queues of triggers")
        check.expect(spec["minReplicaCount"] >= 1, "minReplicaCount is 0: messages that a worker holds would wait for good")
        check.expect(all(trigger["metadata"]["protocol"] == "amqp" for trigger in spec["triggers"]), "protocol")
        authentication = find(manifests, "TriggerAuthentication", "apus-rabbitmq")
        check.equal(authentication["spec"]["secretTargetRef"][0]["parameter"], "host", "what the secret is for")


def ask(command, folder, *arguments):
    """What the command says of a configuration, as JSON."""
    # The keys of APNs are not in the ConfigMap, so `check` finds problems, and tells the values all the same.
    result = subprocess.run(
        [command, *arguments, "--json"], cwd=folder, stdout=subprocess.PIPE, text=True, timeout=30, check=False)
    return json.loads(result.stdout)


def check_commands(check, manifests, command):
    """The arguments of each container are a command with options that there are."""
    for manifest, pod in pods(manifests):
        for container in pod["containers"]:
            result = subprocess.run(
                [command, *container["args"], "--help"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                timeout=30, check=False)
            # An unknown subcommand has the help of its group.
            words = itertools.takewhile(lambda word: not word.startswith("-"), container["args"])
            check.equal(result.stdout.partition(":")[0], " ".join(["apus", *words]), f"{name_of(manifest)}: the command")


def check_file(check, command, path):
    """All that is to be said of one overlay."""
    with open(path, encoding="utf-8") as file:
        manifests = [entry for entry in yaml.safe_load_all(file) if entry]
    for manifest in manifests:
        check_schema(check, manifest)
    if check.failures:
        return  # The rest relies on the schemas.
    config = next(entry for entry in manifests if entry["kind"] == "ConfigMap")["data"]["apus.toml"]
    configuration = tomllib.loads(config)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "apus.toml"), "w", encoding="utf-8") as file:
            file.write(config)
        topology = ask(command, folder, "topology", "print")
        problems = [problem for problem in ask(command, folder, "check")["problems"]
                    if problem["severity"] == "error" and not problem["key"].endswith("key_file")]
    check.expect(not problems, f"the configuration: {problems}")
    check_pods(check, manifests)
    check_commands(check, manifests, command)
    check_worker(check, manifests, configuration)
    check_others(check, manifests, configuration)
    check_secrets(check, manifests, configuration)
    check_selectors(check, manifests)
    check_policies(check, manifests)
    check_scaling(check, manifests, topology)
    print(f"manifests: {path}: {len(manifests)} objects")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True)
    parser.add_argument("--rendered", nargs="+", required=True)
    options = parser.parse_args()
    check = Checker()
    command = os.path.abspath(options.command)
    for path in options.rendered:
        check_file(check, command, path)
    for failure in check.failures:
        print(f"manifests: WRONG {failure}")
    print(f"manifests: {check.comparisons} comparisons, {len(check.failures)} wrong")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
