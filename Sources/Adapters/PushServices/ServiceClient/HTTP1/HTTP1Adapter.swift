public import HTTPClient
public import Notifications

/// One push service that speaks HTTP/1.1, as the client sees it: how a request is written, and what an answer means.
///
/// Each route has an adapter of its own, which lives on the client's loop and may keep memory from request to request.
public protocol HTTP1Adapter: AnyObject {
    /// Writes the request of a push.
    ///
    /// - Parameters:
    ///   - push: the push.
    ///   - authorization: the value of the header `authorization`.
    ///   - destination: the route's endpoint, trust anchors and proxy.
    ///   - nowSeconds: the wall clock, in seconds since 1970.
    /// - Returns: the request; the client sets its timeout.
    func request(
        for push: borrowing PushRequest, authorization: [UInt8], destination: PostDestination, nowSeconds: Int64
    ) -> PostRequest

    /// Reads an answer, also one that accepts the push: the status of such a `PushAnswer` is 200.
    ///
    /// - Parameters:
    ///   - answer: the answer.
    ///   - push: the push that it is to.
    ///   - nowSeconds: the wall clock, in seconds since 1970.
    /// - Returns: the answer.
    func answer(_ answer: PostAnswer, to push: borrowing PushRequest, nowSeconds: Int64) -> PushAnswer

    /// Returns the meaning of an answer for the authorization; the client looks at `authorizationExpired` alone.
    func meaning(of answer: PushAnswer) -> AnswerMeaning
}
