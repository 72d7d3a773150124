internal import Crypto
internal import EventLoop
import Notifications

/// The part of a `ProviderKeyWatcher` that lives on its loop.
final class KeyWatchCore {
    private let loop: EventLoop
    private let intervalNanoseconds: UInt64
    private let logger: Logger
    private var entries: [ProviderKeyWatcher.Entry]
    /// What each file looked like when it was read last; nil if it was not read yet, or was not there.
    private var signatures: [KeyFileSignature?]
    /// What was wrong with each file when it was read last.
    private var failures: [String?]

    init(loop: EventLoop, entries: [ProviderKeyWatcher.Entry], intervalNanoseconds: UInt64, logger: Logger) {
        self.loop = loop
        self.intervalNanoseconds = intervalNanoseconds
        self.logger = logger
        self.entries = entries
        signatures = Array(repeating: nil, count: entries.count)
        failures = Array(repeating: nil, count: entries.count)
    }

    /// Looks at all files, now and from now on.
    func look() {
        for index in entries.indices {
            // Taken before the file is read, so that a change between the two is seen the next time.
            let signature = KeyFileSignature(path: entries[index].path)
            guard signature == nil || signature != signatures[index] else { continue }
            signatures[index] = signature
            read(index)
        }
        loop.schedule(afterNanoseconds: intervalNanoseconds) { [self] in look() }
    }

    func reread(_ newEntries: [ProviderKeyWatcher.Entry]?) {
        if let newEntries { entries = newEntries }
        signatures = entries.map { KeyFileSignature(path: $0.path) }
        failures = Array(repeating: nil, count: entries.count)
        for index in entries.indices { read(index) }
    }

    private func read(_ index: Int) {
        let entry = entries[index]
        let fields: [LogField] = [.field("file", entry.path), .field("key", entry.keyID)]
        do throws(APNsError) {
            let content = try ProviderKeyFile.read(path: entry.path)
            failures[index] = nil
            guard try entry.source.replaceKey(content.key, keyID: entry.keyID) else { return }
            logger.log(.info, "apns.key.replaced", fields)
            if let warning = content.warning { logger.log(.warning, "apns.key.readable", [.field("reason", warning)]) }
        } catch {
            // A file that stays missing is said to be so once.
            guard failures[index] != error.message else { return }
            failures[index] = error.message
            let advice = "the old key stays in use; put the right file there, it is looked at again by itself"
            logger.log(.error, "apns.key.unusable", fields + [.field("reason", error.message), .field("hint", advice)])
        }
    }
}
