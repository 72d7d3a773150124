import PushTestKit
import Testing
import Tracing

@Suite("Exports beside OpenTelemetry's own protobuf messages")
struct OfficialProtobufTests {
    private static let origin = TraceExportRequest.Origin(
        resource: [SpanAttribute("service.name", "apus"), SpanAttribute("process.pid", 4_711)],
        scopeName: "apus", scopeVersion: "1.1.0")

    private static func context(_ span: UInt64, state: String? = nil) throws -> TraceContext {
        TraceContext(
            traceID: try #require(TraceID(high: 0x4bf9_2f35_77b3_4da6, low: 0xa3ce_929d_0e0e_4736)),
            spanID: try #require(SpanID(span)), flags: [.sampled, .random], state: state.flatMap { TraceState($0) })
    }

    @Test("The official library reads every member of a span as it was meant, and would write the same bytes")
    func everyMember() async throws {
        var span = Span(
            "process apus.work", kind: .consumer, context: try Self.context(1, state: "ot=th:8"), parent: SpanID(2),
            isParentRemote: true, startNanoseconds: 1_700_000_000_123_456_789,
            endNanoseconds: 1_700_000_001_000_000_000)
        span.attributes = [
            SpanAttribute("text", "ä\u{0}😀"), SpanAttribute("empty", ""), SpanAttribute("zero", 0),
            SpanAttribute("minimum", Int64.min), SpanAttribute("maximum", Int64.max),
            SpanAttribute("half", .double(0.5)), SpanAttribute("none", .double(0)),
            SpanAttribute("yes", .boolean(true)), SpanAttribute("no", .boolean(false)),
            SpanAttribute("list", .strings(["a", ""])), SpanAttribute("nothing", .strings([])),
        ]
        span.links = [try Self.context(3), try Self.context(4, state: "a=1")]
        span.status = .error("429")
        let result = try await OfficialProtobuf.run(requests: [TraceExportRequest.encode([span], from: Self.origin)])
        let request = try #require(result.requests.first)
        #expect(request.isCanonical)
        let resource = try #require(request.message.resourceSpans.first)
        #expect(resource.resource.attributes?.map(\.key) == ["service.name", "process.pid"])
        #expect(resource.resource.attributes?.last?.value == .init(intValue: "4711"))
        let scope = try #require(resource.scopeSpans.first)
        #expect(scope.scope.name == "apus" && scope.scope.version == "1.1.0")
        let read = try #require(scope.spans?.first)
        #expect(read.traceId == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(read.spanId == "0000000000000001" && read.parentSpanId == "0000000000000002")
        #expect(read.traceState == "ot=th:8" && read.flags == 0x303)
        #expect(read.name == "process apus.work" && read.kind == "SPAN_KIND_CONSUMER")
        #expect(read.startTimeUnixNano == "1700000000123456789")
        #expect(read.endTimeUnixNano == "1700000001000000000")
        #expect(read.links?.map(\.spanId) == ["0000000000000003", "0000000000000004"])
        #expect(read.links?.map(\.traceState) == [nil, "a=1"] && read.links?.first?.flags == 0x303)
        #expect(read.status?.code == "STATUS_CODE_ERROR" && read.status?.message == "429")
        #expect(
            read.attributes?.map(\.value) == [
                .init(stringValue: "ä\u{0}😀"), .init(stringValue: ""), .init(intValue: "0"),
                .init(intValue: "-9223372036854775808"), .init(intValue: "9223372036854775807"),
                .init(doubleValue: 0.5), .init(doubleValue: 0), .init(boolValue: true), .init(boolValue: false),
                .init(arrayValue: .init(values: [.init(stringValue: "a"), .init(stringValue: "")])),
                .init(arrayValue: .init(values: nil)),
            ])
    }

