import ChangeEvents
import Essentials
import Messages
import Notifications
import Testing

@Suite("The three encodings of an event")
struct EventEncodingTests {
    private let decoding = EventDecoding()
    private let expected = ChangeEvent(
        identifier: "e-1", source: "/tests", time: WallTime(milliseconds: 1_769_860_800_250),
        kind: .dataset(
            DatasetChange(
                operation: .changed,
                key: DatasetKey(
                    identityPoolID: EventText.pool, identityID: EventText.identity, datasetName: "settings"),
                syncCount: 42, deviceID: "device-1")))
    private let data = Array(EventText.object(EventText.datasetFields).utf8)

    private func binary(_ headers: [(String, HeaderValue)], contentType: String? = "application/json") -> Message {
        var message = decoding.message(data, contentType: contentType)
        message.headers = headers.map { MessageHeader($0.0, $0.1) }
        return message
    }

    private func attributes(prefix: String) -> [(String, HeaderValue)] {
        [
            ("traceparent", .string("00-x")), ("\(prefix)specversion", .string("1.0")), ("\(prefix)id", .string("e-1")),
            ("\(prefix)Source", .bytes(Array("/tests".utf8))), ("\(prefix)type", .string("a.dataset.changed")),
            ("\(prefix)time", .string("2026-01-31T12:00:00.25Z")),
        ]
    }

    private func plain() -> Message {
        var message = decoding.message(data, contentType: "application/json")
        message.properties.messageID = "e-1"
        message.properties.appID = "/tests"
        message.properties.type = "a.dataset.changed"
        message.headers = [MessageHeader("x-timestamp-ms", .int64(1_769_860_800_250))]
        return message
    }

    @Test(
        "Structured events are known by their content type in any case and with parameters",
        arguments: [
            "application/cloudevents+json", "Application/CloudEvents+JSON; charset=UTF-8",
            "application/cloudevents+json;charset=utf-8", "application/json", "text/json", nil, "",
            "application/vnd.example+json",
        ])
    func readsStructured(contentType: String?) throws {
        let body = EventText.changed([:], ["time": "\"2026-01-31T12:00:00.250Z\"", "subject": "\"x\""])
        #expect(try decoding.decoder.decode(decoding.message(body, contentType: contentType)) == expected)
    }

    @Test(
        "Binary events are known by any of the prefixes in any case",
        arguments: ["ce-", "ce_", "cloudEvents_", "cloudEvents:", "CE-", "cloudevents:"])
    func readsBinary(prefix: String) throws {
        #expect(try decoding.decoder.decode(binary(attributes(prefix: prefix))) == expected)
        #expect(try decoding.decoder.decode(binary(attributes(prefix: prefix), contentType: nil)) == expected)
    }

    @Test("Binary attributes may be numbers, and the time a timestamp")
    func readsTypedHeaders() throws {
        var headers = attributes(prefix: "ce-")
        headers[2].1 = .int32(7)
        headers[5].1 = .timestamp(1_769_860_800)
        let event = try decoding.decoder.decode(binary(headers))
        #expect(event.identifier == "7")
        #expect(event.time?.milliseconds == 1_769_860_800_000)
    }

    @Test("Plain JSON takes the attributes from the properties of AMQP")
    func readsPlain() throws {
        #expect(try decoding.decoder.decode(plain()) == expected)
        var message = plain()
        message.properties.appID = nil
        message.properties.contentType = nil
        #expect(try decoding.decoder.decode(message).source == "")
    }

    @Test("The data of a structured event may be in base64")
    func readsBase64() throws {
        let text =
            "\"eyJpZGVudGl0eVBvb2xJZCI6InVzLWVhc3QtMTphIiwiaWRlbnRpdHlJZCI6InVzLWVhc3QtMTpiIiwi"
            + "ZGF0YXNldE5hbWUiOiJkIiwic3luY0NvdW50IjoxfQ==\""
        let change = try decoding.dataset(EventText.changed([:], ["data": nil, "data_base64": text]))
        #expect(change?.key == DatasetKey(identityPoolID: "us-east-1:a", identityID: "us-east-1:b", datasetName: "d"))
        let both = decoding.rejection(EventText.changed([:], ["data_base64": text]))
        #expect(both?.reason == .invalidField)
        for broken in ["\"?\"", "7", "\"e\"", "\"====\"", "\"e===\""] {
            let rejection = decoding.rejection(EventText.changed([:], ["data": nil, "data_base64": broken]))
            #expect(rejection?.reason == .invalidField, "\(broken)")
        }
        let empty = decoding.rejection(EventText.changed([:], ["data": nil, "data_base64": "\"\""]))
        #expect(empty?.reason == .invalidJSON)
    }

