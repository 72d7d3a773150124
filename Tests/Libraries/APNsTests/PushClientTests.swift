import APNs
import APNsSimulator
import Crypto
import FoundationEssentials
import Testing

@Suite("Push client: sending, against the simulator")
struct PushClientTests {
    private static let hello = Result { try PushMessage([.body("Hello")]) }

    @Test("A message reaches a device with the headers and the payload that it asks for")
    func sendsToOne() async throws {
        let service = try await PushService()
        let client = try service.client()
        let message = try PushMessage(
            [.title("Mei"), .body("Hello"), .badge(2), .custom("room", ["id": 7])], urgency: .conserving,
            expiration: .at(Date(timeIntervalSince1970: 1_800_000_000)), collapseID: "room-7")
        let result = try await client.send(message, to: try PushService.token(1))
        #expect(result.isAccepted && !result.isWorthRetrying)
        let push = try #require(try await service.simulator.recorded().first)
        #expect(push.apnsID == result.apnsID && push.deviceToken == result.token.hexadecimal)
        #expect(push.topic == "com.example.chat" && push.pushType == "alert" && push.priority == "5")
        #expect(push.expiration == "1800000000" && push.collapseID == "room-7")
        #expect(
            String(decoding: push.payload, as: UTF8.self)
                == #"{"aps":{"alert":{"title":"Mei","body":"Hello"},"badge":2},"room":{"id":7}}"#)
        await client.close()
        _ = try await service.simulator.stop()
    }

    @Test("The same message to the same token bears the same apns-id, another message another")
    func identifiesPushes() async throws {
        let service = try await PushService()
        let client = try service.client()
        let message = try Self.hello.get()
        let token = try PushService.token(1)
        let first = try await client.send(message, to: token)
        let again = try await client.send(message, to: token)
        let other = try await client.send(try PushMessage([.body("Hello")]), to: token)
        #expect(first.apnsID == again.apnsID && first.apnsID != other.apnsID)
        #expect(first.apnsID == first.apnsID.lowercased() && first.apnsID.utf8.count == 36)
        await client.close()
        _ = try await service.simulator.stop()
    }

