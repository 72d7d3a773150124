internal import EventLoop
internal import Glibc

/// Resolves names off the loop, one short-lived thread for each look-up, so that a slow resolver delays nothing else.
///
/// Nothing is cached: APNs' names have other addresses each time, and asks senders to resolve again (Apple,
/// "Establishing a connection to APNs"). How many look-ups run at once is bounded by the pools, which bound their
/// attempts to connect.
enum AddressResolver {
    /// The result of a look-up: addresses, or the reason of the failure.
    typealias Answer = Result<[SocketAddress], ServiceError>

    private final class Job: Sendable {
        let host: String
        let port: UInt16
        let completion: @Sendable (Answer) -> Void

        init(host: String, port: UInt16, completion: @escaping @Sendable (Answer) -> Void) {
            self.host = host
            self.port = port
            self.completion = completion
        }

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
    ///   - completion: called once, on another thread.
    static func resolve(host: String, port: UInt16, completion: @escaping @Sendable (Answer) -> Void) {
        let context = Unmanaged.passRetained(Job(host: host, port: port, completion: completion))
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
