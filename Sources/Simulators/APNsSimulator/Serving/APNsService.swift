import Crypto
import HTTP2
import Notifications
import PushServiceSimulator

/// APNs on one loop: what it knows of keys, rules and channels, its answers and its books.
final class APNsService: LoggingService {
    let server: SimulatorServer
    let configuration: SimulatorConfiguration
    let log: AnswerLog<RecordedPush, APNsCounts>
    let catalog: AnswerCatalog
    let rules: RequestRules
    let channelRules: ChannelRules
    var verifier: ProviderTokenVerifier

    private let identifiers: AcceptedIdentifiers
    private var random = SystemRandomNumberGenerator()
    private var headers = HeaderBlock()

    init(parts: APNsParts, server: SimulatorServer) {
        self.server = server
        configuration = parts.configuration
        channelRules = ChannelRules(store: parts.channels, bundleIDs: parts.configuration.bundleIDs)
        rules = RequestRules(bundleIdentifiers: parts.configuration.bundleIDs)
        verifier = ProviderTokenVerifier(keys: parts.keys)
        catalog = AnswerCatalog(script: parts.configuration.script)
        log = AnswerLog(server)
        identifiers = parts.identifiers
    }

    func makeHandler() -> any RequestHandler { PushHandler(service: self) }

    /// Gives an answer of the catalog.
    ///
    /// - Returns: the answer; nil if the stream or the connection is gone.
    func give(_ index: Int, to request: RequestState, on connection: SimulatorConnection) -> PreparedAnswer? {
        let prepared = catalog.answers[index]
        let isGiven = request.withFields { fields in
            withIdentifierText(for: fields) { identifier in
                headers.removeAll()
                headers.add(":status", value: prepared.status)
                headers.add("apns-id", value: identifier, indexing: .neverAdd)
                let answer = prepared.answer
                if !answer.body.isEmpty { headers.add("content-type", value: "application/json") }
                guard connection.respond(to: request, headers, body: answer.body) else { return false }
                answered(answer, index, request, fields, identifier)
                return true
            }
        }
        return isGiven ? prepared : nil
    }

    private func answered(
        _ answer: ServiceAnswer, _ index: Int, _ request: RequestState, _ fields: RequestFields,
        _ identifierText: UnsafeBufferPointer<UInt8>
    ) {
        log.count(status: answer.status, reason: answer.reason)
        var isDuplicate = false
        if index == AnswerCatalog.accepted, !server.configuration.isTrusting, let identifier = fields.identifier {
            isDuplicate = !identifiers.insert(UInt128(identifier.high) << 64 | UInt128(identifier.low))
            if isDuplicate { log.noted.duplicates += 1 }
        }
        record(answer, isDuplicate: isDuplicate, request, fields, identifierText)
        server.progress.requestAnswered()
    }

    /// Records an answer; that of a fault is counted as a fault alone.
    func record(
        _ answer: ServiceAnswer, isDuplicate: Bool = false, _ request: RequestState, _ fields: RequestFields,
        _ identifierText: UnsafeBufferPointer<UInt8>
    ) {
        guard log.takesRecords else { return }
        let facts = AnswerFacts(
            timeMilliseconds: server.nowMilliseconds, identifierText: identifierText, answer: answer,
            isDuplicate: isDuplicate, isPayloadChecked: request.isPayloadChecked)
        log.add(RecordedPush(facts, fields: fields, payload: request.payload)) { bytes in
            RecordLine.append(facts, fields: fields, payload: request.payload, to: &bytes)
        }
    }

    /// Lends out the request's own `apns-id`, or a new one if it has none that could be used.
    func withIdentifierText<Result>(
        for fields: RequestFields, _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        if let own = fields[.identifier], fields.identifier != nil || server.configuration.isTrusting {
            return body(own)
        }
        // A random UUID of version 4 (RFC 9562, section 5.4).
        let identifier = APNsIdentifier(
            high: random.next() & ~0xF000 | 0x4000, low: random.next() & ~(0b11 << 62) | 0b10 << 62)
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: APNsIdentifier.textLength) { buffer in
            identifier.write(to: buffer)
            return body(UnsafeBufferPointer(buffer))
        }
    }
}

/// The common state of the loops, beside what they share with the simulators of other services.
struct APNsParts: Sendable {
    let configuration: SimulatorConfiguration
    let keys: [String: (teamID: String, key: ES256PublicKey)]
    let identifiers = AcceptedIdentifiers()
    let channels = ChannelStore()
}
