import Backoffice
import ChangeEvents
import DispatchCore
import Essentials
import HTTPServer
import JSON
import Notifications
import Predicates
import RegistryCore

/// Finds what the registry holds of a device, an identity, a user, an event or an `apns-id`, and says what it does not.
extension PageAPI {
    /// The kinds of subjects of a search.
    private enum Subject: String, CaseIterable {
        case device
        case identity
        case user
        case event
        case apnsID = "apns-id"
    }

    /// The results of a search; nil where a kind does not apply.
    private struct Findings: Sendable {
        var devices: [DeviceFindings]?
        var devicesTruncated = false
        var letters: [DeadLetterSummary]?
        var fanOuts: [FanOut]?
        var notKept: [String] = []
    }

    private static let devicesMaximum = 20
    private static let lettersMaximum = 20
    private static let fanOutsSearched = 500
    /// How many dead letters are read for an `apns-id`, because each has to be computed for each device left.
    private static let lettersSearched = 2_000

    private static let pushesNotKept =
        "Apus keeps no record of single pushes: what a service accepted leaves counters only. The log at the level "
        + "debug has one line for each event."
    private static let eventsNotKept =
        "Events that were served leave nothing behind; they are in RabbitMQ until then, and in the dead letters if "
        + "they need a person."

    /// `GET find`.
    func find(_ call: PageCall) async throws -> HTTPResponse {
        let kinds = Subject.allCases.map(\.rawValue).joined(separator: ", ")
        guard let kind = call.text("kind"), let subject = Subject(rawValue: kind) else {
            throw PageProblem(.invalid, "kind is missing or unknown: expected one of \(kinds).")
        }
        guard let value = call.text("value"), value.utf8.count <= 1_024 else {
            throw PageProblem(.invalid, "value is missing, or longer than 1024 bytes.")
        }
        let source = call.text("source")
        let findings = try await store.run { registry in
            switch subject {
            case .device: try Self.findDevice(value, in: registry)
            case .identity: try Self.findDevices(DeviceFilter(identityID: value), in: registry)
            case .user: try Self.findDevices(DeviceFilter(userID: value), in: registry)
            case .event: try Self.findEvent(value, source: source, in: registry)
            case .apnsID: try Self.findPush(value, in: registry)
            }
        }
        let now = nowMilliseconds
        return PageResponse.object { writer in
            writer.member("kind", subject.rawValue)
            writer.member("value", value)
            if let devices = findings.devices {
                writer.array("devices", devices) { $1.write(to: &$0) }
                writer.member("devicesTruncated", findings.devicesTruncated)
            }
            if let letters = findings.letters { writer.array("deadLetters", letters) { $1.write(to: &$0) } }
            if let fanOuts = findings.fanOuts {
                writer.array("fanOuts", fanOuts) { $1.write(to: &$0, nowMilliseconds: now) }
            }
            writer.array("notKept", texts: findings.notKept)
        }
    }

    private static func findDevice(_ deviceID: String, in registry: any PageRegistry) throws -> Findings {
        var findings = Findings()
        findings.devices = try registry.device(deviceID).map { [try DeviceFindings($0, in: registry)] } ?? []
        findings.notKept = [pushesNotKept]
        if findings.devices?.isEmpty == true {
            findings.notKept.append(
                "Whether the device was ever registered: a device that was removed, or whose token its push service "
                    + "called dead, leaves nothing behind.")
        }
        return findings
    }

    private static func findDevices(_ filter: DeviceFilter, in registry: any PageRegistry) throws -> Findings {
        var findings = Findings()
        let devices = try registry.devices(matching: filter, after: nil, limit: devicesMaximum + 1)
        findings.devices = try devices.prefix(devicesMaximum).map { try DeviceFindings($0, in: registry) }
        findings.devicesTruncated = devices.count > devicesMaximum
        findings.notKept = [pushesNotKept]
        return findings
    }

    private static func findEvent(_ identifier: String, source: String?, in registry: any PageRegistry) throws
        -> Findings
    {
        var findings = Findings()
        var filter = DeadLetterFilter()
        filter.eventIdentifier = identifier
        filter.eventSource = source
        findings.letters = try registry.deadLetters(matching: filter, after: 0, limit: lettersMaximum)
        if let source {
            findings.fanOuts = try registry.fanOuts(of: [EventDigest(source: source, identifier: identifier)])
        } else {
            findings.fanOuts = try registry.fanOuts(before: nil, limit: fanOutsSearched).filter {
                $0.event.identifier.hasBytes(of: identifier)
            }
            findings.notKept.append(
                "Without the event's source only the newest \(fanOutsSearched) fan-outs were searched.")
        }
        findings.notKept += [
            eventsNotKept, "Letters that still wait in RabbitMQ's queue were not searched: collect them.",
        ]
        return findings
    }

