import Foundation
import PushTestKit
import Testing

/// `Scripts/official.py`: OpenTelemetry's own messages, which share no code with us.
enum OfficialProtobuf {
    /// An answer that the official library writes.
    struct AnswerContent: Encodable {
        let rejected: Int64
        let message: String
    }

    private struct Task: Encodable {
        let requests: [String]
        let answers: [AnswerContent]
    }

    /// The requests that it has read, and the answers that it has written.
    struct Result: Decodable {
        struct Request: Decodable {
            let message: Export
            let isCanonical: Bool
        }

        let requests: [Request]
        let answers: [String]
    }

    struct Export: Decodable {
        let resourceSpans: [ResourceSpans]
    }

    struct ResourceSpans: Decodable {
        struct Resource: Decodable { let attributes: [KeyValue]? }
        struct ScopeSpans: Decodable {
            struct Scope: Decodable { let name, version: String? }

            let scope: Scope
            let spans: [Span]?
        }

        let resource: Resource
        let scopeSpans: [ScopeSpans]
    }

    struct Span: Decodable {
        struct Link: Decodable {
            let traceId, spanId: String
            let traceState: String?
            let flags: UInt32
        }

        struct Status: Decodable {
            let code: String?
            let message: String?
        }

        let traceId, spanId, name, kind, startTimeUnixNano, endTimeUnixNano: String
        let parentSpanId, traceState: String?
        let flags: UInt32
        let attributes: [KeyValue]?
        let links: [Link]?
        let status: Status?
        let droppedAttributesCount, droppedLinksCount: Int?
    }

    struct KeyValue: Decodable, Equatable {
        struct Value: Decodable, Equatable {
            struct Array: Decodable, Equatable { let values: [Value]? }

            var stringValue, intValue: String?
            var boolValue: Bool?
            var doubleValue: Double?
            var arrayValue: Array?
        }

        let key: String
        let value: Value
    }

    /// Runs it once, with all requests and answers of a test.
    static func run(requests: [[UInt8]], answers: [AnswerContent] = []) async throws -> Result {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Scripts/run-official"
        let task = Task(requests: requests.map(digits), answers: answers)
        let input = String(decoding: try JSONEncoder().encode(task), as: UTF8.self)
        let result = try await CommandRunner.run(script, [], input: input, in: TemporaryFolder())
        try #require(
            result.exitCode == 0,
            """
            if the libraries cannot be installed: deploy/bin/install-packages test, and a way to PyPI for the first run
            \(result.errors)
            """)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Result.self, from: Data(result.output.utf8))
    }

    private static func digits(_ bytes: [UInt8]) -> String {
        bytes.map { String(format: "%02x", $0) }.joined()
    }

    /// Reads hexadecimal digits.
    static func bytes(_ digits: String) throws -> [UInt8] {
        let digits = Array(digits)
        return try stride(from: 0, to: digits.count, by: 2).map { index in
            try #require(UInt8(String(digits[index...index + 1]), radix: 16))
        }
    }
}
