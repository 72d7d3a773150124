import AMQP
import PushTestKit
import Testing

@Suite("apus check --connect and apus topology, with policies of the broker")
struct PolicyCommandTests {
    private let fixture: WorkerFixture
    private let namespace: String

    init() async throws {
        fixture = try await WorkerFixture.withManagementAPI()
        namespace = fixture.namespace
        try fixture.register(1)
    }

    @Test("Without a policy all is good, and a policy that loses nothing is told and is good as well")
    func harmless() async throws {
        let applied = try await fixture.apus("topology", "apply")
        #expect(applied.exitCode == 0 && !applied.output.contains("policy"), "\(applied)")
        let check = try await fixture.apus("check", "--connect")
        #expect(check.exitCode == 0, "\(check)")
        #expect(check.output.contains("OK      policies: no policy of RabbitMQ changes the queues of Apus"))

        try await fixture.broker.control(
            "set_policy", "bounded", "^\(namespace)\\.work$", #"{"max-length":1000000}"#, "--apply-to", "queues")
        let line = """
            quorum queue \(namespace).work: present, but the policy bounded changes its behaviour: \
            max-length = 1000000: a full queue refuses publishes; they are tried again
            """
        let bounded = try await fixture.apus("topology", "apply", sayingInTheEnd: line)
        #expect(bounded.exitCode == 0, "\(bounded)")
        let again = try await fixture.apus("check", "--connect")
        #expect(again.exitCode == 0 && again.output.contains("OK      policies: \(line)"), "\(again)")

        // Before 3.12 RabbitMQ knows no such policy.
        if try await fixture.broker.version() >= AMQPServer.Version(3, 12, 0) {
            try await fixture.broker.control(
                "set_policy", "bounded", "^\(namespace)\\.work$", #"{"consumer-timeout":60000}"#, "--apply-to", "queues"
            )
            let told = """
                \(namespace).work: present, but the policy bounded changes its behaviour: consumer-timeout = 60000: \
                what a worker holds for longer, while a push service is slow, is delivered and pushed again
                """
            _ = try await fixture.apus("topology", "apply", sayingInTheEnd: told)
            let check = try await fixture.apus("check", "--connect")
            #expect(check.exitCode == 0 && check.output.contains(told), "\(check)")
        }

        // The management API lists queues, so that no step has to be guessed.
        _ = try await fixture.apus("topology", "apply", "--set", "retry.delays=7s")
        let unused = "\(namespace).retry.7s: a step that retry.delays does not have any more, with 0 messages"
        #expect(try await fixture.apus("topology", "apply").output.contains(unused))
        #expect(try await fixture.apus("check", "--connect").output.contains(unused))
        let guessed = try await fixture.apus("topology", "check", "--set", "rabbitmq.management_url=")
        #expect(guessed.exitCode == 0 && !guessed.output.contains("retry.7s"), "\(guessed)")
        try await fixture.stop()
    }

    @Test("Policies by which messages may be lost are the exit code 78, and the text says which, where and what to do")
    func losing() async throws {
        try await fixture.broker.control(
            "set_policy", "broad", "^\(namespace)\\.(work|retry)", #"{"overflow":"drop-head"}"#, "--apply-to", "queues")
        try await fixture.broker.control(
            "set_operator_policy", "tidy", "^\(namespace)\\.dead-letter$", #"{"message-ttl":1000}"#,
            "--apply-to", "queues")
        let advice = "change the policy, or its pattern so that it leaves this queue out"
        let work = """
            quorum queue \(namespace).work: present, but the policy broad changes its behaviour: overflow = drop-head: \
            RabbitMQ dead-letters at most once then, so that a retry or a dead letter may be lost on its way; \(advice)
            """
        let letters = """
            quorum queue \(namespace).dead-letter: present, but the policy tidy changes its behaviour: \
            message-ttl = 1000: dead letters vanish after that; \(advice)
            """
        _ = try await fixture.apus("topology", "apply", sayingInTheEnd: work)
        for command in ["apply", "check"] {
            let result = try await fixture.apus("topology", command, sayingInTheEnd: letters)
            #expect(result.exitCode == 78, "\(result)")
            #expect(result.output.contains(work + "\n"), "\(result)")
            #expect(result.output.contains("quorum queue \(namespace).retry.1s: present, but the policy broad"))
            #expect(result.output.contains("quorum queue \(namespace).fanout: present\n"), "\(result)")
        }
        let check = try await fixture.apus("check", "--connect")
        #expect(check.exitCode == 78, "\(check)")
        #expect(check.output.contains("FAILED  policies: "), "\(check)")
        #expect(check.output.contains(work) && check.output.contains(letters), "\(check)")
        // The rest is good, so the code is that of the policies.
        #expect(check.output.split(separator: "\n").count { $0.hasPrefix("FAILED") } == 1, "\(check)")
        let json = try await fixture.apus("check", "--connect", "--json")
        #expect(json.exitCode == 78 && json.output.contains(#""name":"policies","result":"failed""#), "\(json)")

        try await fixture.broker.control("clear_policy", "broad")
        try await fixture.broker.control("clear_operator_policy", "tidy")
        _ = try await fixture.apus("topology", "apply", sayingInTheEnd: "\(namespace).work: present\n")
        _ = try await fixture.apus("topology", "apply", sayingInTheEnd: "\(namespace).dead-letter: present\n")
        #expect(try await fixture.apus("topology", "apply").exitCode == 0)
        #expect(try await fixture.apus("check", "--connect").exitCode == 0)
        try await fixture.stop()
    }

    @Test("Queues that are made under such a policy are told of by the same command")
    func fresh() async throws {
        try await fixture.broker.control(
            "set_policy", "broad", "^fresh\\.", #"{"overflow":"drop-head"}"#, "--apply-to", "queues")
        let applied = try await fixture.apus("topology", "apply", "--set", "rabbitmq.namespace=fresh")
        #expect(applied.exitCode == 78, "\(applied)")
        #expect(applied.output.contains("the policy broad changes its behaviour"), "\(applied)")
        try await fixture.stop()
    }

    @Test("A management API that does not answer is the exit code 69, one that refuses the user 77, after the findings")
    func unusable() async throws {
        let port = fixture.broker.port
        for (url, code, text) in [
            ("http://127.0.0.1:1", Int32(69), "RabbitMQ's management API does not answer"),
            ("http://nobody:wr0ng@127.0.0.1:\(try fixture.managementPort)", 77, "refuses the user (401)"),
            ("http://127.0.0.1:\(port)", 69, "RabbitMQ's management API"),
        ] {
            let setting = "rabbitmq.management_url=\(url)"
            let applied = try await fixture.apus("topology", "apply", "--set", setting)
            #expect(applied.exitCode == code && applied.errors.contains(text), "\(applied)")
            #expect(applied.output.contains("quorum queue \(namespace).work: present\n"), "\(applied)")
            let check = try await fixture.apus("check", "--connect", "--set", setting)
            #expect(check.exitCode == code && check.output.contains("FAILED  policies: "), "\(check)")
            #expect(check.output.contains(text), "\(check)")
            for result in [applied, check] { #expect(!(result.output + result.errors).contains("wr0ng")) }
        }
        try await fixture.stop()
    }
}
