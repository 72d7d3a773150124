import ChangeEvents
import Essentials
import Messages
public import RegistryCore

/// Copies the pauses, devices, topics, datasets, subscriptions, tokens, configurations and dead letters of a registry
/// into another one.
///
/// Existing rows of the target are compared and not changed. So an interrupted copy is simply started again: it passes
/// over existing rows faster than it could write them, and a repeated copy writes only later changes. Additional rows
/// of the target stay. Subscriptions that have fired their only push, large fan-outs, counts of campaigns, and
/// notifications that wait for `WEB` clients are not copied.
///
/// The target gives its rows other numbers. So the copy leaves out and counts each dead letter that names a row of the
/// source: its replay in the target would push to no device, or for another subscription.
///
/// The courier key goes along, so that the URLs of clients that fetch their notifications stay good; but not if
/// the target has a key already.
///
/// Names follow the rules of today: one in the source that breaks them ends the copy with an error that says where it
/// is and how to remove it.
///
/// Memory is bounded by a step, however large the registry is.
public final class RegistryCopy {
    /// All ports of a store.
    public typealias Store = DeadLetterRegistry & Registry & RegistryAdministration & RegistryTransfer
        & CourierKeyRegistry & PauseRegistry & SubscriptionRegistry

    private static let deadLettersAtOnce = 200

    private let source: any Store
    private let target: any Store
    private let stepCount: Int
    private let progress: (RegistryCopyCounts) throws -> Void
    private var counts = RegistryCopyCounts()

    /// Prepares a copy.
    ///
    /// - Parameters:
    ///   - source: the registry that is read.
    ///   - target: the registry that is written.
    ///   - stepCount: how many things one step reads, and writes in one transaction.
    ///   - progress: called after each step; its error ends the copy.
    public init(
        from source: any Store, to target: any Store, stepCount: Int = 2_000,
        progress: @escaping (RegistryCopyCounts) throws -> Void = { _ in }
    ) {
        self.source = source
        self.target = target
        self.stepCount = max(stepCount, 1)
        self.progress = progress
    }

    /// Copies.
    ///
    /// - Returns: the counts.
    /// - Throws: `RegistryError` if one of the stores fails, or what `progress` throws.
    public func run() throws -> RegistryCopyCounts {
        // At first, so that no worker of the target pushes for a paused app.
        try copyPauses()
        // Datasets come before devices: a device that waits for future datasets must not get existing ones.
        try copy(.datasets) {
            try source.knownDatasets(after: $0, limit: stepCount)
        } write: { list in
            try target.recordDatasets(list)
            return nil
        }
        try copy(.topicUsers) {
            try source.topicUsers(after: $0, limit: stepCount)
        } write: { list in
            try writing(list) {
                try target.addTopicUsers($0)
            } named: {
                ("topic \($0.topic.excerpt) of user \($0.userID.excerpt)", "apus topic unsubscribe")
            }
            return nil
        }
        try copy(.devices) {
            try source.deviceRecords(after: $0?.device.deviceID, limit: stepCount)
        } write: { list in
            let present = Set(try target.deviceRecords(named: list.map(\.device.deviceID)))
            let missing = list.filter { !present.contains($0) }
            try writing(missing) {
                try target.replaceDevices($0)
            } named: {
                ("device \($0.device.deviceID.excerpt)", "apus device remove")
            }
            return missing.count
        }
        try copySubscriptions()
        try copyTokens()
        try copyCourierKey()
        try copyPoolConfigurations()
        try copyDeadLetters()
        return counts
    }

    private func copy<Element>(
        _ kind: RegistryCopyCounts.Kind, read: (Element?) throws -> [Element], write: ([Element]) throws -> Int?
    ) throws {
        var last: Element?
        counts.current = kind
        while true {
            let list = try read(last)
            guard let end = list.last else { return }
            last = end
            let written = try write(list)
            counts.read[kind, default: 0] += list.count
            if let written { counts.written[kind, default: 0] += written }
            try progress(counts)
        }
    }

    /// Writes, and explains a refusal of the target with the command that removes the row.
    private func writing<Element>(
        _ list: [Element], _ write: ([Element]) throws -> Void,
        named described: (Element) -> (name: String, removal: String)
    ) throws {
        guard !list.isEmpty else { return }
        do {
            try write(list)
        } catch let error as RegistryError where error.code == .invalid {
            // Which it is shows when each is written alone.
            for element in list {
                do {
                    try write([element])
                } catch let error as RegistryError where error.code == .invalid {
                    let (name, removal) = described(element)
                    throw RegistryError(
                        .invalid,
                        "The \(name) cannot be copied: \(error.message) Remove it where it is copied from "
                            + "(\(removal)), and copy again.")
                }
            }
            throw error
        }
    }

    private func copyPauses() throws {
        let present = try target.pauses().map(\.app)
        for pause in try source.pauses() where !present.contains(pause.app) { try target.setPause(pause) }
    }

    private func copySubscriptions() throws {
        try copy(.subscriptions) { last in
            try source.subscriptions(matching: SubscriptionFilter(), after: last?.row, limit: stepCount)
        } write: { list in
            let keys = list.map(\.subscription.key)
            let present = Set(try target.storedSubscriptions(keys).map(\.subscription))
            var missing = list.map(\.subscription).filter { !present.contains($0) }
            missing = try withoutStrangers(missing)
            try writing(missing) {
                _ = try target.save($0)
            } named: {
                let owner =
                    switch $0.key.owner {
                    case .user(let name): "user \(name.excerpt)"
                    case .device(let name): "device \(name.excerpt)"
                    }
                return ("subscription \($0.key.subscriptionID.excerpt) of \(owner)", "apus subscription delete")
            }
            return missing.count
        }
    }

