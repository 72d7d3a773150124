import ChangeEvents
import Essentials
import HTTPServer
import JSON
import Messages

/// The events of one request, each as the message that a worker would decode.
///
/// | content type | the request is |
/// |---|---|
/// | `application/cloudevents+json` | one event (structured mode) |
/// | `application/cloudevents-batch+json` | an array of events, perhaps empty (batch mode) |
/// | JSON, with headers `ce-NAME` | the data of one event (binary mode) |
/// | JSON of Debezium, or of a webhook of Supabase | the change of a row (`TableSource`) |
/// | other JSON without such headers | the data of a `push.requested`, whose other attributes Apus makes |
///
/// Source: CloudEvents 1.0.2, "HTTP Protocol Binding", section 3.
struct EventRequest {
    /// The most events of a batch.
    static let eventsMaximum = 1_000

    /// The messages, in the order of the events.
    let messages: [Message]
    /// Whether the request is a batch, whose answer tells of each event.
    let isBatch: Bool
    /// The idempotency key of a push in plain JSON; nil without one.
    let key: String?

    /// Reads a request, without looking into events.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - tokenName: the name of its token, which becomes the source of plain JSON.
    ///   - nowMilliseconds: becomes the time of plain JSON.
    /// - Throws: `NativeProblem`, 400 or 415.
    init(
        _ request: HTTPRequest, tokenName: String, nowMilliseconds: Int64
    ) throws(NativeProblem) {
        let contentType = try Self.contentType(of: request)
        let attributes = try EventHeaders.attributes(request.fields)
        switch contentType {
        case "application/cloudevents+json"?:
            isBatch = false
            key = nil
            messages = [Self.message(request.body, "application/cloudevents+json", traceOf: request)]
        case "application/cloudevents-batch+json"?:
            isBatch = true
            key = nil
            messages = try Self.elements(of: request.body).map {
                Self.message($0, "application/cloudevents+json", traceOf: request)
            }
        default:
            isBatch = false
            var message = Message(body: request.body)
            message.properties.contentType = contentType ?? "application/json"
            Self.trace(&message, as: request)
            message.headers += attributes
            key = try attributes.isEmpty ? Self.idempotencyKey(of: request) : nil
            if attributes.isEmpty {
                let (identifier, source) = (key ?? RandomIdentifier.uuid(), Self.source(ofToken: tokenName))
                if EventDecoder.isTableChange(request.body) {
                    message.properties.messageID = identifier
                    message.properties.appID = source
                } else {
                    message.headers += Self.plainAttributes(identifier, source, nowMilliseconds: nowMilliseconds)
                }
            }
            // An identifier that Apus makes never comes again.
            if key != nil || !attributes.isEmpty { message.askToBeRemembered() }
            messages = [message]
        }
    }

    /// The key of a request that asks for a push in plain JSON, by which the registry remembers it; nil without one.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - tokenName: the name of its token.
    /// - Returns: `EventIdentity.key` of the push.
    /// - Throws: `NativeProblem`, as the initializer.
    static func rememberedKey(of request: HTTPRequest, tokenName: String) throws(NativeProblem) -> Int64? {
        guard request.field("idempotency-key") != nil,
            try contentType(of: request)?.hasPrefix("application/cloudevents") != true,
            try EventHeaders.attributes(request.fields).isEmpty, let key = try idempotencyKey(of: request)
        else { return nil }
        return EventIdentity.key(source: source(ofToken: tokenName), identifier: key)
    }

    /// The media type without parameters, in lower case; nil if the request has none.
    private static func contentType(of request: HTTPRequest) throws(NativeProblem) -> String? {
        let values = request.fields.filter { $0.name == "content-type" }.map(\.value)
        guard values.count <= 1 else { throw NativeProblem(.invalid, "Content-Type is there twice.") }
        return values.first.map { String($0.prefix { $0 != ";" && $0 != " " && $0 != "\t" }).lowercased() }
    }

    private static func message(_ body: [UInt8], _ contentType: String, traceOf request: HTTPRequest) -> Message {
        var message = Message(body: body)
        message.properties.contentType = contentType
        trace(&message, as: request)
        message.askToBeRemembered()
        return message
    }

    private static func trace(_ message: inout Message, as request: HTTPRequest) {
        for name in ["traceparent", "tracestate"] {
            if let value = request.field(name) { message.headers.append(MessageHeader(name, .string(value))) }
        }
    }

    private static func source(ofToken name: String) -> String { "/tokens/\(PercentEncoding.encode(name))" }

    /// The attributes of a push that plain JSON asks for.
    private static func plainAttributes(
        _ identifier: String, _ source: String, nowMilliseconds: Int64
    ) -> [MessageHeader] {
        [
            ("specversion", "1.0"), ("type", "push.requested"), ("id", identifier), ("source", source),
            ("time", WallTime.text(milliseconds: nowMilliseconds)),
        ].map { MessageHeader(EventHeaders.prefix + $0, .string($1)) }
    }

    /// The key of a request, which the draft of the IETF writes in quotation marks, and many clients without.
    private static func idempotencyKey(of request: HTTPRequest) throws(NativeProblem) -> String? {
        let values = request.fields.filter { $0.name == "idempotency-key" }.map(\.value)
        guard let value = values.first else { return nil }
        var key = value[...]
        if key.count >= 2, key.hasPrefix("\""), key.hasSuffix("\"") { key = key.dropFirst().dropLast() }
        guard values.count == 1, (1...255).contains(key.utf8.count),
            key.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\"") })
        else {
            throw NativeProblem(
                .invalid, "Idempotency-Key has to be there once, with 1 to 255 printable characters of ASCII.")
        }
        return String(key)
    }

    /// The events of a batch, each as it was written, so that no number changes on its way.
    ///
    /// Only the array is looked at here; each event is read when it is validated.
    private static func elements(of body: [UInt8]) throws(NativeProblem) -> [[UInt8]] {
        let wrong = NativeProblem(.invalid, "A batch has to be a JSON array of objects, each an event.")
        let blanks = Array(" \t\r\n".utf8)
        let array = body.drop(while: blanks.contains)
        guard array.first == UInt8(ascii: "["), let end = array.lastIndex(where: { !blanks.contains($0) }),
            end > array.startIndex, array[end] == UInt8(ascii: "]")
        else { throw wrong }
        var splitter = JSONValueSplitter(bytesMaximum: body.count)
        let values = (splitter.add(array[(array.startIndex + 1)..<end]) + splitter.finish()).compactMap(\.bytes)
        // Objects with a comma between two of them.
        let isArray = values.indices.allSatisfy { index in
            index.isMultiple(of: 2) ? values[index].first == UInt8(ascii: "{") : values[index] == [UInt8(ascii: ",")]
        }
        guard isArray, values.isEmpty || !values.count.isMultiple(of: 2) else { throw wrong }
        let count = (values.count + 1) / 2
        guard count <= eventsMaximum else {
            throw NativeProblem(.tooLarge, "The batch has \(count) events; it may have \(eventsMaximum).")
        }
        return values.filter { $0 != [UInt8(ascii: ",")] }
    }
}
