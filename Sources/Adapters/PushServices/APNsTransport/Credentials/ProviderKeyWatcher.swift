internal import Crypto
internal import EventLoop
internal import Glibc
public import ServiceClient
public import StructuredLogging

/// Replaces signing keys when their files change, without a restart.
///
/// Files are looked at on a thread of its own, so that a slow file system delays no push. A file that holds no usable
/// key is logged once, and the old key stays in use.
public final class ProviderKeyWatcher: Sendable {
    /// A key file and what signs with it.
    public struct Entry: Sendable {
        /// The file.
        public let path: String
        /// The identifier of the key in it.
        public let keyID: String
        /// The token source that gets the key.
        public let source: ProviderTokenSource

        /// Names a file.
        public init(path: String, keyID: String, source: ProviderTokenSource) {
            self.path = path
            self.keyID = keyID
            self.source = source
        }
    }

    private let loop: EventLoop
    private let core: LoopBound<KeyWatchCore>

    /// Prepares a watcher; it looks at nothing yet.
    ///
    /// - Parameters:
    ///   - entries: the files, each with the source that signs with its key now.
    ///   - intervalNanoseconds: how often the files are looked at.
    ///   - logger: where a key that was replaced, or a file that cannot be used, is logged.
    /// - Throws: `ServiceError` with `systemFailed` if there is no thread.
    public init(
        entries: [Entry], intervalNanoseconds: UInt64 = 10_000_000_000, logger: Logger
    ) throws(ServiceError) {
        do throws(EventLoopError) {
            loop = try EventLoop(name: "keys")
        } catch {
            throw ServiceError(.systemFailed, "key files cannot be watched: \(error)")
        }
        core = LoopBound(
            KeyWatchCore(loop: loop, entries: entries, intervalNanoseconds: intervalNanoseconds, logger: logger),
            to: loop)
    }

    /// Begins to look at the files.
    public func start() {
        loop.submit { [core] in core.value.look() }
    }

    /// Ends the watch; to be called once, when it is not needed any more.
    public func stop() { loop.stopAndJoin() }
}

/// The part of a `ProviderKeyWatcher` that lives on its loop.
final class KeyWatchCore {
    private let loop: EventLoop
    private let intervalNanoseconds: UInt64
    private let logger: Logger
    private let entries: [ProviderKeyWatcher.Entry]
    /// The signature of each file when it was read last; nil if it was not read yet, or was missing.
    private var signatures: [FileSignature?]
    /// The problem of each file when it was read last.
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
            let signature = FileSignature(path: entries[index].path)
            guard signature == nil || signature != signatures[index] else { continue }
            signatures[index] = signature
            read(index)
        }
        loop.schedule(afterNanoseconds: intervalNanoseconds) { [self] in look() }
    }

    private func read(_ index: Int) {
        let entry = entries[index]
        let fields: [LogField] = [.field("file", entry.path), .field("key", entry.keyID)]
        do throws(ServiceError) {
            let content = try ProviderKeyFile.read(path: entry.path)
            let wasUnusable = failures[index] != nil
            failures[index] = nil
            guard try entry.source.replaceKey(content.key, keyID: entry.keyID) else {
                if wasUnusable { logger.log(.info, "apns.key.usable", fields) }
                return
            }
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
