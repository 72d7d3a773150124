internal import Crypto
internal import EventLoop
public import Notifications

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
        /// What gets the key.
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
    /// - Throws: `APNsError` with `systemFailed` if there is no thread.
    public init(
        entries: [Entry], intervalNanoseconds: UInt64 = 10_000_000_000, logger: Logger
    ) throws(APNsError) {
        do throws(EventLoopError) {
            loop = try EventLoop(name: "keys")
        } catch {
            throw APNsError(.systemFailed, "key files cannot be watched: \(error)")
        }
        core = LoopBound(
            KeyWatchCore(loop: loop, entries: entries, intervalNanoseconds: intervalNanoseconds, logger: logger),
            to: loop)
    }

    /// Begins to look at the files.
    public func start() {
        loop.submit { [core] in core.value.look() }
    }

    /// Reads all files at once, whether or not they look changed.
    ///
    /// - Parameter entries: other files from now on; nil for the same.
    public func reread(_ entries: [Entry]? = nil) {
        loop.submit { [core] in core.value.reread(entries) }
    }

    /// Ends the watch; to be called once, when it is not needed any more.
    public func stop() { loop.stopAndJoin() }
}
