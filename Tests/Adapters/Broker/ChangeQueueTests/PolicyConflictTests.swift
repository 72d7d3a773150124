import JSON
import Testing

@testable import ChangeQueue

@Suite("What policies change of our queues")
struct PolicyConflictTests {
    private let topology = Topology(namespace: "t", retryDelaysMilliseconds: [5_000])

    /// Returns the settings that a policy changes, by queue: `!` marks those that lose messages.
    private func conflicts(_ definition: String, isBefore4: Bool = false) throws -> [String: [String]] {
        let queue = try JSONParser().parse(#"{"policy": "p", "effective_policy_definition": \#(definition)}"#)
        let policy = try #require(EffectivePolicy(queue: queue))
        var found: [String: [String]] = [:]
        for object in topology.objects {
            let settings = object.conflicts(with: policy, hasUnlimitedDeliveries: !isBefore4)
                .map { ($0.losesMessages ? "!" : "") + $0.setting }
            if !settings.isEmpty { found[String(object.name.dropFirst(2))] = settings }
        }
        return found
    }

    @Test("An overflow that drops takes at-least-once dead-lettering away from every queue that dead-letters")
    func overflow() throws {
        let drops = ["!overflow = drop-head"]
        #expect(
            try conflicts(#"{"overflow": "drop-head"}"#)
                == ["work": drops, "fanout": drops, "retry.5s": drops])
        #expect(try conflicts(#"{"overflow": "reject-publish"}"#).isEmpty)
    }

    @Test("A limit of length makes publishers wait, and drops dead letters")
    func length() throws {
        let found = try conflicts(#"{"max-length": 10}"#)
        #expect(found["work"] == ["max-length = 10"])
        #expect(found["dead-letter"] == ["!max-length = 10"])
        let both = try conflicts(#"{"max-length-bytes": 10, "overflow": "drop-head"}"#)
        #expect(both["work"] == ["!overflow = drop-head", "!max-length-bytes = 10"])
        let rejecting = try conflicts(#"{"max-length": 10, "overflow": "reject-publish"}"#)
        #expect(rejecting["dead-letter"] == ["max-length = 10"])
    }

    @Test("Only a time to live and a delivery limit that are smaller than ours count, and for dead letters any")
    func smaller() throws {
        let short = try conflicts(#"{"message-ttl": 4999, "delivery-limit": 19}"#)
        #expect(short["retry.5s"] == ["message-ttl = 4999"])
        #expect(short["work"] == ["message-ttl = 4999", "delivery-limit = 19"])
        #expect(short["dead-letter"] == ["!message-ttl = 4999", "!delivery-limit = 19"])
        let long = try conflicts(#"{"message-ttl": 5000, "delivery-limit": 20}"#)
        #expect(long["retry.5s"] == nil)
        #expect(long["work"] == ["message-ttl = 5000"])
        #expect(long["dead-letter"] == ["!message-ttl = 5000", "!delivery-limit = 20"])
    }

    @Test("No delivery limit is none from RabbitMQ 4.0 on, and before it a limit of no return at all")
    func unlimited() throws {
        #expect(try conflicts(#"{"delivery-limit": -1}"#).isEmpty)
        let old = try conflicts(#"{"delivery-limit": -1}"#, isBefore4: true)
        #expect(old["work"] == ["delivery-limit = -1"] && old["fanout"] == ["delivery-limit = -1"])
        #expect(old["dead-letter"] == ["!delivery-limit = -1"])
    }

    @Test("A consumer timeout that a slow push may exceed is told of the queues that workers consume")
    func consumerTimeout() throws {
        let short = ["consumer-timeout = 299999"]
        #expect(try conflicts(#"{"consumer-timeout": 299999}"#) == ["work": short, "fanout": short])
        #expect(try conflicts(#"{"consumer-timeout": 300000}"#).isEmpty)
    }

    @Test("A queue that expires loses what it holds, and other keys are none of our business")
    func others() throws {
        #expect(try conflicts(#"{"expires": 1000}"#).values.allSatisfy { $0 == ["!expires = 1000"] })
        #expect(try conflicts(#"{"expires": 1000}"#).count == 4)
        #expect(try conflicts(#"{"delayed-retry-type": "all"}"#) == ["dead-letter": ["delayed-retry-type = all"]])
        #expect(
            try conflicts(#"{"dead-letter-exchange": "x", "queue-leader-locator": "balanced", "a": [1], "b": null}"#)
                .isEmpty)
    }

    @Test("No policy is an empty object or array or no name, and what says nothing of policies yet is no answer")
    func absent() throws {
        for text in [
            #"{"effective_policy_definition": []}"#, #"{"effective_policy_definition": {}}"#,
            #"{"policy": null, "operator_policy": ""}"#,
        ] {
            let policy = EffectivePolicy(queue: try JSONParser().parse(text))
            #expect(policy == EffectivePolicy())
        }
        for text in ["{}", #"{"name": "t.work", "durable": true}"#, #"{"operator_policy": "o"}"#] {
            #expect(EffectivePolicy(queue: try JSONParser().parse(text)) == nil)
        }
    }
}
