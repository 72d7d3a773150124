import CMicroHTTPD
import Glibc
import Synchronization

extension HTTPServer {
    /// What the library's callbacks work with.
    final class Core: Sendable {
        private struct State {
            /// Requests that were deferred and are not answered.
            var deferred: [ObjectIdentifier: HTTPExchange] = [:]
            /// Requests that wait for something to happen.
            var held: [ObjectIdentifier: HTTPExchange] = [:]
            var isStopping = false
        }

        let configuration: HTTPServerConfiguration
        private let handler: any HTTPHandler
        private let state = Mutex(State())
        private let exchanges = Atomic<Int>(0)

        init(configuration: HTTPServerConfiguration, handler: any HTTPHandler) {
            self.configuration = configuration
            self.handler = handler
        }

        /// How many requests the library knows.
        var exchangeCount: Int { exchanges.load(ordering: .relaxed) }

        /// What stands in place of an answer.
        func response(to refusal: HTTPRefusal, rawTarget: String) -> HTTPResponse {
            let rawPath = String(rawTarget.prefix { $0 != "?" })
            var response = handler.response(to: refusal, rawPath: rawPath)
            if refusal == .busy { response.fields.append(HTTPField("Retry-After", "1")) }
            return response
        }

        // MARK: On the library's thread

        func begin(rawTarget: String) -> HTTPExchange {
            exchanges.wrappingAdd(1, ordering: .relaxed)
            return HTTPExchange(rawTarget: rawTarget, server: self)
        }

        func completed() { exchanges.wrappingSubtract(1, ordering: .relaxed) }

        /// Answers a request that has come in whole, or defers it; nil if it was deferred.
        func answer(
            _ request: HTTPRequest, of exchange: HTTPExchange, on connection: OpaquePointer
        ) -> HTTPResponse? {
            switch handler.answer(request) {
            case .now(let response): return response
            case .later(let work):
                let isTaken = state.withLock { state in
                    guard !state.isStopping, state.deferred.count < configuration.deferredRequestsMaximum else {
                        return false
                    }
                    exchange.suspend(connection)
                    state.deferred[ObjectIdentifier(exchange)] = exchange
                    return true
                }
                guard isTaken else { return response(to: .busy, rawTarget: exchange.rawTarget) }
                work(HTTPResponder(exchange))
                return nil
            case .held(let work):
                let isTaken = state.withLock { state in
                    guard !state.isStopping else { return false }
                    // Under the lock, so that a stop finds no request that is held and not suspended yet.
                    exchange.suspend(connection)
                    state.held[ObjectIdentifier(exchange)] = exchange
                    return true
                }
                guard isTaken else { return response(to: .busy, rawTarget: exchange.rawTarget) }
                work(HTTPResponder(exchange))
                return nil
            }
        }

        // MARK: From any thread

        func deferredEnded(_ exchange: HTTPExchange) {
            state.withLock { state in
                state.deferred[ObjectIdentifier(exchange)] = nil
                state.held[ObjectIdentifier(exchange)] = nil
            }
        }

        /// Waits until every request is answered, and answers those that are late.
        func finish(graceMilliseconds: Int32) {
            let held = state.withLock { state in
                state.isStopping = true
                return Array(state.held.values)
            }
            refuse(held)
            // An idle connection holds no request, so this waits for requests only; there is no event to wait for,
            // because the library tells of an answer before it has left.
            var waitedMilliseconds: Int32 = 0
            while exchangeCount > 0, waitedMilliseconds < graceMilliseconds {
                poll(nil, 0, 5)
                waitedMilliseconds += 5
            }
            let late = state.withLock { Array($0.deferred.values) }
            refuse(late)
        }

        private func refuse(_ exchanges: [HTTPExchange]) {
            for exchange in exchanges {
                exchange.resume(with: response(to: .busy, rawTarget: exchange.rawTarget))
            }
        }
    }
}
