/// Reads requests of HTTP/1.1 from a stream of bytes, strictly (RFC 9112).
///
/// The parser refuses everything that another recipient could read differently: a line that does not end with CR LF, a
/// blank before a colon, a folded field, a repeated length, a control character, an odd extension of a chunk. A proxy
/// in front of this server and the server itself agree on where each request ends, or there is no answer but a refusal.
///
/// Bytes go in with `append`, steps come out of `next`. After `end` the bytes of the next request wait until
/// `beginNext`; after a refusal nothing more comes.
struct HTTPRequestParser {
    /// The next thing that the parser found in the stream.
    enum Step: Equatable {
        /// Nothing yet: more bytes are needed.
        case needsMore
        /// The head of a request; `needsMore`, `body` and `end` follow.
        case head(HTTPRequestHead)
        /// A piece of the body.
        case body([UInt8])
        /// The request is complete.
        case end
        /// The request is not well-formed, and it is not known where the next begins.
        case refused(HTTPRefusal)
    }

    /// The parts of a request.
    enum Part {
        case requestLine
        case fields
        case body(remaining: Int)
        case chunkSize
        case chunk(remaining: Int)
        case chunkEnd
        case trailer
        case ended
        case refused(HTTPRefusal)
    }

    /// A line, or why there is none.
    enum Line: Equatable {
        case incomplete
        case complete(Range<Int>)
        /// It does not end with CR LF, and is so long without its line feed.
        case broken(bytes: Int)
    }

    /// How many header fields a request may have.
    static let fieldsMaximum = 100
    /// How many bytes of all lines between chunks a request may have: sizes, extensions and trailer fields.
    static let chunkLinesBytesMaximum = 16 * 1_024

    let headBytesMaximum: Int
    /// How long the body of this request may be; set it after the head.
    var bodyBytesMaximum = 0
    var part = Part.requestLine
    var head = HTTPRequestHead()
    /// The received bytes; those from `position` on are not consumed.
    var input: [UInt8] = []
    var position = 0
    /// Up to where no line feed was found.
    private var searchedTo = 0
    /// How long the lines of the head are, then those between chunks.
    var lineBytes = 0
    /// The bytes of the body that chunk sizes have announced.
    var chunkedBytes = 0

    init(headBytesMaximum: Int) { self.headBytesMaximum = headBytesMaximum }

    /// Whether nothing of the next request has come.
    var isBetweenRequests: Bool {
        if case .requestLine = part { return position == input.count }
        return false
    }

    /// Takes bytes from the stream.
    mutating func append(_ bytes: some Collection<UInt8>) {
        if position > 0 {
            input.removeSubrange(..<position)
            searchedTo -= min(position, searchedTo)
            position = 0
        }
        input.append(contentsOf: bytes)
    }

    /// Continues with the bytes after the ended request.
    mutating func beginNext() {
        guard case .ended = part else { return }
        part = .requestLine
        head = HTTPRequestHead()
        lineBytes = 0
        chunkedBytes = 0
        bodyBytesMaximum = 0
        // A connection that waits for its next request holds no memory.
        if position == input.count {
            input = []
            position = 0
            searchedTo = 0
        }
    }

    /// Reads as far as to the next step.
    mutating func next() -> Step {
        while true {
            let step =
                switch part {
                case .requestLine: readRequestLine()
                case .fields: readField()
                case .body(let remaining): readBody(remaining)
                case .chunkSize: readChunkSize()
                case .chunk(let remaining): readChunk(remaining)
                case .chunkEnd: readChunkEnd()
                case .trailer: readTrailer()
                case .ended: Step?.some(.end)
                case .refused(let refusal): Step?.some(.refused(refusal))
                }
            if let step { return step }
        }
    }

    // MARK: Common

    /// Ends the reading permanently.
    mutating func refuse(_ refusal: HTTPRefusal) -> Step {
        part = .refused(refusal)
        input = []
        position = 0
        return .refused(refusal)
    }

    /// Consumes a line, and gives where it is in `input`, without its end.
    mutating func takeLine() -> Line {
        guard let end = input[max(position, searchedTo)...].firstIndex(of: OctetClass.lineFeed) else {
            searchedTo = input.count
            return .incomplete
        }
        guard end > position, input[end - 1] == OctetClass.carriageReturn else {
            return .broken(bytes: end - position)
        }
        let line = position..<(end - 1)
        position = end + 1
        searchedTo = position
        lineBytes += line.count + 2
        return .complete(line)
    }

    /// How many bytes of an incomplete line have come.
    var pendingBytes: Int { input.count - position }
}
