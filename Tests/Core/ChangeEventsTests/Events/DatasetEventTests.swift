import Notifications
import Testing

@Suite("Events of datasets")
struct DatasetEventTests {
    private let decoding = EventDecoding()

    @Test("The type is read by its last two labels")
    func readsTypes() throws {
        for type in ["dataset.changed", "com.example.dataset.changed", ".dataset.changed"] {
            let change = try decoding.dataset(EventText.event(type, data: EventText.datasetFields))
            #expect(change?.operation == .changed)
        }
        for type in ["changed", "", "com.example.dataset.exploded", "dataset.changed.v1", "xdataset.changed", "."] {
            let rejection = decoding.rejection(EventText.event(type, data: EventText.datasetFields))
            #expect(rejection?.reason == .unknownType, "\(type)")
            #expect(rejection?.message.contains("dataset.changed, dataset.deleted") == true)
        }
    }

    @Test("Deleted and merged datasets are read, their sync count being optional")
    func readsDeletedAndMerged() throws {
        var data = EventText.datasetFields
        data["syncCount"] = nil
        data["deviceId"] = "null"
        let deleted = try #require(try decoding.dataset(EventText.event("dataset.deleted", data: data)))
        #expect(deleted.operation == .deleted)
        #expect(deleted.syncCount == nil)
        #expect(deleted.deviceID == nil)
        data["mergedDatasetNames"] = "[\"a\",\"b\",\"a\"]"
        data["syncCount"] = "\"7\""
        let merged = try #require(try decoding.dataset(EventText.event("datasets.merged", data: data)))
        #expect(merged.operation == .merged(["a", "b"]))
        #expect(merged.syncCount == 7)
    }

    @Test("The sync count is exact as a number and as its digits")
    func readsSyncCounts() throws {
        let counts = [
            "0": 0, "9223372036854775807": Int64.max, "\"0\"": 0, "\"9223372036854775807\"": .max, "\"007\"": 7,
        ]
        for (text, count) in counts {
            #expect(try decoding.dataset(EventText.changed(["syncCount": text]))?.syncCount == count)
        }
        let wrong = [
            "-1", "9223372036854775808", "18446744073709551615", "1.5", "1e30", "\"\"", "\"-1\"", "\"+1\"",
            "\"9223372036854775808\"", "\" 1\"", "\"1e3\"", "true", "[]", "{}",
        ]
        for text in wrong {
            let rejection = try #require(decoding.rejection(EventText.changed(["syncCount": text])))
            #expect(rejection.reason == .invalidField, "\(text)")
            #expect(rejection.message.hasPrefix("data.syncCount is "), "\(rejection)")
        }
        let beyond = decoding.rejection(EventText.changed(["syncCount": "99999999999999999999"]))
        #expect(beyond?.reason == .invalidJSON)
        #expect(beyond?.message.contains("as a string") == true)
    }

    @Test(
        "A field that is missing or null is named",
        arguments: [
            ("dataset.changed", "identityPoolId"), ("dataset.changed", "identityId"),
            ("dataset.changed", "datasetName"), ("dataset.changed", "syncCount"), ("dataset.deleted", "datasetName"),
            ("datasets.merged", "identityId"), ("datasets.merged", "mergedDatasetNames"),
        ])
    func namesMissingFields(type: String, field: String) throws {
        var data = EventText.datasetFields
        if type == "datasets.merged" { data["mergedDatasetNames"] = "[\"a\"]" }
        for value in [nil, "null"] as [String?] {
            data[field] = value
            let rejection = try #require(decoding.rejection(EventText.event(type, data: data)))
            #expect(rejection.reason == .missingField)
            #expect(rejection.message.hasPrefix("data.\(field) is missing; it must be "), "\(rejection)")
        }
    }

