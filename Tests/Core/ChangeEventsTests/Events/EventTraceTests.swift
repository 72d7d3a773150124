import ChangeEvents
import DispatchCore
import Foundation
import Messages
import Notifications
import RegistryCore
import Testing
import Tracing

@Suite("The trace of an event")
struct EventTraceTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    private static let other = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
    private let decoding = EventDecoding()

    private func structured(_ attributes: [String: String?]) -> Message {
        decoding.message(EventText.changed([:], attributes))
    }

    private func binary(prefix: String, _ attributes: [(String, HeaderValue)]) -> Message {
        var message = decoding.message(
            Array(EventText.object(EventText.datasetFields).utf8), contentType: "application/json")
        let required: [(String, HeaderValue)] = [
            ("specversion", .string("1.0")), ("id", .string("e-1")), ("source", .string("/tests")),
            ("type", .string("a.dataset.changed")),
        ]
        message.headers = (required + attributes).map { MessageHeader("\(prefix)\($0.0)", $0.1) }
        return message
    }

    private func plain(_ headers: [(String, HeaderValue)]) -> Message {
        var message = decoding.message(
            Array(EventText.object(EventText.datasetFields).utf8), contentType: "application/json")
        message.properties.messageID = "e-1"
        message.properties.type = "a.dataset.changed"
        message.headers = headers.map { MessageHeader($0.0, $0.1) }
        return message
    }

    /// The trace of a message, which its outline says, too.
    private func trace(_ message: Message) throws -> TraceContext? {
        let trace = try decoding.decoder.decode(message).trace
        #expect(decoding.decoder.outline(of: message).trace == trace)
        return trace
    }

    private static func context(_ parent: String, _ state: String? = nil) -> TraceContext? {
        var context = TraceContext(traceParent: parent)
        context?.state = state.flatMap { TraceState($0) }
        return context
    }

    @Test("A structured event has it in its attributes")
    func structured() throws {
        let message = structured(["traceparent": "\"\(Self.parent)\"", "tracestate": "\"a=1,b=2\""])
        #expect(try trace(message) == Self.context(Self.parent, "a=1,b=2"))
        #expect(try trace(structured(["traceparent": "\"\(Self.parent)\""])) == Self.context(Self.parent))
        #expect(try trace(structured([:])) == nil)
    }

    @Test("It is read before data in base64, which is a document of its own")
    func base64() throws {
        let fields = ["identityPoolId", "identityId", "datasetName"].map { ($0, EventText.datasetFields[$0] ?? "") }
        let object = EventText.object(Dictionary(uniqueKeysWithValues: fields))
        let data = "\"\(Data(object.utf8).base64EncodedString())\""
        let event = EventText.event(
            "a.dataset.deleted", data: [:], ["data_base64": data, "traceparent": "\"\(Self.parent)\""])
        let text = String(decoding: event, as: UTF8.self).replacing("\"data\":{},", with: "")
        let message = decoding.message(Array(text.utf8))
        #expect(try decoding.decoder.decode(message).trace == Self.context(Self.parent))
    }

    @Test(
        "A binary event has it in headers, with any of the prefixes in any case",
        arguments: ["ce-", "ce_", "cloudEvents_", "cloudEvents:", "CloudEvents:"])
    func binary(_ prefix: String) throws {
        let attributes: [(String, HeaderValue)] = [
            ("traceparent", .string(Self.parent)), ("TraceState", .bytes(Array("a=1".utf8))),
        ]
        #expect(try trace(binary(prefix: prefix, attributes)) == Self.context(Self.parent, "a=1"))
        #expect(try trace(binary(prefix: prefix, [("traceparent", .bytes(Array(Self.parent.utf8)))])) != nil)
        #expect(try trace(binary(prefix: prefix, [("tracestate", .string("a=1"))])) == nil)
    }

    @Test("Any event may have it in headers without a prefix; its own attributes count more, if they can be read")
    func headers() throws {
        let headers: [(String, HeaderValue)] = [("traceparent", .string(Self.other)), ("tracestate", .string("c=3"))]
        let expected = Self.context(Self.other, "c=3")
        #expect(try trace(plain(headers)) == expected)
        let messageHeaders = headers.map { MessageHeader($0.0, $0.1) }
        for (attributes, counts) in [
            ([:], expected), (["traceparent": "\"\(Self.parent)\""], Self.context(Self.parent)),
            (["traceparent": "\"\(Self.parent.uppercased())\"", "tracestate": "\"a=1\""], expected),
        ] as [([String: String?], TraceContext?)] {
            var message = structured(attributes)
            message.headers = messageHeaders
            #expect(try trace(message) == counts)
        }
        var message = binary(prefix: "ce-", [("traceparent", .string(Self.parent))])
        message.headers = messageHeaders + message.headers
        #expect(try trace(message) == Self.context(Self.parent))
        message = binary(prefix: "ce-", [])
        message.headers += messageHeaders
        #expect(try trace(message) == expected)
    }

    @Test("A trace that cannot be read costs the event nothing")
    func malformed() throws {
        for value in ["\"00-1\"", "17", "null", "{}", "[\"\(Self.parent)\"]", "\"\"", "true"] {
            #expect(try trace(structured(["traceparent": value, "tracestate": "\"a=1\""])) == nil, "\(value)")
        }
        for value in [HeaderValue.int64(1), .void, .rawString([0xff]), .string("x"), .bytes([]), .table([])] {
            #expect(try trace(plain([("traceparent", value)])) == nil)
            #expect(try trace(binary(prefix: "ce-", [("traceparent", value)])) == nil)
        }
        for state in ["\"A=1\"", "17", "\"\(String(repeating: "a", count: 513))\""] {
            let message = structured(["traceparent": "\"\(Self.parent)\"", "tracestate": state])
            #expect(try trace(message) == Self.context(Self.parent))
        }
    }

    @Test("It goes on through retries, chunks, dead letters as they are stored, and replays")
    func copies() throws {
        let headers: [(String, HeaderValue)] = [("traceparent", .string(Self.other)), ("tracestate", .string("c=3"))]
        let messages = [
            structured(["traceparent": "\"\(Self.parent)\"", "tracestate": "\"a=1\""]), plain(headers),
            binary(prefix: "cloudEvents:", headers.map { ($0.0, $0.1) }),
        ]
        for message in messages {
            let expected = try #require(try trace(message))
            let tag = DeliveryTag(epoch: 1, number: 1)
            let delivery = Delivery(
                tag: tag, deliveryClass: .interactive, isRedelivered: false, exchange: "apus.changes",
                routingKey: "dataset", message: message)
            var state = RetryState(of: delivery, nowMilliseconds: 1_000)
            state.attempt = 3
            state.deviceIDs = ["device-1"]
            let retry = state.requeuedCopy(of: message, reason: "throttled", detail: "waits")
            #expect(try trace(retry) == expected)
            state.deviceIDs = nil
            let chunk = FanOutChunk(number: 1, after: nil, through: nil, subscriptions: [7], deviceCount: 9)
            state.chunk = FanOutChunkJob(fanOut: 4, chunk: chunk)
            let part = state.requeuedCopy(of: retry, reason: "fan-out", detail: "chunk 1")
            #expect(try trace(part) == expected)
            let letter = try #require(Message(envelope: part.envelope, body: part.body))
            #expect(try trace(letter) == expected)
            #expect(try trace(letter.replayed(publishedTo: "")) == expected)
            #expect(try trace(message.replayed(publishedTo: "apus.changes")) == expected)
        }
    }
}
