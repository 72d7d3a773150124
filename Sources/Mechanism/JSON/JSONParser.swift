internal import CSimdJSON

/// Reads JSON documents, one after the other, into buffers that it reuses.
///
/// The work is simdjson's. A document is laid out as its *tape*, and the values that `parse` gives are positions on it:
/// they cost no allocation, and hold the parser. A value is good until its parser parses again; using it later is a
/// programmer's error that traps. simdjson does not say why it refuses a document; a second reading (`JSONFaultFinder`)
/// finds the place and the reason, at no cost for valid documents.
///
/// The parser accepts exactly RFC 8259: no comments, no trailing commas, no lone surrogates. A byte order mark before
/// the document is skipped (RFC 8259 section 8.1), which editors and libraries of Windows write.
/// Integers are exact up to 64 bits (-2^63 to 2^64-1); numbers with a fraction or an exponent are doubles. The parser
/// refuses a larger integer, or a number beyond the range of doubles, unless it is set to round. It refuses a key that
/// occurs more than once in an object, unless it is asked not to; then iteration gives each, and look-up the first.
///
/// A parser belongs to the thread that uses it.
public final class JSONParser {
    /// The largest size of a document, in bytes, whose buffers are kept for the next one.
    ///
    /// The buffers of simdjson take about fourteen times the document; a rare large one must not keep them.
    public static let retainedBytes = 64 * 1024

    /// The byte order mark of UTF-8.
    public static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    /// How many arrays and objects may lie in each other; an empty innermost one does not count.
    public let depthMaximum: Int
    /// How large a document may be, in bytes.
    public let bytesMaximum: Int
    /// Whether a number out of range is read as the nearest finite double, and not refused.
    public let roundsNumbers: Bool
    /// The first number of the document that was rounded, as a parser that does not round would refuse it.
    public private(set) var roundedNumber: JSONError?

    @usableFromInline let tape: UnsafeMutablePointer<JSONTape>
    private let handle: OpaquePointer

    /// Creates a parser.
    ///
    /// - Parameters:
    ///   - depthMaximum: how many arrays and objects may lie in each other, 1 to 1024.
    ///   - bytesMaximum: how large a document may be, in bytes, up to 1 GiB.
    ///   - roundsNumbers: whether a number out of range is read as the nearest finite double.
    public init(depthMaximum: Int = 64, bytesMaximum: Int = 16 * 1024 * 1024, roundsNumbers: Bool = false) {
        precondition((1...1024).contains(depthMaximum), "the depth must be 1 to 1024, because writing recurses")
        precondition((1...(1 << 30)).contains(bytesMaximum), "a tape counts in 32 bits")
        guard let handle = apus_json_parser_create(depthMaximum + 1, Self.retainedBytes) else {
            preconditionFailure("there is no memory for a JSON parser")
        }
        self.depthMaximum = depthMaximum
        self.bytesMaximum = bytesMaximum
        self.roundsNumbers = roundsNumbers
        self.handle = handle
        self.tape = .allocate(capacity: 1)
        self.tape.initialize(to: JSONTape())
    }

    deinit {
        apus_json_parser_destroy(handle)
        tape.deallocate()
    }

    /// The size of a document, in bytes, that the present buffers hold; they are about fourteen times as large.
    var capacityBytes: Int { apus_json_parser_capacity(handle) }

    /// Gives the buffers of a large document back to the system; values of the document are void from now on.
    ///
    /// Without it they are kept until the next document, which may be long in coming.
    ///
    /// - Parameter retainedBytes: does nothing if the last documents had no more than this; 0 gives everything back.
    public func relinquish(retainedBytes: Int = JSONParser.retainedBytes) {
        tape.pointee.generation &+= 1
        tape.pointee.words = nil
        apus_json_parser_relinquish(handle, retainedBytes)
    }

