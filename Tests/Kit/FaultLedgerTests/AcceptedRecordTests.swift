import JSON
import PushTestKit
import Testing

@testable import FaultLedger

@Suite("What the records of the push services say")
struct AcceptedRecordTests {
    /// The same three events as each service records them.
    static let payloads: [(ServiceKind, change: String, request: String, record: String)] = [
        (
            .apns, #"{"aps":{},"data":{"identityId":"i","syncCount":"7"}}"#, #"{"aps":{},"serial":4}"#,
            #"{"aps":{},"ck":{"qry":{"rid":"n9"}}}"#
        ),
        (
            .fcm, #"{"message":{"token":"t","data":{"identityId":"i","syncCount":"7"}}}"#,
            #"{"message":{"token":"t","data":{"serial":"4"}}}"#,
            #"{"message":{"token":"t","data":{"ck":"{\"qry\":{\"rid\":\"n9\"}}"}}}"#
        ),
        (
            .webpush, #"{"data":{"identityId":"i","syncCount":"7"}}"#,
            #"{"notification":{"title":"L"},"data":{"serial":4}}"#, #"{"data":{"ck":{"qry":{"rid":"n9"}}}}"#
        ),
    ]

    private func content(_ service: ServiceKind, _ payload: String) throws -> AcceptedPush.Content {
        PayloadReader(service).content(of: try JSONParser().parse(Array(payload.utf8)))
    }

    @Test("An event is found in the words of each service")
    func readsEachService() throws {
        for (service, change, request, record) in Self.payloads {
            #expect(try content(service, change) == .change(identity: "i", syncCount: 7), "\(service)")
            #expect(try content(service, request) == .request(number: 4), "\(service)")
            #expect(try content(service, record) == .request(number: 9), "\(service)")
            #expect(try content(service, #"{"message":{},"aps":{}}"#) == .other)
            #expect(PayloadReader(service).content(of: nil) == .other)
        }
    }

    @Test("Alerts, and what lets one take the place of another, are found in the words of each service")
    func readsAlerts() throws {
        let alerts: [(ServiceKind, payload: String, isAlert: Bool, tag: String?)] = [
            (.apns, #"{"aps":{"alert":{"title":"L"}}}"#, true, nil),
            (.apns, #"{"aps":{"content-available":1}}"#, false, nil),
            (.fcm, #"{"message":{"android":{"notification":{"tag":"t"}},"notification":{}}}"#, true, "t"),
            (.fcm, #"{"message":{"notification":{}}}"#, true, nil),
            (.fcm, #"{"message":{"data":{}}}"#, false, nil),
            (.webpush, #"{"notification":{"title":"L","tag":"t"}}"#, true, "t"),
            (.webpush, #"{"data":{}}"#, false, nil),
        ]
        for (service, payload, isAlert, tag) in alerts {
            let reader = PayloadReader(service)
            let value = try JSONParser().parse(Array(payload.utf8))
            #expect(reader.isAlert(value) == isAlert && reader.tag(of: value) == tag, "\(service) \(payload)")
        }
    }

    @Test("Pushes count if the service accepted them, and tokens are dead if it said so for good")
    func sortsAnswers() throws {
        let folder = try TemporaryFolder()
        func line(_ token: String, _ status: Int, _ reason: String, _ payload: String) -> String {
            #"{"token":"\#(token)","time_us":5000000,"status":\#(status),"reason":\#(reason),"payload":\#(payload)}"#
        }
        try folder.write(
            "record.ndjson",
            [
                line("a", 201, "null", #"{"data":{"serial":4}}"#), line("b", 410, #""SUBSCRIPTION_GONE""#, "null"),
                line("c", 503, #""UNAVAILABLE""#, "null"), "",
            ].joined(separator: "\n"))
        var record = AcceptedRecord(of: .webpush, path: "\(folder.path)/record.ndjson")
        let pushes = try record.next()
        #expect(pushes == [AcceptedPush(token: "a", content: .request(number: 4), timeMilliseconds: 5_000)])
        #expect(try record.next().isEmpty && record.deadTokens == ["b"])
    }
}
