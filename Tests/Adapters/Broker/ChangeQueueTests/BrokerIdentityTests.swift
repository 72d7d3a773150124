import AMQP
import Messages
import Testing

@testable import ChangeQueue

@Suite("Versions of RabbitMQ")
struct BrokerIdentityTests {
    private func notes(_ version: String, product: String = "RabbitMQ") -> String {
        BrokerIdentity(AMQPServer(product: product, version: version)).notes.joined(separator: "\n")
    }

    @Test("Of each version is said what applies to it, and of the tested one nothing but its own fault")
    func saysWhatApplies() {
        #expect(notes("3.9.13").contains("too old"))
        #expect(BrokerIdentity(AMQPServer(product: "RabbitMQ", version: "3.10.8")).notes.count == 1)
        for version in ["4.0.5", "4.3.6"] { #expect(!notes(version).contains("by reading")) }
        #expect(notes("3.12.4").contains("fixed in 3.12.5"))
        #expect(!notes("3.12.5").contains("fixed"))
        #expect(!notes("3.13.7").contains("16 MiB"))
        for version in ["4.0.0+2", "4.1.5", "4.2.6", "4.3.0", "4.4.0"] { #expect(notes(version).contains("16 MiB")) }
        let standstill = "retries may stand still"
        for version in ["4.2.0", "4.2.6", "4.3.0", "4.3.2"] { #expect(notes(version).contains(standstill)) }
        for version in ["3.13.7", "4.0.0+2", "4.1.5", "4.2.7", "4.3.3"] {
            #expect(!notes(version).contains(standstill))
        }
        #expect(notes("4.2.6").contains("fixed in 4.2.7"))
        #expect(notes("4.2.6").contains("permission configure"))
        #expect(!notes("4.2.7").contains("fixed"))
        #expect(notes("4.3.0").contains("permission configure"))
        #expect(notes("4.3.2").contains("fixed in 4.3.3"))
        #expect(notes("4.3.3").contains("consumer_timeout") && !notes("4.3.3").contains("fixed"))
        #expect(!notes("4.2.7").contains("consumer_timeout"))
    }

    @Test("A version newer than all that was read, one that cannot be read, and another product are called so")
    func saysWhatIsUnknown() {
        #expect(notes("4.4.1").contains("newer"))
        #expect(notes("4.2.7").contains("by reading"))
        #expect(notes("soon").contains("cannot be read"))
        #expect(notes("2.1.0", product: "LavinMQ").contains("not RabbitMQ"))
        #expect(BrokerIdentity(AMQPServer(product: "a\u{1B}[31mb", version: "\n1")).description == "a?[31mb ?1")
    }

    @Test("A copy bears neither the publisher's priority nor what the broker counted")
    func stripsCopies() {
        var message = Message(body: [1])
        message.properties.priority = 9
        message.headers = [
            MessageHeader("x-acquired-count", .int64(3)),
            MessageHeader("mine", .boolean(true)),
        ]
        let copy = Message(publishing: message, user: "guest")
        #expect(copy.properties.priority == nil)
        #expect(copy.headers.map(\.name) == ["mine"])
    }
}