    @Test(
        "A field of the wrong kind or shape is named, with what is right",
        arguments: [
            "identityPoolId": ["7", "\"\"", "\"us-east-1\"", "\"us-east-1:XYZ\"", "\":a\"", "\"a:\"", "[]", "\"é:a\""],
            "identityId": ["true", "{}", "\"us-east-1:\(String(repeating: "a", count: 50))\""],
            "datasetName": ["1.5", "\"a b\"", "\"\"", "\"\(String(repeating: "a", count: 129))\"", "\"a/b\""],
            "deviceId": ["7", "\"\"", "\"\(String(repeating: "a", count: 257))\""],
            "mergedDatasetNames": ["[]", "\"a\"", "[1]", "[\"a b\"]", "{}", "[null]"],
        ])
    func namesWrongFields(field: String, values: [String]) throws {
        for value in values {
            var data = EventText.datasetFields
            data["mergedDatasetNames"] = "[\"a\"]"
            data[field] = value
            let rejection = try #require(decoding.rejection(EventText.event("datasets.merged", data: data)))
            #expect(rejection.reason == .invalidField, "\(field): \(value)")
            #expect(rejection.message.hasPrefix("data.\(field)"), "\(rejection)")
            #expect(rejection.message.contains("; it must be "), "\(rejection)")
        }
    }

    @Test(
        "The attributes of the envelope are checked",
        arguments: [
            ("id", nil, .missingField), ("id", "\"\"", .invalidField), ("id", "7", .invalidField),
            ("id", "\"\(String(repeating: "x", count: 256))\"", .invalidField), ("source", nil, .missingField),
            ("source", "\"\"", .invalidField), ("type", nil, .missingField), ("type", "7", .invalidField),
            ("specversion", nil, .missingField), ("specversion", "\"0.3\"", .invalidField),
            ("specversion", "1.0", .invalidField), ("specversion", "\"1.\"", .invalidField),
            ("specversion", "\"1.x\"", .invalidField), ("time", "\"2026-01-31\"", .invalidField),
            ("time", "\"2026-01-31T12:00:00\"", .invalidField), ("time", "1769860800", .invalidField),
            ("data", nil, .missingField), ("data", "null", .missingField), ("data", "[]", .invalidField),
            ("data", "\"{}\"", .invalidField),
        ] as [(String, String?, EventRejection.Reason)])
    func checksAttributes(name: String, value: String?, reason: EventRejection.Reason) throws {
        let rejection = try #require(decoding.rejection(EventText.changed([:], [name: value])))
        #expect(rejection.reason == reason, "\(rejection)")
        #expect(rejection.message.contains(name), "\(rejection)")
    }

    @Test("An unknown member of the data is refused with the one that was meant, and extensions of CloudEvents are not")
    func refusesUnknownMembers() throws {
        let types = ["dataset.changed", "dataset.deleted", "datasets.merged"]
        for type in types {
            var data = EventText.datasetFields
            data["mergedDatasetNames"] = type == "datasets.merged" ? "[\"a\"]" : nil
            let extended = EventText.event(type, data: data, ["traceparent": "\"00-1\"", "x": "{}"])
            #expect(decoding.rejection(extended) == nil)
            data["synccount"] = "1"
            let rejection = try #require(decoding.rejection(EventText.event(type, data: data)))
            #expect(rejection.reason == .unknownField)
            #expect(rejection.message == #"data has the unknown member "synccount"; did you mean syncCount?"#)
        }
        let record: [String: String] = ["recordType": "\"Song\"", "recordName": "\"s\"", "zone": "\"Music\""]
        let rejection = try #require(decoding.rejection(EventText.event("record.created", data: record)))
        #expect(rejection.message.hasPrefix(#"data has the unknown member "zone"; its members are recordType"#))
        let free = ["recordType": "\"Song\"", "recordName": "\"s\"", "fields": #"{"anything":{"goes":1}}"#]
        #expect(decoding.rejection(EventText.event("record.created", data: free)) == nil)
    }

    @Test("Later versions of CloudEvents 1 are accepted")
    func acceptsMinorVersions() throws {
        for version in ["\"1.0\"", "\"1.1\"", "\"1.25\""] {
            #expect(decoding.rejection(EventText.changed([:], ["specversion": version])) == nil)
        }
    }
}
