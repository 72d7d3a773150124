import ChangeQueue
import PushCore
import PushTestKit
import SQLiteRegistry
import Testing

extension TestQueue {
    /// Puts messages among the dead letters, as the worker parks them.
    func bury(_ identifiers: Range<UInt64>, reason: String) async throws {
        let messages = identifiers.map { identifier in
            var message = Message(body: Array("body \(identifier)".utf8))
            message.properties.messageID = "\(identifier)"
            message.headers = [
                MessageHeader(name: "mine", value: .string("kept")),
                MessageHeader(name: ParkingHeader.reason, value: .string(reason)),
                MessageHeader(name: ParkingHeader.detail, value: .string("because")),
                MessageHeader(name: ParkingHeader.attempt, value: .int64(10)),
                MessageHeader(name: ParkingHeader.firstSeenMilliseconds, value: .int64(1_700_000_000_000)),
                MessageHeader(name: ParkingHeader.devices, value: .array([.string("device")])),
            ]
            return OutgoingMessage(
                identifier: identifier, exchange: "", routingKey: names.deadLetter, message: message)
        }
        let outcomes = try await publish(messages)
        try #require(outcomes.values.count { $0 == .confirmed } == messages.count)
    }

    /// The tool, with a registry in a folder.
    func deadLetters(
        in folder: TemporaryFolder, progress: @escaping @Sendable (DeadLetterTally) -> Void = { _ in }
    ) -> DeadLetters {
        let path = folder.path + "/registry.db"
        return DeadLetters(
            configuration: configuration,
            openRegistry: { () throws(RegistryError) in try SQLiteRegistry.open(path: path, mode: .create) },
            progress: progress)
    }

    /// Deletes the queues, so that those of many tests do not pile up.
    func remove() async throws {
        let names = topology.objects.filter { $0.kind == .quorumQueue }.map(\.name)
        let list = names.map { "<<\"\($0)\">>" }.joined(separator: ",")
        try await broker.evaluate(
            """
            [begin {ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, N)),
            rabbit_amqqueue:delete(Q, false, false, <<"tests">>) end || N <- [\(list)]], ok.
            """)
    }
}
