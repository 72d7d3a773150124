import FCM
import FCMSimulator
import PushServiceSimulator
import PushTestKit
import Synchronization
import Testing

@Suite("FCM client: sending, against the simulator")
struct FCMClientTests {
    private static let hello = Result { try FCMMessage([.body("Hello")]) }

    /// Runs a simulator and a client of it.
    private func run(
        script: String = "", _ body: (FCMClient, MessagingService) async throws -> Void
    ) async throws {
        let service = try await MessagingService(script: script)
        let client = try service.client()
        try await body(client, service)
        await client.close()
        try await service.simulator.stop()
    }

    @Test("A message reaches a registration token and an installation, and FCM's names of both come back")
    func sendsToBothKinds() async throws {
        try await run { client, service in
            let targets = [try MessagingService.token(1), try FCMTarget(fid: "cQw4w9WgXcQabcdefghijk")]
            let results = try await client.send(try Self.hello.get(), to: targets)
            #expect(results.map(\.target) == targets && targets.map(\.kind) == [.token, .fid])
            #expect(results.allSatisfy { $0.isAccepted && !$0.isWorthRetrying })
            let records = try await service.simulator.recorded()
            #expect(Set(records.compactMap(\.target?.kind)) == [.token, .fid])
            for result in results {
                let record = records.first { $0.target?.value == result.target.value }
                #expect(result.messageName == record?.name)
                #expect(result.messageName?.hasPrefix("projects/chat-4711/messages/") == true)
            }
        }
    }

