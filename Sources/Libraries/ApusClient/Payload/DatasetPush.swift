/// Names one dataset of Amazon Cognito Sync: a pool, an identity in it, and the dataset's name.
public struct DatasetName: Hashable, Sendable, Codable {
    /// The identity pool, for example `us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c`.
    public let identityPoolID: String
    /// The identity, of the same form.
    public let identityID: String
    /// The dataset, 1 to 128 of `[a-zA-Z0-9_.:-]`.
    public let name: String

    /// Creates a name; it is not checked.
    public init(identityPoolID: String, identityID: String, name: String) {
        self.identityPoolID = identityPoolID
        self.identityID = identityID
        self.name = name
    }
}

/// A silent push about a dataset.
///
/// It carries no records: the app synchronises with its store.
public struct DatasetPush: Hashable, Sendable {
    /// The dataset.
    public let dataset: DatasetName
    /// The dataset's count of changes after this one; nil if a deletion or a merge came without.
    public let syncCount: Int64?

    /// Creates a push, for tests of an app.
    public init(dataset: DatasetName, syncCount: Int64?) {
        self.dataset = dataset
        self.syncCount = syncCount
    }
}

extension DatasetPush {
    /// The value of `source` in such a push.
    static let source = "cognito-sync"

    /// Reads the members that Amazon Cognito Sync documents.
    init(_ members: MemberReader) throws(PayloadError) {
        dataset = DatasetName(
            identityPoolID: try members.required("identityPoolId", Self.identityRule) {
                $0.text.flatMap(Self.identity)
            },
            identityID: try members.required("identityId", Self.identityRule) { $0.text.flatMap(Self.identity) },
            name: try members.required("datasetName", "1 to 128 of a-z, A-Z, 0-9 and _.:-") {
                $0.text.flatMap(Self.datasetName)
            })
        syncCount = try members.value("syncCount", "a whole number of 0 or more, or its digits in a text", Self.count)
    }

    private static let identityRule = "REGION:ID, for example us-east-1:b13e1dc0"

    /// An identity or a pool as Amazon documents it: 1 to 55 characters of `[\w-]+:[0-9a-f-]+`.
    private static func identity(_ text: String) -> String? {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard text.utf8.count <= 55, parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty,
            parts[0].allSatisfy({ isLetterOrDigit($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }),
            parts[1].allSatisfy({ ($0 >= 0x30 && $0 <= 0x39) || ($0 >= 0x61 && $0 <= 0x66) || $0 == 0x2d })
        else { return nil }
        return text
    }

    /// A dataset's name as Amazon documents it: 1 to 128 characters of `[a-zA-Z0-9_.:-]`.
    static func datasetName(_ text: String) -> String? {
        guard (1...128).contains(text.utf8.count),
            text.utf8.allSatisfy({ isLetterOrDigit($0) || "_.:-".utf8.contains($0) })
        else { return nil }
        return text
    }

    /// A count: Amazon's clients for Android read a text, those for iOS either.
    private static func count(_ value: PayloadValue) -> Int64? {
        let number =
            value.text.map { text in text.utf8.first == UInt8(ascii: "+") ? nil : Int64(text) } ?? value.integer
        return number.flatMap { $0 >= 0 ? $0 : nil }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
    }
}
