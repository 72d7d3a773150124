public import EncryptedContent
internal import EventLoop
public import Notifications
public import ServiceClient
internal import Synchronization

/// A message to encrypt.
public struct EncryptionJob: Sendable {
    /// The number by which the sender knows its push.
    public let push: Int
    /// The content; its payload is encrypted.
    public let content: PushContent
    /// The recipient's keys.
    public let keys: WebPushKeys

    /// Creates a job.
    public init(push: Int, content: PushContent, keys: WebPushKeys) {
        self.push = push
        self.content = content
        self.keys = keys
    }
}

/// How a job ended.
public struct EncryptionResult: Sendable {
    /// The number of the push.
    public let push: Int
    /// The body of the request, or why there is none.
    public let body: Result<[UInt8], EncryptedContentError>
}

/// Encrypts messages on threads of its own, because each costs as much as sending dozens of requests.
///
/// Jobs wait in one bounded queue, in chunks. Each thread has OpenSSL's handles of its own, takes a chunk at a time,
/// and hands its results over together.
public final class EncryptionPool: Sendable {
    /// How many jobs a thread takes at a time: a few milliseconds of work.
    public static let chunkJobs = 32

    private struct State {
        var chunks: [ArraySlice<EncryptionJob>] = []
        /// The index of the first chunk that waits.
        var first = 0
        var waiting = 0
        var idle: [Int]
        var isClosed = false

        mutating func next() -> ArraySlice<EncryptionJob>? {
            guard first < chunks.count else { return nil }
            let chunk = chunks[first]
            first += 1
            if first == chunks.count {
                chunks.removeAll(keepingCapacity: true)
                first = 0
            }
            waiting -= chunk.count
            return chunk
        }
    }

    private let waitingMaximum: Int
    private let workers: [LoopBound<MessageEncryptor>]
    private let deliver: @Sendable ([EncryptionResult]) -> Void
    private let state: Mutex<State>

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - threadCount: how many, at least 1.
    ///   - waitingMaximum: how many jobs may wait.
    ///   - deliver: takes results, on one of the threads.
    /// - Throws: `ServiceError` with `systemFailed` if there is no thread or no memory.
    public init(
        threadCount: Int, waitingMaximum: Int, deliver: @escaping @Sendable ([EncryptionResult]) -> Void
    ) throws(ServiceError) {
        var workers: [LoopBound<MessageEncryptor>] = []
        do {
            for index in 0..<max(1, threadCount) {
                let encryptor = try MessageEncryptor()
                workers.append(LoopBound(encryptor, to: try EventLoop(name: "encryption-\(index)")))
            }
        } catch {
            for worker in workers { worker.loop.stopAndJoin() }
            throw ServiceError(.systemFailed, "messages for browsers cannot be encrypted: \(error)")
        }
        self.waitingMaximum = waitingMaximum
        self.workers = workers
        self.deliver = deliver
        state = Mutex(State(idle: Array(workers.indices)))
    }

    /// Adds jobs, as many as there is room for; any thread may.
    ///
    /// - Returns: how many of the first were taken; each of them gets exactly one result.
    public func submit(_ jobs: [EncryptionJob]) -> Int {
        let (taken, woken) = state.withLock { state -> (Int, [Int]) in
            guard !state.isClosed else { return (0, []) }
            let taken = min(jobs.count, max(0, waitingMaximum - state.waiting))
            var woken: [Int] = []
            for start in stride(from: 0, to: taken, by: Self.chunkJobs) {
                state.chunks.append(jobs[start..<min(taken, start + Self.chunkJobs)])
                if let worker = state.idle.popLast() { woken.append(worker) }
            }
            state.waiting += taken
            return (taken, woken)
        }
        for worker in woken { workers[worker].loop.submit { [self] in work(worker) } }
        return taken
    }

    /// Encrypts chunks until none waits.
    private func work(_ index: Int) {
        let encryptor = workers[index].value
        while true {
            let chunk = state.withLock { state -> ArraySlice<EncryptionJob>? in
                if let chunk = state.next() { return chunk }
                state.idle.append(index)
                return nil
            }
            guard let chunk else { return }
            deliver(chunk.map { EncryptionResult(push: $0.push, body: Self.encrypt($0, with: encryptor)) })
        }
    }

    private static func encrypt(
        _ job: EncryptionJob, with encryptor: MessageEncryptor
    ) -> Result<[UInt8], EncryptedContentError> {
        do throws(EncryptedContentError) {
            let recipient = try RecipientKeys(
                publicPoint: job.keys.publicKey, authenticationSecret: job.keys.authenticationSecret)
            return .success(try encryptor.encrypt(job.content.payload, for: recipient))
        } catch {
            return .failure(error)
        }
    }

    /// Drops the jobs that wait, and ends the threads when they have finished their chunks; a second call does nothing.
    ///
    /// Must not be called on one of the threads.
    public func close() {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            (state.chunks, state.first, state.waiting) = ([], 0, 0)
            return !state.isClosed
        }
        guard isFirst else { return }
        for worker in workers { worker.loop.stopAndJoin() }
    }
}
