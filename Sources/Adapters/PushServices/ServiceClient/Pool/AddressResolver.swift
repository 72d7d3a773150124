internal import EventLoop
internal import Glibc
internal import Synchronization

/// Resolves names off the loop, one short-lived thread for each look-up, so that a slow resolver delays nothing else.
///
/// Nothing is cached: APNs' names have other addresses each time, and asks senders to resolve again (Apple,
/// "Establishing a connection to APNs"). How many look-ups of known names run at once is bounded by the pools, which
/// bound their attempts to connect; those of strangers' names are bounded by `LookUpTurns`. Over HTTP/1.1 libcurl looks
/// names up, for at most two requests to a stranger at a time.
enum AddressResolver {
    /// The result of a look-up: addresses, or the reason of the failure.
    typealias Answer = Result<[SocketAddress], ServiceError>

    private static let turns = Mutex(LookUpTurns())

    private final class Job: Sendable {
        let host: String
        let port: UInt16
        let group: String?
        let completion: @Sendable (Answer) -> Void

        init(host: String, port: UInt16, group: String?, completion: @escaping @Sendable (Answer) -> Void) {
            self.host = host
            self.port = port
            self.group = group
            self.completion = completion
        }

        deinit { if let group { AddressResolver.turns.withLock { $0.ended(group) } } }

        func run() {
            do throws(EventLoopError) {
                completion(.success(try SocketAddress.resolve(host: host, port: port)))
            } catch {
                completion(.failure(ServiceError(.connectFailed, error.description)))
            }
        }
    }

    /// Looks a host up.
    ///
    /// - Parameters:
    ///   - host: a name or an address.
    ///   - port: becomes a part of the addresses.
    ///   - group: the name of the look-ups that share a bound; nil for no bound.
    ///   - completion: called once, on any thread.
    static func resolve(
        host: String, port: UInt16, group: String? = nil, completion: @escaping @Sendable (Answer) -> Void
    ) {
        if let group, !turns.withLock({ $0.begins(group) }) {
            return completion(
                .failure(ServiceError(.connectFailed, "too many names of unknown push services are being looked up")))
        }
        let context = Unmanaged.passRetained(Job(host: host, port: port, group: group, completion: completion))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Job>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            context.release()
            let text = String(cString: strerror(code))
            return completion(.failure(ServiceError(.systemFailed, "no thread for a name look-up: \(text)")))
        }
        pthread_detach(thread)
    }
}

/// Which look-ups of strangers' names may run at once, each of which occupies a thread until its resolver gives up.
struct LookUpTurns {
    /// How many of one group may run.
    static let ofGroupMaximum = 16
    /// How many of all groups may run, besides those that each group may always have.
    static let allMaximum = 64
    /// How many of one group may run although others have all.
    static let leastMaximum = 2

    private var countByGroup: [String: Int] = [:]
    private var count = 0

    /// Counts a look-up, if it may begin.
    mutating func begins(_ group: String) -> Bool {
        let own = countByGroup[group, default: 0]
        guard own < Self.leastMaximum || count < Self.allMaximum && own < Self.ofGroupMaximum else { return false }
        count += 1
        countByGroup[group, default: 0] += 1
        return true
    }

    /// A look-up that began has ended.
    mutating func ended(_ group: String) {
        count -= 1
        let left = countByGroup[group, default: 1] - 1
        countByGroup[group] = left > 0 ? left : nil
    }
}
