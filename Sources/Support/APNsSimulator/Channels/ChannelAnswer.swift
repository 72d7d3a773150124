/// The answer to a request about channels.
struct ChannelAnswer: Hashable {
    var status: Int
    var channel: String?
    var body: [UInt8] = []

    init(_ status: Int, channel: String? = nil, body: String = "") {
        self.status = status
        self.channel = channel
        self.body = Array(body.utf8)
    }

    init(_ status: Int, reason: String) { self.init(status, body: #"{"reason":"\#(reason)"}"#) }
}
