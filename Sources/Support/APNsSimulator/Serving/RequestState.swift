/// One request on its way through the simulator; the objects are used again for later requests.
final class RequestState {
    /// The stream that the request came on.
    var stream: Int32 = 0
    /// Changes each time the object is used again, so that a late answer finds out.
    var generation = 0
    /// The headers.
    var head = RequestHead()
    /// The payload.
    var body = RequestBody()
    /// How much later than usual the answer comes, because of a fault.
    var extraDelayNanoseconds: UInt64 = 0
    /// Whether all of the request has come.
    var isComplete = false
    /// Whether the payload is known to be a JSON object.
    var isPayloadChecked = false
    /// Whether it has been answered.
    var isAnswered = false

    /// Makes the object ready for a request.
    func begin(stream: Int32) {
        self.stream = stream
        generation += 1
        head.removeAll()
        body.removeAll()
        extraDelayNanoseconds = 0
        isComplete = false
        isPayloadChecked = false
        isAnswered = false
    }
}