    /// Parses a document; values of the previous one are void from now on.
    ///
    /// - Parameters:
    ///   - bytes: the document in UTF-8; they are copied.
    ///   - refusingRepeatedKeys: whether a key that occurs twice in an object is an error; false for what peers say, of
    ///     which as much is read as can be.
    /// - Returns: the document's root.
    /// - Throws: `JSONError`, if the document is too large, too deep or not JSON.
    public func parse(
        _ bytes: UnsafeBufferPointer<UInt8>, refusingRepeatedKeys: Bool = true
    ) throws(JSONError) -> JSONValue {
        let root = try parseDocument(bytes)
        if refusingRepeatedKeys, let key = tape.pointee.repeatedKey() { throw Self.repeated(key) }
        return root
    }

    private static func repeated(_ key: UnsafeBufferPointer<UInt8>) -> JSONError {
        let isShown = key.count <= 64 && key.allSatisfy { $0 > 0x20 && $0 < 0x7f }
        let name = isShown ? "the key \"\(String(decoding: key, as: UTF8.self))\"" : "a key of \(key.count) bytes"
        return JSONError(.repeatedKey, "\(name) is there twice in one object")
    }

    /// Parses a document behind its byte order mark, if it has one.
    private func parseDocument(_ document: UnsafeBufferPointer<UInt8>) throws(JSONError) -> JSONValue {
        // Nearly every document begins with a bracket.
        guard let first = document.first, first >= 0x80, document.starts(with: Self.byteOrderMark) else {
            return try parseUnmarked(document)
        }
        let bytes = UnsafeBufferPointer(rebasing: document[Self.byteOrderMark.count...])
        do throws(JSONError) {
            // Newer versions of simdjson would skip another one.
            guard !bytes.starts(with: Self.byteOrderMark) else {
                throw JSONFaultFinder.fault(in: bytes, depthMaximum: depthMaximum)
            }
            return try parseUnmarked(bytes)
        } catch {
            throw JSONError(
                error.code, byteOffset: error.byteOffset.map { $0 + Self.byteOrderMark.count }, error.message)
        }
    }

    private func parseUnmarked(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONError) -> JSONValue {
        tape.pointee.generation &+= 1
        tape.pointee.words = nil
        roundedNumber = nil
        guard bytes.count <= bytesMaximum else {
            throw JSONError(.tooLarge, "the document has \(bytes.count) bytes; at most \(bytesMaximum) are accepted")
        }
        guard let base = bytes.baseAddress else { throw JSONFaultFinder.emptyDocument }
        var document = apus_json_document()
        switch apus_json_parse(handle, base, bytes.count, &document) {
        case APUS_JSON_SUCCESS:
            tape.pointee.words = document.tape
            tape.pointee.strings = document.strings
            return JSONValue(parser: self, generation: tape.pointee.generation, index: 1)
        case APUS_JSON_OUT_OF_MEMORY:
            throw JSONError(.tooLarge, "there is no memory for a document of \(bytes.count) bytes")
        default:
            let fault = JSONFaultFinder.fault(in: bytes, depthMaximum: depthMaximum)
            guard roundsNumbers, fault.code == .numberOutOfRange else { throw fault }
            let rounded = try JSONFaultFinder.roundingNumbers(of: bytes, depthMaximum: depthMaximum)
            // A rounded number is in range, so this happens once.
            let value = try rounded.withUnsafeBufferPointer { bytes throws(JSONError) in try parseUnmarked(bytes) }
            roundedNumber = fault
            return value
        }
    }

    /// Parses a document; values of the previous one are void from now on.
    ///
    /// - Parameters:
    ///   - bytes: the document in UTF-8.
    ///   - refusingRepeatedKeys: whether a key that occurs twice in an object is an error.
    /// - Returns: the document's root.
    /// - Throws: `JSONError`, if the document is too large, too deep or not JSON.
    public func parse(_ bytes: [UInt8], refusingRepeatedKeys: Bool = true) throws(JSONError) -> JSONValue {
        try bytes.withUnsafeBufferPointer { (buffer) throws(JSONError) -> JSONValue in
            try parse(buffer, refusingRepeatedKeys: refusingRepeatedKeys)
        }
    }

    /// Parses a document; values of the previous one are void from now on.
    ///
    /// - Parameter text: the document.
    /// - Returns: the document's root.
    /// - Throws: `JSONError`, if the document is too large, too deep or not JSON.
    public func parse(_ text: String) throws(JSONError) -> JSONValue { try parse(Array(text.utf8)) }
}
