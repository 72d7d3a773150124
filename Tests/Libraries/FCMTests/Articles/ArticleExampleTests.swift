import FCM
import FCMSimulator
import Synchronization
import Testing

@Suite("FCM: the articles' examples run")
struct ArticleExampleTests {
    @Test("The first message, and every further one, is accepted by the simulator")
    func messagesAreAccepted() async throws {
        let service = try await MessagingService()
        let target = try MessagingService.token(1)
        let first = try await ArticleExamples.firstMessage(service.configuration(), token: target.value)
        #expect(first.isAccepted)
        let client = try service.client()
        for message in try ArticleExamples.messages() {
            #expect(try await client.send(message, to: target).isAccepted)
        }
        await client.close()
        try await service.simulator.stop()
    }

    @Test("Sending to many removes the target that is gone, and handling outcomes sends later what is refused for now")
    func manyAndOutcomes() async throws {
        let service = try await MessagingService(
            script: """
                {"token":"0001","answer":"unregistered"}
                {"token":"0002","answer":"quota","retry_after":90}
                """)
        let client = try service.client()
        let targets = try (0..<3).map { try MessagingService.token($0) }
        let message = try FCMMessage([.body("Hello")])
        let removed = Mutex<[FCMTarget]>([])
        let later = Mutex<[FCMTarget: Duration]>([:])
        try await ArticleExamples.many(
            client, message, targets: targets,
            targetsFromTheDatabase: AsyncStream { continuation in
                for target in targets { continuation.yield(target) }
                continuation.finish()
            }, removeFromTheDatabase: { target in removed.withLock { $0.append(target) } })
        #expect(removed.withLock { $0 } == [targets[1]])
        for result in try await client.send(message, to: targets) {
            await ArticleExamples.outcomes(
                result, removeFromTheDatabase: { target in removed.withLock { $0.append(target) } },
                sendLater: { target, after in later.withLock { $0[target] = after } })
        }
        #expect(removed.withLock { $0 } == [targets[1], targets[1]])
        #expect(later.withLock { $0 } == [targets[2]: .seconds(90)])
        await client.close()
        try await service.simulator.stop()
    }
}
