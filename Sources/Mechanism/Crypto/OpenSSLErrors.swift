import COpenSSL

/// The error queue that OpenSSL keeps for each thread.
enum OpenSSLErrors {
    /// Empties the queue and answers OpenSSL's own words for what was in it, the innermost first.
    static func take() -> String {
        var reasons: [String] = []
        while true {
            let code = ERR_get_error()
            guard code != 0 else { break }
            guard let reason = ERR_reason_error_string(code).map({ String(cString: $0) }) else { continue }
            if !reasons.contains(reason) { reasons.append(reason) }
        }
        return reasons.isEmpty ? "no reason given" : reasons.joined(separator: ", ")
    }

    /// Whether the oldest error in the queue is the given one of the TLS library.
    static func firstIs(_ reason: Int32) -> Bool { copenssl_error_reason(ERR_peek_error()) == reason }

    /// The error for a call that fails only when there is no memory left.
    static func failure(of call: StaticString) -> CryptoError {
        CryptoError(.libraryFailed, "\(call) failed: \(take())")
    }
}
