extension Disposition {
    /// Decides about a status that speaks of the way to a push service, and not of the push; nil for all others.
    ///
    /// No push service documents them. They come from a front end, a gateway or a proxy, or from the server before it
    /// looked at the request. The push waits on the ladder and spends an attempt, so a status that stays ends as a dead
    /// letter all the same.
    ///
    /// | status | says | source |
    /// |---|---|---|
    /// | 3xx | go elsewhere; a client of push services does not | RFC 9110 section 15.4 |
    /// | 407 | a proxy wants credentials | RFC 9110 section 15.5.8 |
    /// | 408 | the request did not arrive in time, and may be repeated | RFC 9110 section 15.5.9 |
    /// | 421 | the connection is not for this origin; another may be | RFC 9110 section 15.5.20 |
    /// | 425 | the request came too early, and may be repeated | RFC 8470 section 5.2 |
    /// | 499 | the request was cancelled on its way | google.rpc.Code `CANCELLED`; nginx |
    ///
    /// 5xx are not among them, because each service says itself when to repeat after those: 502 and 504 of a gateway
    /// wait as long as its own.
    ///
    /// - Parameters:
    ///   - answer: the answer.
    ///   - leastSeconds: the shortest wait after it.
    /// - Returns: the decision; nil if the status is none of them.
    static func ofTransit(_ answer: PushAnswer, leastSeconds: Int = 0) -> Disposition? {
        switch answer.status {
        case 300...399, 407, 408, 421, 425, 499:
            let seconds = max(leastSeconds, answer.retryAfterSeconds ?? 0)
            return .retry(.serviceUnavailable, afterSeconds: seconds == 0 ? nil : seconds)
        default: return nil
        }
    }
}
