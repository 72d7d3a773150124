public import HTTPServer
import Synchronization

/// The requests over HTTP/1.1 that get no answer, as a script or a fault wants it: a responder that is let go answers.
public final class WithheldResponders: Sendable {
    private let countMaximum: Int
    private let responders = Mutex<[HTTPResponder]>([])

    /// Begins without any.
    ///
    /// - Parameter countMaximum: how many requests may stay without an answer.
    public init(countMaximum: Int = 256) { self.countMaximum = countMaximum }

    /// Leaves a request without an answer.
    public func keep(_ responder: HTTPResponder) {
        responders.withLock { responders in
            if responders.count < countMaximum { responders.append(responder) }
        }
    }

    /// Lets go of all.
    public func release() { responders.withLock { $0.removeAll() } }
}

extension HTTPRequest {
    /// The media type of the body, in lower case and without parameters.
    public var mediaType: String? { field("content-type")?.split(separator: ";").first.map { $0.lowercased() } }
}
