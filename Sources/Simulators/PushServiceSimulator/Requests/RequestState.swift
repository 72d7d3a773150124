/// One request on its way through a simulator; the objects are used again for later requests.
///
/// The headers lie in memory that is allocated by hand, because an array would be counted each time it is looked at.
public final class RequestState {
    private static let firstHeaderBytes = 1_024

    /// The stream that the request came on.
    private(set) var stream: Int32 = 0
    /// Changes each time the object is used again, so that a late answer finds out.
    var generation = 0
    /// The payload.
    var body: RequestBody
    /// How much later than usual the answer comes, because of a fault.
    var extraDelayNanoseconds: UInt64 = 0
    /// How many bytes of the answer's body are sent, because of a fault.
    var answerBytesMaximum = Int.max
    /// Whether the answer is given without being sent, because of a fault.
    var losesAnswer = false
    /// Whether all of the request has come.
    var isComplete = false
    /// Whether it has been answered.
    var isAnswered = false

    /// Whether the payload is known to be a JSON object.
    public var isPayloadChecked = false
    /// The service's state of the request until it is answered.
    public var note: AnyObject?

    private let names: HeaderNames
    private let ranges: UnsafeMutablePointer<Range<Int>>
    private var headerBytes = UnsafeMutablePointer<UInt8>.allocate(capacity: firstHeaderBytes)
    private var headerCapacity = firstHeaderBytes
    private var headerCount = 0
    private var presentHeaders: UInt32 = 0
    private var hasDuplicateHeaders = false

    /// Makes room for requests to a service.
    ///
    /// - Parameters:
    ///   - names: the headers that it looks at.
    ///   - bodyBytesMaximum: how many bytes of a body are kept.
    public init(_ names: HeaderNames, bodyBytesMaximum: Int) {
        self.names = names
        ranges = .allocate(capacity: max(1, names.count))
        ranges.initialize(repeating: 0..<0, count: names.count)
        body = RequestBody(keptBytesMaximum: bodyBytesMaximum)
    }

    deinit {
        headerBytes.deallocate()
        ranges.deallocate()
    }

    /// The headers, on loan: valid until the request is over.
    public var fields: HeaderFields {
        HeaderFields(bytes: headerBytes, ranges: ranges, present: presentHeaders, hasDuplicates: hasDuplicateHeaders)
    }

    /// The payload, as many bytes as are kept.
    public var payload: [UInt8] { body.bytes }

    /// How many bytes of payload came.
    public var payloadLength: Int { body.length }

    /// Lets the answer be given without being sent.
    public func loseAnswer() { losesAnswer = true }

    /// Makes the object ready for a request; the memory is kept.
    func begin(stream: Int32) {
        self.stream = stream
        generation += 1
        headerCount = 0
        presentHeaders = 0
        hasDuplicateHeaders = false
        body.removeAll()
        extraDelayNanoseconds = 0
        answerBytesMaximum = .max
        losesAnswer = false
        isComplete = false
        isPayloadChecked = false
        isAnswered = false
        note = nil
    }

    /// Adds one header; one that the service ignores is left out, and of a repeated one the first value stays.
    func add(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        guard let number = names.number(of: name) else { return }
        let bit: UInt32 = 1 << UInt32(number)
        guard presentHeaders & bit == 0 else {
            hasDuplicateHeaders = true
            return
        }
        presentHeaders |= bit
        let end = headerCount + value.count
        if end > headerCapacity { growHeaders(to: end) }
        if let source = value.baseAddress { (headerBytes + headerCount).update(from: source, count: value.count) }
        ranges[number] = headerCount..<end
        headerCount = end
    }

    /// Adds one header by its text, for tests.
    public func add(_ name: String, _ value: String) {
        var name = name
        var value = value
        name.withUTF8 { name in value.withUTF8 { value in add(name: name, value: value) } }
    }

    private func growHeaders(to needed: Int) {
        headerCapacity = max(2 * headerCapacity, needed)
        let grown = UnsafeMutablePointer<UInt8>.allocate(capacity: headerCapacity)
        grown.update(from: headerBytes, count: headerCount)
        headerBytes.deallocate()
        headerBytes = grown
    }
}

/// The body of one request: as many bytes as the service could accept, and the length of all of them.
public struct RequestBody {
    private let keptBytesMaximum: Int
    /// The bytes, as many as are kept.
    public private(set) var bytes: [UInt8] = []
    /// How many bytes came.
    public private(set) var length = 0

    /// Begins without any.
    ///
    /// - Parameter keptBytesMaximum: the most bytes that are kept, one more than the largest limit of the service.
    public init(keptBytesMaximum: Int) { self.keptBytesMaximum = keptBytesMaximum }

    /// Forgets the body but keeps the memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        length = 0
    }

    /// Adds what one DATA frame carried.
    public mutating func append(_ more: UnsafeRawBufferPointer) {
        length += more.count
        let room = keptBytesMaximum - bytes.count
        guard room > 0 else { return }
        bytes.append(contentsOf: more.prefix(room))
    }
}
