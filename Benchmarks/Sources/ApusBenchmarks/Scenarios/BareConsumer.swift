import Foundation
import PushTestKit

/// `bare-consumer`, the reference for taking messages from the queue: the least that a consumer in C can do.
enum BareConsumer {
    /// The cost of a message.
    struct Figures: Decodable {
        var messagesPerSecond: Double
        var cpuMicroseconds: Double
    }

    /// Takes messages from the work queue, and acknowledges them.
    ///
    /// - Parameters:
    ///   - bench: the workbench to run on.
    ///   - broker: the broker of the queue.
    ///   - count: the number of messages.
    ///   - registryFile: the file of a registry, in which it looks up the devices of each event; nil for none.
    ///   - processor: the only processor that it has; nil for all.
    /// - Returns: the cost of a message.
    /// - Throws: `BenchmarkFailure` with the consumer's output if it fails.
    static func run(
        on bench: Workbench, broker: PrivateRabbitMQ, count: Int, registryFile: String? = nil, processor: Int? = nil
    ) async throws -> Figures {
        let command =
            (processor.map { ["/usr/bin/taskset", "-c", "\($0)"] } ?? []) + [
                bench.options.bareConsumerPath, "127.0.0.1", "\(broker.port)", "guest", "guest", "apus.work",
                "\(count)", "1000",
            ] + (registryFile.map { [$0] } ?? [])
        let bare = try await bench.run(command[0], Array(command.dropFirst()))
        guard bare.exitCode == 0, let figures = try? JSONDecoder().decode(Figures.self, from: Data(bare.output.utf8))
        else { throw BenchmarkFailure(description: "bare-consumer failed: \(bare.output)\(bare.errors)") }
        return figures
    }
}
