import ApusClient
import Foundation
import PushTestKit
import Testing

@Suite("Payloads from outside")
struct PayloadTests {
    private static let pool = "us-east-1:177a950c"

    private static func payload(_ json: String) throws(PayloadError) -> PushPayload {
        try PushPayload(json: Data(json.utf8))
    }

    private static func error(_ json: String) -> PayloadError? {
        do throws(PayloadError) {
            _ = try payload(json)
            return nil
        } catch {
            return error
        }
    }

    private static func dataset(_ members: String) -> String {
        #"{"aps":{"content-available":1},"data":{"source":"cognito-sync","identityPoolId":"\#(pool)","#
            + #""identityId":"\#(pool)",\#(members)}}"#
    }

    @Test("Unknown members change nothing, and a new kind of change counts as a change")
    func unknownMembers() throws {
        let json = Self.dataset(#""datasetName":"a","syncCount":"7","change":"renamed","new":{"deep":[1]}"#)
        let push = DatasetPush(
            dataset: DatasetName(identityPoolID: Self.pool, identityID: Self.pool, name: "a"), syncCount: 7)
        #expect(try Self.payload(json).event == .datasetChanged(push))
        let record = try Self.payload(
            #"{"aps":{"alert":"x","new":1},"ck":{"ce":9,"x":[],"qry":{"dbs":1,"fo":3,"rid":"r","later":true}}}"#)
        guard case .recordDeleted(let deleted) = record.event else {
            Issue.record("\(record.event)")
            return
        }
        #expect(deleted.recordName == "r" && record.problems.isEmpty)
    }

    @Test(
        "A sync count is digits in a text, or a number",
        arguments: [
            (#""7""#, 7), ("7", 7), ("7.0", 7), (#""9223372036854775807""#, .max), ("0", 0), ("null", nil),
        ] as [(String, Int64?)])
    func syncCounts(written: String, count: Int64?) throws {
        let payload = try Self.payload(Self.dataset(#""datasetName":"a","syncCount":\#(written)"#))
        guard case .datasetChanged(let push) = payload.event else {
            Issue.record("\(payload.event)")
            return
        }
        #expect(push.syncCount == count)
    }

    @Test(
        "A wrong necessary member is refused, by its path, with its value and the rule",
        arguments: [
            (dataset(#""datasetName":"a","syncCount":"-7""#), #"data.syncCount: found "-7", expected a whole number"#),
            (dataset(#""datasetName":"a","syncCount":9223372036854775808"#), "data.syncCount: found 9.2"),
            (dataset(#""datasetName":"a","syncCount":"9223372036854775808""#), "data.syncCount: found"),
            (dataset(#""datasetName":"a","syncCount":true"#), "data.syncCount: found true, expected"),
            (dataset(#""datasetName":"a","syncCount":1.5"#), "data.syncCount: found 1.5, expected"),
            (dataset(#""datasetName":"a","syncCount":"+7""#), "data.syncCount: found"),
            (dataset(#""datasetName":"a b""#), #"data.datasetName: found "a b", expected 1 to 128"#),
            (dataset(#""datasetName":7"#), "data.datasetName: found 7, expected"),
            (dataset(#""syncCount":"7""#), "data.datasetName: missing, expected"),
            (#"{"source":"cognito-sync","identityPoolId":"x"}"#, #"identityPoolId: found "x", expected REGION:ID"#),
            (#"{"ck":7}"#, "ck: found 7, expected an object"), (#"{"ck":{}}"#, "ck: expected one of qry, fet and met"),
            (#"{"ck":{"qry":{"dbs":1,"fo":1},"met":{"dbs":1}}}"#, "ck: expected one of qry, fet and met"),
            (#"{"ck":{"qry":{"fo":1}}}"#, "ck.qry.dbs: missing, expected 1 (public)"),
            (#"{"ck":{"qry":{"dbs":4,"fo":1}}}"#, "ck.qry.dbs: found 4, expected"),
            (#"{"ck":{"qry":{"dbs":true,"fo":1}}}"#, "ck.qry.dbs: found true, expected"),
            (#"{"ck":{"qry":{"dbs":1,"fo":0}}}"#, "ck.qry.fo: found 0, expected"),
            (#"{"ck":{"met":[1]}}"#, "ck.met: found an array of 1, expected an object"),
            (#"{"ck":"no JSON"}"#, "ck: the payload is no JSON"),
            ("[]", "the payload is JSON, but no object"), ("", "no JSON"), ("{\"a\":1", "no JSON"),
            ("{\"a\":1e999}", "a number that no double can be"),
        ])
    func refusals(json: String, text: String) throws {
        let error = try #require(Self.error(json), "nothing was refused")
        #expect(error.description.contains(text), "\(error)")
    }

    @Test("A wrong member that a push can do without is left out, and named")
    func leftOut() throws {
        let payload = try Self.payload(
            #"{"aps":{"alert":{"body":"B","title":7,"loc-key":"K","loc-args":["a",1]},"badge":-1,"sound":{}},"#
                + #""ck":{"qry":{"dbs":1,"fo":1,"rid":[],"af":3,"zid":null}}}"#)
        #expect(payload.shown?.body == "B" && payload.shown?.title == nil && payload.shown?.badge == nil)
        #expect(payload.shown?.localizedBody?.key == "K" && payload.shown?.localizedBody?.arguments == [])
        guard case .recordCreated(let push) = payload.event else {
            Issue.record("\(payload.event)")
            return
        }
        #expect(push.recordName == nil && push.fields.isEmpty)
        let paths = ["aps.alert.title", "aps.alert.loc-args", "aps.badge", "aps.sound", "ck.qry.rid", "ck.qry.af"]
        #expect(Set(payload.problems.map(\.path)) == Set(paths))
        #expect(
            payload.problems.contains { $0.description == "aps.badge: found -1, expected a whole number of 0 or more" })
        let names = try Self.payload(Self.dataset(#""datasetName":"a","change":"merged","mergedDatasetNames":"a,,b""#))
        guard case .datasetsMerged(_, let merged) = names.event else {
            Issue.record("\(names.event)")
            return
        }
        #expect(merged.isEmpty && names.problems.map(\.path) == ["data.mergedDatasetNames"])
    }

    @Test("An app's own members named data or source are the app's own")
    func ownMembers() throws {
        #expect(
            try Self.payload(#"{"data":{"source":"mine"},"source":"shop"}"#).event
                == .data(["data": .object(["source": .text("mine")]), "source": .text("shop")]))
    }

    @Test("Depth and length are limited")
    func limits() {
        let deep = String(repeating: #"{"a":"#, count: 33) + "1" + String(repeating: "}", count: 33)
        #expect(Self.error(deep)?.code == .notReadable)
        let brackets = String(repeating: "[", count: 60_000)
        #expect(Self.error(brackets)?.code == .notReadable)
        #expect(Self.error(#"{"a":"\#(String(repeating: "[", count: 40))\"["}"#) == nil)
        #expect(Self.error(#"{"a":"\#(String(repeating: "x", count: 65_536))"}"#)?.code == .notReadable)
    }

    @Test("The dictionary of the operating system is read like the JSON")
    func userInfo() throws {
        let body: [AnyHashable: Any] = [
            "aps": ["alert": ["title": "T", "body": "B"] as [String: Any], "badge": NSNumber(value: 2)]
                as [String: Any],
            "flag": NSNumber(value: true), "native": true, "one": NSNumber(value: 1), "swift": 1,
            "half": NSNumber(value: 0.5), "double": 2.0, "large": NSNumber(value: UInt64.max), "none": NSNull(),
            "list": [1, "x", NSNull()] as [Any], "text": NSString("N"),
            "nested": [AnyHashable("a"): ["b": 1] as [String: Any]] as [AnyHashable: Any],
        ]
        let payload = try PushPayload(userInfo: body)
        guard case .message(let shown, let data) = payload.event else {
            Issue.record("\(payload.event)")
            return
        }
        #expect(shown.title == "T" && shown.badge == 2 && payload.problems.isEmpty)
        #expect(
            data == [
                "flag": .boolean(true), "native": .boolean(true), "one": .integer(1), "swift": .integer(1),
                "half": .number(0.5), "double": .integer(2), "large": .number(18_446_744_073_709_551_616),
                "none": .null,
                "list": .array([.integer(1), .text("x"), .null]), "text": .text("N"),
                "nested": .object(["a": .object(["b": .integer(1)])]),
            ])
    }

    @Test("What JSON does not have is left out of the dictionary, and told")
    func foreignObjects() throws {
        let deep = (0..<100).reduce(["end": 1] as [String: Any]) { inner, _ in ["a": inner] }
        let payload = try PushPayload(userInfo: [
            7: "key", "date": Date(timeIntervalSince1970: 0), "bytes": Data([1]), "nan": Double.nan,
            "infinite": NSNumber(value: -Double.infinity), "deep": deep, "good": 1,
        ])
        guard case .data(let data) = payload.event else {
            Issue.record("\(payload.event)")
            return
        }
        #expect(data["good"] == .integer(1) && data["date"] == nil && data["nan"] == nil && data["infinite"] == nil)
        #expect(payload.problems.count == 6 && payload.problems.contains { $0.path == "date" })
    }

    @Test("Texts of FCM are read like an object, at the top of the dictionary of the app, too")
    func texts() throws {
        let texts = [
            "source": "cognito-sync", "identityPoolId": Self.pool, "identityId": Self.pool, "datasetName": "a",
            "syncCount": "12", "gcm.message_id": "1",
        ]
        let push = DatasetPush(
            dataset: DatasetName(identityPoolID: Self.pool, identityID: Self.pool, name: "a"), syncCount: 12)
        #expect(try PushPayload(userInfo: texts).event == .datasetChanged(push))
        let record = try PushPayload(userInfo: ["ck": #"{"met":{"dbs":3,"sid":"all"}}"#])
        guard case .databaseChanged(let change) = record.event else {
            Issue.record("\(record.event)")
            return
        }
        #expect(change.subscription.subscriptionID == "all" && change.subscription.databaseScope == .shared)
    }

    @Test("The receipt of a campaign's push is found in every form, and is no member of the app's own")
    func receipts() throws {
        let shown = try Self.payload(#"{"aps":{"alert":"x"},"room":7,"apusReceipt":"AQ"}"#)
        #expect(shown.receipt == "AQ" && shown.problems.isEmpty)
        guard case .message(_, let data) = shown.event else {
            Issue.record("\(shown.event)")
            return
        }
        #expect(data == ["room": .integer(7)])
        let flat = try PushPayload(userInfo: ["revision": "12", "apusReceipt": "AQ"])
        #expect(flat.receipt == "AQ" && flat.event == .data(["revision": .text("12")]))
        #expect(try Self.payload(Self.dataset(#""datasetName":"a""#)).receipt == nil)
        #expect(try Self.payload(#"{"ck":{"qry":{"dbs":1,"fo":3,"rid":"r"}},"apusReceipt":"AQ"}"#).receipt == "AQ")
        for wrong in ["7", "{}", #""""#, "\"\(String(repeating: "A", count: 601))\""] {
            let payload = try Self.payload(#"{"apusReceipt":\#(wrong)}"#)
            #expect(payload.receipt == nil && payload.problems.map(\.path) == ["apusReceipt"])
        }
    }
}