    @Test("The time is the attribute, else the header, else the property; hints that make no sense are ignored")
    func readsTimes() throws {
        var message = decoding.message(EventText.changed([:], ["time": "\"2026-01-31T12:00:00Z\""]))
        message.properties.timestampSeconds = 7
        message.headers = [MessageHeader("x-timestamp-ms", .string("8001"))]
        #expect(try decoding.decoder.decode(message).time?.milliseconds == 1_769_860_800_000)
        message.body = EventText.changed()
        #expect(try decoding.decoder.decode(message).time?.milliseconds == 8001)
        for nonsense in [HeaderValue.string("soon"), .int64(-1), .uint64(.max), .void, .string("")] {
            message.headers = [MessageHeader("x-timestamp-ms", nonsense)]
            #expect(try decoding.decoder.decode(message).time?.milliseconds == 7000)
        }
        message.properties.timestampSeconds = .max
        #expect(try decoding.decoder.decode(message).time?.milliseconds == nil)
    }

    @Test("The property expiration is the time to live, and ignored if it is no number")
    func readsExpiration() throws {
        var message = decoding.message(EventText.changed())
        let cases: [(String?, Int64?)] = [
            (nil, nil), ("60000", 60000), ("0", 0), ("", nil), ("soon", nil), ("-1", nil), ("+1", nil),
            ("99999999999999999999", nil),
        ]
        for (expiration, milliseconds) in cases {
            message.properties.expiration = expiration
            #expect(try decoding.decoder.decode(message).timeToLiveMilliseconds == milliseconds)
        }
    }

    @Test(
        "Other content types are refused",
        arguments: [
            "application/cloudevents-batch+json", "application/cloudevents+avro", "text/plain",
            "application/octet-stream", "application/x-protobuf", ";", "json",
        ])
    func refusesOtherContentTypes(contentType: String) {
        let rejection = decoding.rejection(decoding.message(EventText.changed(), contentType: contentType))
        #expect(rejection?.reason == .unknownEncoding)
        #expect(rejection?.message.contains("application/cloudevents+json") == true)
    }

    @Test("Compressed bodies are refused, and encodings that change nothing are not")
    func checksContentEncoding() {
        var message = decoding.message(EventText.changed())
        for encoding in ["gzip", "deflate", "utf-16", "identity, gzip"] {
            message.properties.contentEncoding = encoding
            #expect(decoding.rejection(message)?.reason == .unknownEncoding)
        }
        for encoding in ["identity", "UTF-8", "utf8", ""] {
            message.properties.contentEncoding = encoding
            #expect(decoding.rejection(message) == nil)
        }
    }

    @Test("Plain JSON without identifier or type is refused, naming the property")
    func refusesPlainWithoutProperties() {
        var message = plain()
        message.properties.messageID = nil
        #expect(decoding.rejection(message)?.reason == .missingField)
        #expect(decoding.rejection(message)?.message.contains("message_id") == true)
        message.properties.messageID = String(repeating: "x", count: 256)
        #expect(decoding.rejection(message)?.reason == .invalidField)
        message.properties.type = nil
        #expect(decoding.rejection(message)?.reason == .missingField)
        message.properties.type = "dataset"
        #expect(decoding.rejection(message)?.reason == .unknownType)
    }

    @Test("Binary attributes that are missing or no text are refused, naming the header")
    func refusesBrokenHeaders() throws {
        let all = attributes(prefix: "ce-")
        for index in 1...4 {
            var headers = all
            headers.remove(at: index)
            let rejection = try #require(decoding.rejection(binary(headers)))
            #expect(rejection.reason == .missingField)
            #expect(rejection.message.contains("header \(all[index].0.lowercased()) "), "\(rejection)")
        }
        let wrong: [(Int, HeaderValue, EventRejection.Reason)] = [
            (1, .string("2.0"), .invalidField), (1, .int8(1), .invalidField), (2, .string(""), .invalidField),
            (2, .rawString([0xff]), .invalidUTF8), (2, .bytes([0xff]), .invalidUTF8), (2, .table([]), .invalidField),
            (2, .array([]), .invalidField), (2, .float64(1), .invalidField), (2, .boolean(true), .invalidField),
            (2, .void, .missingField), (2, .decimal(scale: 1, value: 2), .invalidField),
            (2, .timestamp(1), .invalidField),
            (4, .string("dataset.changed.v1"), .unknownType), (5, .string("yesterday"), .invalidField),
            (5, .int64(7), .invalidField), (5, .timestamp(.max), .invalidField),
        ]
        for (index, value, reason) in wrong {
            var headers = all
            headers[index].1 = value
            #expect(decoding.rejection(binary(headers))?.reason == reason, "\(all[index].0): \(value)")
        }
    }
}
