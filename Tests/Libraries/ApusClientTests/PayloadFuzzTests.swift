import ApusClient
import Foundation
import Notifications
import PushTestKit
import Testing

@Suite("Payloads at random")
struct PayloadFuzzTests {
    /// Dictionaries in which the known names hold anything.
    private struct Junk {
        var generator: SeededGenerator
        static let names = [
            "aps", "ck", "data", "source", "alert", "badge", "sound", "title", "body", "loc-key", "loc-args", "qry",
            "fet",
            "met", "dbs", "fo", "sid", "rid", "zid", "zoid", "af", "p", "cid", "nid", "ckuserid", "identityPoolId",
            "identityId", "datasetName", "syncCount", "change", "mergedDatasetNames", "name", "\u{0}", "",
        ]

        mutating func value(_ depth: Int) -> Any {
            switch Int.random(in: 0...(depth < 6 ? 18 : 13), using: &generator) {
            case 0: return NSNull()
            case 1: return Bool.random(using: &generator)
            case 2: return NSNumber(value: Int64.random(in: .min ... .max, using: &generator))
            case 3: return NSNumber(value: UInt64.random(in: .min ... .max, using: &generator))
            case 4: return Int.random(in: -1...4, using: &generator)
            case 5: return [Double.nan, .infinity, -0.0, 1e300, .leastNonzeroMagnitude].randomElement() ?? 0
            case 6: return "cognito-sync"
            case 7: return "us-east-1:be6f"
            case 8: return ["deleted", "merged", "a,b", ",", "7", "-1", "999999999999999999999"].randomElement() ?? ""
            case 9: return String(repeating: "é\u{0}", count: Int.random(in: 0...80, using: &generator))
            case 10: return Date()
            case 11: return Data([0xff])
            case 12: return #"{"qry":{"dbs":1,"fo":2}}"#
            case 13: return Float.random(in: 0...1, using: &generator)
            case 14: return (0..<Int.random(in: 0...4, using: &generator)).map { _ in value(depth + 1) }
            default: return object(depth + 1)
            }
        }

        mutating func object(_ depth: Int) -> [String: Any] {
            var object: [String: Any] = [:]
            for _ in 0..<Int.random(in: 0...8, using: &generator) {
                object[Self.names.randomElement(using: &generator) ?? ""] = value(depth)
            }
            return object
        }
    }

    @Test("Any dictionary is decoded or refused with a place and a rule")
    func dictionaries() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var junk = Junk(generator: SeededGenerator(seed: seed))
        var (decoded, refused) = (0, 0)
        for _ in 0..<5_000 {
            var body = junk.object(0)
            if Bool.random(using: &junk.generator) {
                // Half of them are nearly right.
                let pool = "us-east-1:be6f"
                let dataset = [
                    "source": "cognito-sync", "identityPoolId": pool, "identityId": pool, "datasetName": "a",
                ]
                body["data"] = dataset.merging(["change": "merged"]) { $1 }
            }
            do throws(PayloadError) {
                let payload = try PushPayload(userInfo: body)
                #expect(payload.problems.count <= 16)
                decoded += 1
            } catch {
                #expect(!error.description.isEmpty && error.description.utf8.count < 2_000, "seed \(seed)")
                refused += 1
            }
        }
        #expect(decoded > 200 && refused > 200, "seed \(seed): \(decoded) decoded, \(refused) refused")
    }

    @Test("Any bytes, and any change of a right payload, are decoded or refused")
    func bytes() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let right = try [
            RenderedPush.dataset(.merged(["a", "b"]), syncCount: 7),
            RenderedPush.dataset(.deleted, syncCount: nil, to: .fcm),
            Data(
                #"{"aps":{"alert":{"title":"T"}},"ck":{"cid":"c","qry":{"dbs":2,"fo":1,"af":{"x":[1.5,true]}}}}"#.utf8),
        ]
        let pieces = ["\"", "{", "}", "[", "]", ",", ":", "1e999", "-", "null", "\\u0000", "\u{FF}", "0", "true"]
        for _ in 0..<5_000 {
            var bytes = right.randomElement(using: &generator) ?? Data()
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                let end = min(bytes.count, place + Int.random(in: 0...4, using: &generator))
                bytes.replaceSubrange(place..<end, with: Data((pieces.randomElement(using: &generator) ?? "").utf8))
                if bytes.isEmpty { bytes = Data([0xff, 0xfe]) }
            }
            do throws(PayloadError) {
                _ = try PushPayload(json: bytes)
            } catch {
                #expect(!error.description.isEmpty, "seed \(seed)")
            }
        }
    }
}