    /// An `apns-id` follows from an event and a token, so it is computed for what may still be known of it.
    private static func findPush(_ text: String, in registry: any PageRegistry) throws -> Findings {
        let wanted = text.lowercased()
        guard wanted.wholeMatch(of: /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil else {
            throw PageProblem(
                .invalid,
                "\"\(text.shortened(bytesMaximum: 60))\" is no apns-id: expected a UUID, for example "
                    + "123e4567-e89b-12d3-a456-42665544000a.")
        }
        var findings = Findings()
        var letters: [DeadLetterSummary] = []
        var devices: [DeviceFindings] = []
        var searchedCount = 0
        try DeadLetterSelection(limit: lettersSearched).forEachPage(in: registry) { page in
            for batch in DeadLetterSummary.batches(page) {
                let messages = try registry.deadLetterMessages(batch.map(\.number))
                for summary in batch {
                    searchedCount += 1
                    guard let message = messages[summary.number], let identifier = summary.eventIdentifier else {
                        continue
                    }
                    let identity = PushIdentity(source: summary.eventSource ?? "", identifier: identifier)
                    let named = RetryState(of: message).deviceIDs ?? []
                    for deviceID in named.prefix(100) {
                        let device = try registry.device(deviceID)
                        guard let token = device?.token ?? DeviceToken(hexadecimal: deviceID),
                            identity.apnsID(for: token).description == wanted
                        else { continue }
                        letters.append(summary)
                        if let device { devices.append(try DeviceFindings(device, in: registry)) }
                    }
                }
            }
            return letters.isEmpty
        }
        findings.letters = letters
        findings.devices = devices
        findings.notKept = [
            "An apns-id follows from an event and a device token, and Apus keeps no list of them. \(searchedCount) "
                + "dead letters were searched for it, with the devices that they name; pushes of subscriptions were "
                + "not.",
            pushesNotKept,
        ]
        return findings
    }
}

/// The data of a device in the registry.
struct DeviceFindings: Sendable {
    private static let listMaximum = 200

    let device: Device
    private let tokens: [FurtherToken]
    private let datasets: DatasetSubscriptions
    private let topics: [String]
    private let badge: Int?
    private let subscriptions: [RecordSubscription]

    init(_ device: Device, in registry: any PageRegistry) throws(RegistryError) {
        self.device = device
        tokens = try registry.tokens(of: [device.deviceID]).first ?? []
        datasets = try registry.datasetSubscriptions(of: device.deviceID)
        topics = try registry.topics(of: device.deviceID)
        badge = try registry.badge(of: device.deviceID)
        subscriptions = try Self.subscriptions(of: device, in: registry).map(\.subscription)
    }

    /// The subscriptions of a device and of its user in its app.
    static func subscriptions(
        of device: Device, in registry: any PageRegistry
    ) throws(RegistryError) -> [StoredSubscription] {
        var owners = [SubscriptionOwner.device(device.deviceID)]
        if let userID = device.userID { owners.append(.user(userID)) }
        var found: [StoredSubscription] = []
        for owner in owners {
            found += try registry.subscriptions(
                matching: SubscriptionFilter(app: device.app, owner: owner), after: nil, limit: listMaximum)
        }
        return found
    }

    func write(to writer: inout JSONWriter) {
        let token = PageMask.token(device.token, platform: device.platform)
        for (name, value) in device.texts(token: token) { writer.member(name, value) }
        if let end = device.token.details?.expiresAtMilliseconds { writer.member("expiresAtMilliseconds", end) }
        writer.member("registeredAtMilliseconds", device.registeredAtMilliseconds)
        writer.array("tokens", tokens) { writer, token in
            writer.member("kind", token.kind.rawValue)
            writer.member("token", PageMask.token(token.token, platform: device.platform))
            writer.member("registeredAtMilliseconds", token.registeredAtMilliseconds)
        }
        writer.array("datasets", texts: datasets.datasetNames.prefix(Self.listMaximum))
        writer.member("includesFutureDatasets", datasets.includesFuture)
        writer.array("topics", texts: topics.prefix(Self.listMaximum))
        writer.member("badge", badge)
        writer.array("subscriptions", subscriptions) { writer, subscription in
            writer.member("id", subscription.key.subscriptionID)
            writer.member("owner", subscription.key.owner.isUser ? "user" : "device")
            writer.member("kind", subscription.kind.rawValue)
            writer.member("database", subscription.database.rawValue)
            writer.member("zoneName", subscription.zoneName)
            writer.member("recordType", subscription.recordType)
            writer.member("predicate", subscription.predicate.description)
            writer.array("firesOn", texts: subscription.firesOn.names)
            writer.member("firesOnce", subscription.firesOnce)
        }
    }
}
