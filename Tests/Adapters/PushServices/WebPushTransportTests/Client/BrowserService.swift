import Crypto
import EncryptedContent
import Essentials
import EventLoop
import Foundation
import HTTP2
import Metrics
import Notifications
import PushServiceSimulator
import PushTestKit

@testable import WebPushTransport

/// A push service on this machine that decrypts what comes.
final class BrowserService: Sendable {
    /// A request as it came, with its plaintext.
    struct Delivery: Sendable {
        var fields: [String: String]
        var text: String
    }

    static let fieldNames: [StaticString] = [
        ":method", ":path", ":authority", "authorization", "ttl", "urgency", "topic", "content-encoding",
    ]

    let loops: SimulatorLoops<Service>
    let recipient: RecipientKeyPair
    let deliveries: Watched<[Delivery]>
    let trustAnchorsFile: String

    /// Starts it.
    ///
    /// - Parameters:
    ///   - hostNames: further names in its certificate.
    ///   - faults: its faults, a line each; their tokens are paths.
    ///   - answer: decides about the request to a path.
    /// - Throws: if there is no port, no thread or no certificate.
    init(
        hostNames: [String] = [], faults: String = "",
        answer: @escaping @Sendable (String) -> (status: Int, body: String) = { _ in (201, "") }
    ) async throws {
        let recipient = try RecipientKeyPair.generate()
        let deliveries = Watched<[Delivery]>([])
        let traits = ServiceTraits(
            headerNames: HeaderNames(Self.fieldNames), bodyBytesMaximum: 4_097, goAwayDebugData: { Array($0.utf8) })
        var configuration = ServingConfiguration(maxConcurrentStreams: 100)
        configuration.hostNames = hostNames
        configuration.faults = try SimulatorFaults(
            parsing: Array(faults.utf8),
            as: FaultSyntax(furtherTriggers: [:], lowercasesTokens: false) { status, _, _ in
                ServiceAnswer(status: status ?? 500)
            })
        loops = try await SimulatorLoops(configuration, traits: traits, name: "browser") {
            Service(server: $0, recipient: recipient, deliveries: deliveries, answer: answer)
        }
        self.recipient = recipient
        self.deliveries = deliveries
        trustAnchorsFile = FileManager.default.temporaryDirectory.appending(path: "apus-browser-\(UUID()).pem").path
        try Data(loops.trustAnchorPEM.utf8).write(to: URL(fileURLWithPath: trustAnchorsFile))
    }

    /// The subscription with a path.
    func token(_ path: String, host: String = "localhost") throws -> DeviceToken? {
        let keys = WebPushKeys(
            publicKey: recipient.publicKeys.publicPoint,
            authenticationSecret: recipient.publicKeys.authenticationSecret)
        return DeviceToken(
            text: Array("https://\(host):\(loops.port)\(path)".utf8), details: PushAddressDetails(webPushKeys: keys))
    }

    func stop() async throws {
        try await loops.close()
        loops.join()
        try FileManager.default.removeItem(atPath: trustAnchorsFile)
    }

    final class Service: SimulatedService, RequestHandler {
        let server: SimulatorServer
        private let recipient: RecipientKeyPair
        private let deliveries: Watched<[Delivery]>
        private let answer: @Sendable (String) -> (status: Int, body: String)
        private let decryptor = try? MessageDecryptor()

        init(
            server: SimulatorServer, recipient: RecipientKeyPair, deliveries: Watched<[Delivery]>,
            answer: @escaping @Sendable (String) -> (status: Int, body: String)
        ) {
            (self.server, self.recipient, self.deliveries, self.answer) = (server, recipient, deliveries, answer)
        }

        let wedgedAnswer = ServiceAnswer(status: 500, reason: nil, body: [])

        func makeHandler() -> any RequestHandler { self }

        func requestCompleted(_ request: RequestState, on connection: SimulatorConnection) {
            let path = request.fields[1].map { Array($0) } ?? []
            if !server.befall(request, on: connection, token: { path }) {
                server.answer(0, to: request, on: connection)
            }
        }

        func give(_ number: Int, to request: RequestState, on connection: SimulatorConnection) {
            var fields: [String: String] = [:]
            for (index, name) in BrowserService.fieldNames.enumerated() {
                fields["\(name)"] = request.fields[index].map { String(decoding: $0, as: UTF8.self) }
            }
            let plaintext = (try? decryptor?.decrypt(request.payload, for: recipient)) ?? Array("(unreadable)".utf8)
            let (status, body) = answer(fields[":path"] ?? "")
            var headers = HeaderBlock()
            headers.add(":status", value: status)
            deliveries.update { $0.append(Delivery(fields: fields, text: String(decoding: plaintext, as: UTF8.self))) }
            _ = connection.respond(to: request, headers, body: Array(body.utf8))
        }

        func record(_ answer: ServiceAnswer, to request: RequestState) {}
    }
}

/// Takes the results of a client, and lets a test wait for them.
final class OutcomeCollector: PushTransportHandler {
    let outcomes = Watched<[UInt64: [AttemptOutcome]]>([:])
    let changes = Watched<[RouteChange]>([])

    func pushesEnded(_ results: [AttemptResult]) {
        outcomes.update { outcomes in
            for result in results { outcomes[result.identifier, default: []].append(result.outcome) }
        }
    }

    func routesChanged(_ changes: [RouteChange]) { self.changes.update { $0 += changes } }

    /// Waits until as many pushes have ended.
    func wait(count: Int) async -> [UInt64: [AttemptOutcome]] {
        _ = await outcomes.wait { $0.count >= count }
        return outcomes.value
    }
}