    @Test("Spans of every kind and status come in their order, a root among them, and none is no span")
    func kindsAndStatuses() async throws {
        let kinds: [(Span.Kind, String)] = [
            (.internal, "SPAN_KIND_INTERNAL"), (.server, "SPAN_KIND_SERVER"), (.client, "SPAN_KIND_CLIENT"),
            (.producer, "SPAN_KIND_PRODUCER"), (.consumer, "SPAN_KIND_CONSUMER"),
        ]
        let statuses: [(Span.Status, String?)] = [
            (.unset, nil), (.ok, "STATUS_CODE_OK"), (.error(""), "STATUS_CODE_ERROR"), (.unset, nil), (.unset, nil),
        ]
        let spans = try zip(kinds, statuses).map { kind, status in
            Span(
                "x", kind: kind.0, context: try Self.context(1), parent: nil, startNanoseconds: 2, endNanoseconds: 1,
                status: status.0)
        }
        let requests = [spans, []].map { TraceExportRequest.encode($0, from: Self.origin) }
        let result = try await OfficialProtobuf.run(requests: requests)
        #expect(result.requests.map(\.isCanonical) == [true, true])
        let read = try #require(result.requests.first?.message.resourceSpans.first?.scopeSpans.first?.spans)
        #expect(read.map(\.kind) == kinds.map(\.1))
        #expect(read.map(\.status?.code) == statuses.map(\.1))
        #expect(read.allSatisfy { $0.parentSpanId == nil && $0.flags == 0x103 })
        // A clock that was set back makes no span that ends before it begins.
        #expect(read.allSatisfy { $0.endTimeUnixNano == "2" })
        #expect(result.requests.last?.message.resourceSpans.first?.scopeSpans.first?.spans == nil)
    }

    @Test("What exceeds the bounds of a span is left out, counted, and cut at a whole character")
    func bounds() async throws {
        var span = Span(
            "x", kind: .client, context: try Self.context(1), parent: nil, startNanoseconds: 1, endNanoseconds: 2)
        span.attributes = (0..<130).map { SpanAttribute("k\($0)", String(repeating: "ä", count: 600)) }
        span.links = try (1...131).map { try Self.context($0) }
        let result = try await OfficialProtobuf.run(requests: [TraceExportRequest.encode([span], from: Self.origin)])
        let read = try #require(result.requests.first?.message.resourceSpans.first?.scopeSpans.first?.spans?.first)
        #expect(read.attributes?.count == 128 && read.droppedAttributesCount == 2)
        #expect(read.links?.count == 128 && read.droppedLinksCount == 3)
        #expect(read.attributes?.first?.value.stringValue == String(repeating: "ä", count: 512) + "…")
    }

    @Test("Random spans are read by the official library as they were made")
    func randomSpans() async throws {
        var random = SeededGenerator(seed: 5)
        let spans = try (0..<300).map { index in
            var span = Span(
                "span \(index)", kind: .client,
                context: TraceContext(
                    traceID: try #require(TraceID(high: random.next(), low: random.next())),
                    spanID: try #require(SpanID(random.next())), flags: .sampled),
                parent: SpanID(random.next()), startNanoseconds: random.next() / 2, endNanoseconds: .max)
            span.attributes = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                SpanAttribute("k", Int64(bitPattern: random.next()) >> Int64.random(in: 0...63, using: &random))
            }
            return span
        }
        let result = try await OfficialProtobuf.run(requests: [TraceExportRequest.encode(spans, from: Self.origin)])
        let request = try #require(result.requests.first)
        #expect(request.isCanonical)
        let read = try #require(request.message.resourceSpans.first?.scopeSpans.first?.spans)
        #expect(read.count == spans.count)
        for (read, span) in zip(read, spans) {
            #expect(read.traceId == span.context.traceID.description && read.name == span.name)
            #expect(read.startTimeUnixNano == "\(span.startNanoseconds)")
            let values = span.attributes.map { OfficialProtobuf.KeyValue(key: $0.key, value: Self.read($0.value)) }
            #expect(read.attributes ?? [] == values)
        }
    }

    private static func read(_ value: SpanAttribute.Value) -> OfficialProtobuf.KeyValue.Value {
        if case .integer(let number) = value { .init(intValue: "\(number)") } else { .init() }
    }

    @Test("Answers of the official library are understood: full success, partial success, and warnings")
    func answers() async throws {
        let contents: [(Int64, String)] = [(0, ""), (3, "too old"), (0, "slow down"), (.max, ""), (-1, "odd")]
        let result = try await OfficialProtobuf.run(
            requests: [], answers: contents.map { .init(rejected: $0.0, message: $0.1) })
        #expect(result.answers.count == contents.count)
        for (digits, (rejected, message)) in zip(result.answers, contents) {
            let answer = TraceExportAnswer(status: 200, body: try OfficialProtobuf.bytes(digits))
            #expect(answer == .taken(rejectedSpanCount: Int(max(0, rejected)), reason: message))
        }
    }
}
