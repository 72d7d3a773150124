import AMQP
import EventLoop
import Glibc
import PushTestKit

extension Scenario {
    /// A client deletes the work queue, and an operator makes it again.
    ///
    /// The deletion itself destroys the messages that were ready, and only these are excused: RabbitMQ says how
    /// many there were. Messages that a worker had must be pushed, retries included.
    static let brokerQueueDeleted = Scenario(
        name: "broker-queue-deleted", domain: .broker,
        sentence: "the work queue is deleted with what stands in it, and made again by `apus topology apply`",
        setting: Setting(isBrokerPrivate: true), redeliveries: 2, prepare: shortenDeadLettering
    ) { environment in
        for worker in environment.workers { worker.signal(SIGSTOP) }
        try await environment.waitForConfirms(300)
        try await delete(environment, queues: ["\(environment.namespace).work"])
        for worker in environment.workers { worker.signal(SIGCONT) }
        try await Pause.seconds(environment.draw(2...4))
        try await makeAgain(environment)
    }

    /// A client deletes the retry queues: what is to be queued finds no queue, comes back, and must not be
    /// acknowledged.
    static let brokerRetryQueuesDeleted = Scenario(
        name: "broker-retry-queues-deleted", domain: .broker,
        sentence: "the retry queues are deleted with what stands in them, and made again by `apus topology apply`",
        redeliveries: 2
    ) { environment in
        try await delete(environment, queues: ["200ms", "500ms", "1s"].map { "\(environment.namespace).retry.\($0)" })
        try await Pause.seconds(environment.draw(2...4))
        try await makeAgain(environment)
    }

    /// A client deletes the queue of dead letters: what belongs there waits unacknowledged until it is there again.
    static let brokerDeadLettersDeleted = Scenario(
        name: "broker-dead-letters-deleted", domain: .broker,
        sentence: "the queue of dead letters is deleted, and made again by `apus topology apply`", redeliveries: 2
    ) { environment in
        try await delete(environment, queues: ["\(environment.namespace).dead-letter"])
        try await Pause.seconds(environment.draw(2...4))
        try await makeAgain(environment)
    }

    /// A client deletes the exchange: publishers are refused, workers go on.
    static let brokerExchangeMissing = Scenario(
        name: "broker-exchange-missing", domain: .broker,
        sentence: "the exchange is deleted, with it its binding, and made again by `apus topology apply`",
        redeliveries: 0, isShort: true
    ) { environment in
        try await environment.withSession { session in try session.deleteExchange("\(environment.namespace).changes") }
        try await Pause.seconds(environment.draw(2...4))
        try await makeAgain(environment)
        try await environment.waitForConfirms(100)
    }

    /// Shortens the wait of RabbitMQ, three minutes by default, before it dead-letters again to a work queue that was
    /// gone.
    private static func shortenDeadLettering(_ environment: Environment) async throws {
        try await environment.broker.evaluate(
            "application:set_env(rabbit, dead_letter_worker_publisher_confirm_timeout, 5000), ok.")
    }

    /// Deletes queues, and excuses as many events as RabbitMQ says that it destroyed.
    private static func delete(_ environment: Environment, queues: [String]) async throws {
        for queue in queues {
            let answer = try await environment.broker.control("delete_queue", queue)
            // Queue 'apus.work' on vhost '/' was successfully deleted with 98 ready messages
            let words = answer.split(whereSeparator: \.isWhitespace)
            guard let ready = words.firstIndex(of: "ready"), let count = Int(words[ready - 1]) else {
                throw EnvironmentFailure("rabbitmqctl said: \(answer)")
            }
            environment.excuse(count)
        }
        environment.excuse(beforeMilliseconds: WallClock.nowMilliseconds())
    }

    private static func makeAgain(_ environment: Environment) async throws {
        let result = try await environment.apus("topology", "apply")
        guard result.exitCode == 0 else { throw EnvironmentFailure("topology apply: \(result)") }
        try await environment.waitUntilReady()
    }
}
