import Dispatch

extension PlainHTTP {
    /// Sends a request as `request` does, on a thread that may wait: one of Swift's own would be missed by other tests.
    public static func requestInBackground(
        _ method: String, _ path: String, port: UInt16, body: String = ""
    ) async -> Answer {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: request(method, path, port: port, body: body))
            }
        }
    }
}
