import ApusPublisher
import PushTestKit
import Testing

@Suite("ApusPublisher: no RabbitMQ")
struct UnreachableBrokerTests {
    /// A port of this machine where nothing listens.
    private static func configuration(timeout: Duration = .seconds(600)) -> PublisherConfiguration {
        var configuration = PublisherConfiguration(url: "amqp://guest:secret@127.0.0.1:1/")
        configuration.timeout = timeout
        configuration.unconfirmedMaximum = 2
        return configuration
    }

    @Test("An event that is not confirmed in time fails with why, without a password, and never takes more memory")
    func timesOut() async throws {
        let publisher = try EventPublisher(Self.configuration(timeout: .milliseconds(50)))
        for _ in 0..<3 {
            let results = await publisher.publish(try SampleEvents.changes(0..<3))
            #expect(results.count == 3)
            for result in results {
                guard case .failed(let error) = result else {
                    Issue.record("\(result)")
                    continue
                }
                #expect(error.code == .timedOut && error.isTemporary && !error.message.contains("secret"))
                #expect(error.message.contains("same id"), "\(error)")
            }
        }
        #expect(publisher.unconfirmedCount == 2)
        #expect(await !publisher.close(deadline: .zero))
    }

    @Test("A cancelled task gets its results at once")
    func cancelled() async throws {
        let publisher = try EventPublisher(Self.configuration())
        let publishing = Task { await publisher.publish(try SampleEvents.changes(0..<3)) }
        publishing.cancel()
        for result in try await publishing.value {
            guard case .failed(let error) = result else {
                Issue.record("\(result)")
                continue
            }
            #expect(error.code == .cancelled && error.isTemporary)
        }
        await publisher.close(deadline: .zero)
    }

    @Test("Closing ends what waits when its deadline has passed, and takes nothing more")
    func closing() async throws {
        let states = StateLog()
        let publisher = try EventPublisher(Self.configuration(), stateHandler: states.handler)
        async let results = publisher.publish(try SampleEvents.changes(0..<3))
        try await eventually("the events to wait") { publisher.unconfirmedCount == 2 }
        #expect(await !publisher.close(deadline: .milliseconds(10)))
        for result in try await results {
            guard case .failed(let error) = result else {
                Issue.record("\(result)")
                continue
            }
            #expect(error.code == .closed && error.isTemporary)
        }
        #expect(await states.waitForObstacle("127.0.0.1:1"))
        let event = try SampleEvents.changed(9)
        let late = try await #require(throws: PublisherError.self) { try await publisher.publish(event) }
        #expect(late.code == .closed)
    }

    @Test("What is wrong with the configuration is an error before anything is connected")
    func wrongConfigurations() throws {
        func refusal(_ change: (inout PublisherConfiguration) -> Void) throws -> String {
            var configuration = Self.configuration()
            change(&configuration)
            let error = try #require(throws: PublisherError.self) { _ = try EventPublisher(configuration) }
            #expect(error.code == .configurationInvalid && !error.isTemporary)
            return error.message
        }
        #expect(try refusal { $0.urls = [] }.contains("no address"))
        #expect(try refusal { $0.urls = ["http://localhost"] }.contains("amqp:// or amqps://"))
        #expect(try refusal { $0.timeout = .zero }.contains("1 ms to 24 hours"))
        #expect(try refusal { $0.unconfirmedMaximum = 0 }.contains("at least 1"))
    }
}