    /// Leaves out the subscriptions of devices that were registered, or removed, while the copy ran.
    private func withoutStrangers(_ subscriptions: [RecordSubscription]) throws -> [RecordSubscription] {
        let names = subscriptions.compactMap { subscription -> String? in
            if case .device(let name) = subscription.key.owner { name } else { nil }
        }
        guard !names.isEmpty else { return subscriptions }
        let records = try target.deviceRecords(named: names)
        let apps = Dictionary(
            records.map { (ByteText($0.device.deviceID), $0.device.app) }, uniquingKeysWith: { first, _ in first })
        return subscriptions.filter { subscription in
            guard case .device(let name) = subscription.key.owner else { return true }
            return apps[ByteText(name)] == subscription.key.app
        }
    }

    private func copyTokens() throws {
        counts.current = .tokens
        let tokens = try source.tokens()
        let present = Set(try target.tokens())
        for token in tokens where !present.contains(token) {
            try writing([token]) {
                for token in $0 { try target.saveToken(token) }
            } named: {
                ("token \($0.name.excerpt)", "apus registry token remove")
            }
            counts.written[.tokens, default: 0] += 1
        }
        counts.read[.tokens] = tokens.count
        try progress(counts)
    }

    private func copyCourierKey() throws {
        guard let key = try source.storedCourierKey() else { return }
        counts.keepsOtherCourierKey = try target.keepCourierKey(key) != key
    }

    private func copyPoolConfigurations() throws {
        counts.current = .poolConfigurations
        let configurations = try source.poolConfigurations()
        let present = Set(try target.poolConfigurations())
        for configuration in configurations where !present.contains(configuration) {
            try target.savePoolConfiguration(configuration.json, of: configuration.identityPoolID)
            counts.written[.poolConfigurations, default: 0] += 1
        }
        counts.read[.poolConfigurations] = configurations.count
        try progress(counts)
    }

    private func copyDeadLetters() throws {
        try copy(.deadLetters) { (last: DeadLetterSummary?) in
            try source.deadLetters(
                matching: DeadLetterFilter(), after: last?.number ?? 0, limit: min(stepCount, Self.deadLettersAtOnce))
        } write: { list in
            var addedCount = 0
            for batch in DeadLetterSummary.batches(list) {
                let messages = try source.deadLetterMessages(batch.map(\.number))
                let letters = batch.compactMap { summary in
                    messages[summary.number].map { DeadLetter(summary: summary, message: $0) }
                }
                for letter in letters where letter.namesRows { leaveOut(letter) }
                addedCount += try target.addDeadLetters(letters.filter { !$0.namesRows })
            }
            return addedCount
        }
    }

    private func leaveOut(_ letter: DeadLetter) {
        counts.deadLettersLeftOut += 1
        if counts.deadLettersLeftOutFirst.count < RegistryCopyCounts.leftOutFirstMaximum {
            counts.deadLettersLeftOutFirst.append(letter.summary.identifier)
        }
    }
}

/// How far a copy of a registry has come.
public struct RegistryCopyCounts: Hashable, Sendable {
    /// The things that are copied, in this order, because later ones refer to earlier ones.
    public enum Kind: String, CaseIterable, Sendable {
        /// Datasets that identities are known to have.
        case datasets
        /// Users' subscriptions to topics.
        case topicUsers
        /// Devices with their subscriptions to datasets and topics.
        case devices
        /// Subscriptions to records.
        case subscriptions
        /// Tokens of the registry's API.
        case tokens
        /// Configurations of identity pools.
        case poolConfigurations
        /// Dead letters that were collected.
        case deadLetters
    }

    /// How many identifiers of dead letters that were left out are kept, so that memory is bounded.
    static let leftOutFirstMaximum = 10

    /// How many were read from the source.
    public var read: [Kind: Int] = [:]
    /// How many of them the target did not have, or had otherwise; datasets and users' topics are handed over without
    /// a comparison and do not count.
    public var written: [Kind: Int] = [:]
    /// How many of the dead letters that were read were left out, because a replay of them needs rows of the source.
    public var deadLettersLeftOut = 0
    /// The identifiers of the first of them.
    public var deadLettersLeftOutFirst: [String] = []
    /// Whether the target had another courier key, which it keeps.
    public var keepsOtherCourierKey = false
    /// The kind that is being copied.
    public var current = Kind.datasets

    /// Nothing yet.
    public init() {}
}

extension DeadLetter {
    /// The headers that say which part of a large fan-out a message is: by the numbers of rows.
    private static let fanOutHeaders = [
        RetryHeader.cursor, RetryHeader.cursorSubscription, RetryHeader.fanOut, RetryHeader.chunk,
        RetryHeader.through, RetryHeader.throughSubscription, RetryHeader.subscriptions,
    ]

    /// Whether a replay needs rows of the store that its worker had; in another store these numbers are of nothing, or
    /// of something else.
    ///
    /// Such are the parts of large fan-outs, and letters of record events that name their subscriptions
    /// (`Subscriber.retryName`). Other letters name their devices by the identifiers that the devices have anywhere.
    var namesRows: Bool {
        let message = replay
        if message.headers.contains(where: { Self.fanOutHeaders.contains($0.name) }) { return true }
        guard isPerhapsOfRecord, case .array(let names) = message.header(RetryHeader.devices) else { return false }
        return names.contains { name in
            if case .string(let text) = name { Subscriber(retryName: text) != nil } else { false }
        }
    }

    /// Whether its event is one of a record, as far as can be told: an identifier of a device may look like the name of
    /// a subscriber.
    private var isPerhapsOfRecord: Bool {
        var type = summary.eventType ?? ""
        return type.withUTF8 { EventType(utf8: $0) }?.isOfRecord ?? true
    }
}
