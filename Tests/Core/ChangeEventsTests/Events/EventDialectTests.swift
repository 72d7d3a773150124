import ChangeEvents
import Essentials
import JSON
import Messages
import Notifications
import Testing

@Suite("Events as other programs write them")
struct EventDialectTests {
    private let decoding = EventDecoding()

    @Test("An event may begin with a byte order mark, in each encoding")
    func byteOrderMark() throws {
        let mark = JSONParser.byteOrderMark
        #expect(try decoding.dataset(mark + EventText.changed())?.syncCount == 42)
        var plain = decoding.message(mark + Array(EventText.object(EventText.pushFields).utf8), contentType: nil)
        plain.properties.type = "push.requested"
        plain.properties.messageID = "e-1"
        #expect(decoding.rejection(plain) == nil)
        let data = Base64.encode(mark + Array(EventText.object(EventText.datasetFields).utf8))
        let body = EventText.changed([:], ["data": nil, "data_base64": "\"\(data)\""])
        #expect(try decoding.dataset(body)?.syncCount == 42)
    }

    @Test(
        "Whole numbers may be written with a fraction of zero or an exponent",
        arguments: [
            ("\"notification\":{\"body\":\"x\",\"badge\":3.0}", true),
            ("\"notification\":{\"body\":\"x\",\"badge\":3e0}", true),
            ("\"notification\":{\"body\":\"x\"},\"options\":{\"priority\":10.0}", true),
            ("\"notification\":{\"body\":\"x\"},\"options\":{\"priority\":1e1}", true),
            ("\"notification\":{\"body\":\"x\"},\"options\":{\"expiration\":1900000000.0}", true),
            ("\"notification\":{\"body\":\"x\",\"badge\":3.5}", false),
            ("\"notification\":{\"body\":\"x\"},\"options\":{\"priority\":10.5}", false),
            ("\"notification\":{\"body\":\"x\"},\"options\":{\"expiration\":1e18}", false),
        ])
    func integers(members: String, isTaken: Bool) {
        let data = "{\"app\":\"chat\",\"topic\":\"news\",\(members)}"
        let body = """
            {"specversion":"1.0","id":"1","source":"/t","type":"push.requested","data":\(data)}
            """
        let rejection = decoding.rejection(Array(body.utf8))
        #expect((rejection == nil) == isTaken, "\(String(describing: rejection))")
        #expect(rejection.map { $0.reason == .invalidField } ?? true)
    }

    @Test("A sync count may be 7.0, and not 7.5")
    func syncCounts() throws {
        for text in ["7.0", "7e0", "70e-1", "7"] {
            #expect(try decoding.dataset(EventText.changed(["syncCount": text]))?.syncCount == 7)
        }
        for text in ["7.5", "1e30", "-7.0"] {
            let rejection = try #require(decoding.rejection(EventText.changed(["syncCount": text])))
            #expect(rejection.message.hasPrefix("data.syncCount is "))
        }
    }

    @Test("A key that occurs twice makes an event ambiguous, wherever it stands; its outline is read all the same")
    func repeatedKeys() throws {
        let event = String(decoding: EventText.push(), as: UTF8.self)
        for (member, key) in [
            (#""id":"e-2","#, "id"), (#""data":{},"#, "data"), (#""extension":{"x":1,"x":1},"#, "x"),
        ] {
            let body = Array(("{" + member + event.dropFirst()).utf8)
            let rejection = try #require(decoding.rejection(body))
            #expect(rejection.reason == .invalidJSON)
            #expect(rejection.message.contains("the key \"\(key)\" is there twice"), "\(rejection)")
            #expect(decoding.decoder.outline(of: decoding.message(body)).type == "com.example.push.requested")
        }
        let data = EventText.push(["notification": #"{"body":"x","body":"y"}"#])
        #expect(try #require(decoding.rejection(data)).message.contains("\"body\""))
    }

    @Test(
        "An attribute with a control character or a noncharacter is refused by name; other characters are free",
        arguments: [
            ("id", #""a\u0000b""#, false), ("source", #""a\nb""#, false), ("subject", #""a\u001fb""#, false),
            ("type", #""a\tb.push.requested""#, false), ("subject", #""\u007f""#, false),
            ("subject", #""\u0085""#, false), ("anything", #""\u009f""#, false), ("anything", #""\ufdd0""#, false),
            ("anything", #""\ufdef""#, false), ("anything", #""\uffff""#, false),
            ("anything", #""\ud83f\udffe""#, false),
            ("anything", #""\udbff\udfff""#, false), ("subject", #""é 漢 \ud83d\ude00""#, true),
            ("subject", #""\u00a0\ufffd\ufdcf\u200d""#, true), ("anything", #""""#, true), ("anything", "7", true),
        ])
    func attributes(name: String, value: String, isTaken: Bool) throws {
        let rejection = decoding.rejection(EventText.changed([:], [name: value]))
        guard !isTaken else {
            #expect(rejection == nil)
            return
        }
        let found = try #require(rejection)
        #expect(found.reason == .invalidField && found.message.contains(name), "\(found)")
        #expect(found.message.unicodeScalars.allSatisfy { $0.value >= 0x20 }, "\(found)")
    }

    @Test("Attributes in headers and properties follow the same rule")
    func headers() throws {
        let data = Array(EventText.object(EventText.datasetFields).utf8)
        for name in ["ce-subject", "cloudEvents:anything", "ce-id"] {
            var attributes = [
                "ce-specversion": "1.0", "ce-id": "1", "ce-source": "/t", "ce-type": "dataset.changed",
            ]
            attributes[name] = "a\u{1}b"
            var message = decoding.message(data, contentType: "application/json")
            message.headers = attributes.map { MessageHeader($0.key, .string($0.value)) }
            let rejection = try #require(decoding.rejection(message))
            #expect(rejection.reason == .invalidField && rejection.message.contains(name), "\(rejection)")
        }
        var plain = decoding.message(data, contentType: "application/json")
        plain.properties.type = "dataset.changed"
        plain.properties.messageID = "1"
        plain.properties.appID = "a\u{7}"
        #expect(try #require(decoding.rejection(plain)).message.contains("app_id"))
    }

    @Test("Texts of the data keep their line feeds")
    func data() throws {
        let push = try #require(try decoding.push(EventText.push(notification: #"{"body":"two\nlines"}"#)))
        #expect(push.notification.body == "two\nlines")
    }
}