    @Test("Each refusal has FCM's code, what to change, and how long to wait")
    func tellsRefusals() async throws {
        let lines = [
            #"{"token":"0000","answer":"unregistered"}"#, #"{"token":"0001","answer":"malformed"}"#,
            #"{"token":"0002","answer":"other-sender"}"#, #"{"token":"0003","answer":"quota","retry_after":90}"#,
            #"{"token":"0004","answer":"unavailable"}"#, #"{"token":"0005","answer":"internal","retry_after":33}"#,
            #"{"token":"0006","answer":"third-party"}"#,
            #"{"token":"0007","answer":"refuse","reason":"PROJECT_QUOTA"}"#,
            #"{"token":"0008","answer":"refuse","reason":"HTML_404"}"#,
            #"{"token":"0009","answer":"refuse","reason":"IAM_PERMISSION_DENIED"}"#,
        ]
        try await run(script: lines.joined(separator: "\n")) { client, _ in
            // Proves the access token, so that a refusal of the account waits for nothing.
            #expect(try await client.send(try Self.hello.get(), to: try MessagingService.token(99)).isAccepted)
            var rejections: [FCMRejection] = []
            for number in lines.indices {
                let result = try await client.send(try Self.hello.get(), to: try MessagingService.token(number))
                guard case .rejected(let rejection) = result.outcome else {
                    Issue.record("not rejected: \(result)")
                    return
                }
                #expect(result.messageName == nil && result.isWorthRetrying == (rejection.remedy == .sendLater))
                rejections.append(rejection)
            }
            #expect(
                rejections.map(\.errorCode) == [
                    .unregistered, .invalidToken, .senderIDMismatch, .deviceQuotaExceeded, .unavailable, .internalError,
                    .thirdPartyAuthError, .quotaExceeded, FCMErrorCode(rawValue: ""),
                    FCMErrorCode(rawValue: "IAM_PERMISSION_DENIED"),
                ])
            #expect(
                rejections.map(\.remedy) == [
                    .removeToken, .removeTokenOrCorrectConfiguration, .removeTokenOrCorrectConfiguration, .sendLater,
                    .sendLater, .sendLater, .sendLater, .sendLater, .correctKey, .correctKey,
                ])
            #expect(
                rejections.map(\.retryAfter) == [
                    nil, nil, nil, .seconds(90), .seconds(10), .seconds(33), nil, .seconds(60), nil, nil,
                ])
            #expect(rejections.map(\.isTokenDead) == [true] + Array(repeating: false, count: 9))
            #expect(rejections.map(\.isPermanent) == [true, true, true] + Array(repeating: false, count: 7))
            #expect(rejections[0].description == "404 UNREGISTERED" && rejections[8].description == "status 404")
        }
    }

    @Test("Many targets have their results in their own order, and a lazy sequence is read as results are")
    func sendsToMany() async throws {
        try await run(script: #"{"token":"0007","answer":"unregistered"}"#) { client, _ in
            let targets = try (0..<2_000).map { try MessagingService.token($0) }
            let results = try await client.send(try Self.hello.get(), to: targets)
            #expect(results.map(\.target) == targets)
            #expect(results.indices.filter { !results[$0].isAccepted } == [7])
            var seen = Set<FCMTarget>()
            for await result in try client.results(of: try Self.hello.get(), to: targets.lazy.map(\.self)) {
                seen.insert(result.target)
            }
            #expect(seen == Set(targets))
            let (stream, continuation) = AsyncStream.makeStream(of: FCMTarget.self)
            continuation.yield(targets[0])
            continuation.finish()
            var streamed: [FCMResult] = []
            for await result in try client.results(of: try Self.hello.get(), to: stream) { streamed.append(result) }
            #expect(streamed.map(\.target) == [targets[0]] && streamed[0].isAccepted)
        }
    }

    @Test("A message whose answer is lost may have arrived, and the next one is certainly not sent after the end")
    func tellsFailures() async throws {
        let script = #"{"token":"0001","answer":"lose"}"#
        try await run(script: script) { client, service in
            #expect(try await client.send(try Self.hello.get(), to: try MessagingService.token(2)).isAccepted)
            let call = Task { try await client.send(try Self.hello.get(), to: try MessagingService.token(1)) }
            try await eventually("two messages are accepted") {
                try await service.simulator.summary().accepted == 2
            }
            call.cancel()
            let lost = try await call.value
            #expect(lost.outcome == .failed(.ambiguous("cancelled before the answer came")) && lost.isWorthRetrying)
            await client.close()
            let late = try await client.send(try Self.hello.get(), to: try MessagingService.token(2))
            #expect(late.outcome == .failed(.notProcessed("the transport is closed")))
            #expect(try await service.simulator.summary().accepted == 2)
        }
    }

    @Test("No more messages go out than the quota allows: the next one waits, and is certainly not sent")
    func keepsToTheQuota() async throws {
        let service = try await MessagingService()
        var configuration = service.configuration()
        configuration.messagesPerMinute = 1
        let client = try FCMClient(configuration)
        let call = Task {
            try await client.send(try Self.hello.get(), to: [MessagingService.token(1), MessagingService.token(2)])
        }
        try await eventually("the first is accepted") { try await service.simulator.summary().accepted == 1 }
        await client.close()
        let results = try await call.value
        #expect(results[0].isAccepted && results[1].outcome == .failed(.notProcessed("the transport is closing")))
        #expect(try await service.simulator.stop().accepted == 1)
    }

    @Test("Several projects of one account are served by one client with one access token")
    func servesSeveralProjects() async throws {
        let service = try await MessagingService()
        var byNumber = service.configuration(name: "by-number")
        byNumber.projectID = "123456789012"
        let client = try FCMClient([service.configuration(name: "chat"), byNumber])
        for name in [nil, "chat", "by-number"] {
            let result = try await client.send(try Self.hello.get(), to: try MessagingService.token(1), using: name)
            #expect(result.isAccepted, "\(result.outcome)")
        }
        let error = await #expect(throws: PushError.self) {
            try await client.send(try Self.hello.get(), to: try MessagingService.token(1), using: "shop")
        }
        #expect(error?.code == .configurationUnknown && error?.message.contains(#""by-number", "chat""#) == true)
        await client.close()
        #expect(try await service.simulator.stop().tokens.issued == 1)
    }

    @Test("An account that is given as JSON sends like one in a file, and through a proxy")
    func readsJSONAndUsesAProxy() async throws {
        let service = try await MessagingService()
        let proxy = try await ConnectProxy.start(.tunnelTo(port: service.simulator.port))
        let json = try MessagingService.account()
            .credentialsJSON(tokenURI: "https://localhost:\(service.simulator.port)/token")
        var configuration = service.configuration()
        configuration.serviceAccount = .json(json.utf8)
        configuration.proxyURL = "http://user:secret@127.0.0.1:\(proxy.port)"
        let client = try FCMClient(configuration)
        #expect(try await client.send(try Self.hello.get(), to: try MessagingService.token(1)).isAccepted)
        await client.close()
        #expect(proxy.requests.value.count >= 2, "one for the access token, one for the message")
        try await service.simulator.stop()
        try await proxy.stop()
    }
}