    @Test("Many tokens have their results in their own order, and permanent and temporary are told apart")
    func sendsToMany() async throws {
        let service = try await PushService(
            script: """
                {"token":"00000001","answer":"unregistered","since":1600000000123}
                {"token":"00000002","answer":"bad-device-token"}
                {"token":"00000003","answer":"throttle"}
                {"token":"00000004","answer":"status","status":500,"reason":"InternalServerError"}
                {"token":"00000005","answer":"status","status":400,"reason":"BadTopic"}
                {"token":"00000006","answer":"status","status":400,"reason":"SomethingNew"}
                """)
        let client = try service.client()
        let tokens = try (0..<3_000).map { try PushService.token($0) }
        let results = try await client.send(try Self.hello.get(), to: tokens)
        #expect(results.map(\.token) == tokens)
        #expect(results.count { $0.isAccepted } == 2_994)
        let rejections = results[1...6].map { result -> PushRejection? in
            guard case .rejected(let rejection) = result.outcome else { return nil }
            return rejection
        }
        #expect(
            rejections.map { $0?.reason } == [
                .unregistered, .badDeviceToken, .tooManyRequests, .internalServerError,
                PushReason(rawValue: "BadTopic"), PushReason(rawValue: "SomethingNew"),
            ])
        #expect(
            rejections.map { $0?.remedy } == [
                .removeToken, .removeTokenOrCorrectConfiguration, .sendLater, .sendLater, .correctMessage,
                .correctMessage,
            ])
        #expect(rejections.map { $0?.isPermanent } == [true, true, false, false, true, true])
        #expect(results[1...6].map(\.isWorthRetrying) == [false, false, true, true, false, false])
        #expect(rejections[0]?.tokenDeadSince == Date(timeIntervalSince1970: 1_600_000_000.123))
        await client.close()
        _ = try await service.simulator.stop()
    }

    @Test("No tokens have no results")
    func sendsToNone() async throws {
        let service = try await PushService()
        let client = try service.client()
        #expect(try await client.send(try Self.hello.get(), to: []).isEmpty)
        for await result in try client.results(of: try Self.hello.get(), to: [PushToken]()) {
            Issue.record("a result without a token: \(result)")
        }
        await client.close()
        _ = try await service.simulator.stop()
    }

    @Test("Any number of tokens is read no faster than results are, and each has one result")
    func readsTokensAsResultsAreRead() async throws {
        let service = try await PushService()
        let client = try service.client()
        let taken = Counter()
        let count = 20_000
        var seen = Set<PushToken>()
        var furthestAhead = 0
        let tokens = CountedTokens(count: count, taken: taken)
        for await result in try client.results(of: try Self.hello.get(), to: tokens) {
            #expect(result.isAccepted)
            seen.insert(result.token)
            furthestAhead = max(furthestAhead, taken.value - seen.count)
        }
        #expect(seen.count == count)
        #expect(furthestAhead <= 8_192, "\(furthestAhead) tokens were taken before their results were read")
        await client.close()
        _ = try await service.simulator.stop()
    }

    @Test("A lazy sequence is read only as fast as results are, and no further after a cancellation")
    func readsLazySequences() async throws {
        let service = try await PushService()
        let client = try service.client()
        let message = try Self.hello.get()
        let taken = Counter()
        let token = try PushService.token(1)
        let call = Task {
            let tokens = (0..<1_000_000).lazy.map { _ in
                taken.add()
                return token
            }
            var iterator = try client.results(of: message, to: tokens).makeAsyncIterator()
            #expect(await iterator.next()?.isAccepted == true)
            let window = 4_096
            #expect(taken.value <= window, "\(taken.value) tokens were taken for the first result")
            withUnsafeCurrentTask { $0?.cancel() }
            while await iterator.next() != nil {}
        }
        try await call.value
        #expect(taken.value <= 2 * 4_096, "\(taken.value) tokens were taken before the end")
        await client.close()
        _ = try await service.simulator.stop()
    }

    @Test("Tokens that come slowly are sent to as they come, and an error of theirs is thrown after the results")
    func readsAsynchronousTokens() async throws {
        struct Broken: Error {}
        let service = try await PushService()
        let client = try service.client()
        let (tokens, continuation) = AsyncThrowingStream.makeStream(of: PushToken.self)
        continuation.yield(try PushService.token(1))
        var iterator = try client.results(of: try Self.hello.get(), to: tokens).makeAsyncIterator()
        #expect(try await iterator.next()?.isAccepted == true)
        continuation.yield(try PushService.token(2))
        continuation.finish(throwing: Broken())
        #expect(try await iterator.next()?.token == (try PushService.token(2)))
        await #expect(throws: Broken.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
        await client.close()
        _ = try await service.simulator.stop()
    }

    @Test("Several apps are served by one client, each under its own topic; an unknown one is refused by name")
    func servesSeveralApps() async throws {
        let service = try await PushService()
        let client = try PushClient([
            service.configuration(name: "chat"), service.configuration(name: "mail", bundleID: "com.example.mail"),
        ])
        for name in [nil, "chat", "mail"] {
            #expect(try await client.send(try Self.hello.get(), to: try PushService.token(1), using: name).isAccepted)
        }
        #expect(
            try await service.simulator.recorded().map(\.topic)
                == ["com.example.chat", "com.example.chat", "com.example.mail"])
        let error = await #expect(throws: PushError.self) {
            try await client.send(try Self.hello.get(), to: try PushService.token(1), using: "post")
        }
        #expect(error?.code == .configurationUnknown)
        #expect(error?.message.contains(#""chat", "mail""#) == true)
        await client.close()
        _ = try await service.simulator.stop()
    }

    @Test("A key that APNs does not know is to be corrected, and is not the token's fault")
    func reportsAWrongKey() async throws {
        let service = try await PushService()
        let client = try PushClient(service.configuration(key: .pem(try ES256PrivateKey.generate().pem)))
        let result = try await client.send(try Self.hello.get(), to: try PushService.token(1))
        guard case .rejected(let rejection) = result.outcome else {
            Issue.record("not rejected: \(result)")
            return
        }
        #expect(rejection.reason == .invalidProviderToken && rejection.remedy == .correctKey && !rejection.isPermanent)
        await client.close()
        _ = try await service.simulator.stop()
    }
}
