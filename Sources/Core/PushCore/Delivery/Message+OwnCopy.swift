extension Message {
    /// Whether Apus itself published this message, so that its headers `apus-…` count.
    ///
    /// The broker writes the exchange of a publish into each delivery, and lets a publisher write only to exchanges
    /// that its permissions name. Backends publish to `apus.changes`. Copies of Apus are published to the default
    /// exchange, whose name is empty and which routes by queue name, and come back through it from a retry queue. So a
    /// message with another exchange is a publisher's. Where the broker has moved a message from queue to queue,
    /// `x-death` names the exchanges before: an event that a queue gave up on stays an event of its publisher. Copies
    /// and replays are published without that header.
    ///
    /// Only a publisher with the permission `write` on `amq.default`, which is the permission to put anything into any
    /// queue, can pass for Apus. (RabbitMQ before 4.0 lets publishers write `x-death`, too. What that gains is little:
    /// only a letter that the broker itself dead-lettered and an operator replays is judged by it alone.)
    ///
    /// - Parameter exchange: the exchange that the delivery names.
    /// - Returns: whether the headers `apus-…` were written by Apus.
    public func isOwnCopy(publishedTo exchange: String) -> Bool {
        guard exchange.isEmpty else { return false }
        switch header("x-death") {
        case nil: return true
        case .array(let moves): return moves.allSatisfy(Self.wasPublishedToDefaultExchange)
        default: return false
        }
    }

    private static func wasPublishedToDefaultExchange(_ move: HeaderValue) -> Bool {
        guard case .table(let facts) = move else { return false }
        return facts.contains { $0.name == "exchange" && $0.value == .string("") }
    }

    /// The message as it goes back to work when an operator replays it: its attempts begin anew.
    ///
    /// - Parameter exchange: the exchange that its delivery names.
    /// - Returns: the copy; without any header `apus-…` if those are not of Apus.
    public func replayed(publishedTo exchange: String) -> Message {
        let isOwn = isOwnCopy(publishedTo: exchange)
        var copy = self
        copy.headers.removeAll { header in
            isOwn ? ParkingHeader.ofAttempts.contains(header.name) : header.name.hasPrefix(ParkingHeader.prefix)
        }
        return copy
    }
}
