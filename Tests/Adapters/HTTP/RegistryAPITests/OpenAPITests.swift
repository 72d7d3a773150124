import HTTPServer
import JSON
import Metrics
import Notifications
import PushTestKit
import RegistryCore
import StructuredLogging
import TestTraits
import Testing

@testable import RegistryAPI

@Suite("The OpenAPI document", .ownThread)
struct OpenAPITests {
    private func document() throws -> APIDocument {
        try APIDocument(String(decoding: PackageResources.openapi_json, as: UTF8.self))
    }

    private var routes: [Route] {
        let credentials = CredentialGuard(requestsPerSecondMaximum: 1, logger: .silent)
        let gate = TokenGate(credentials: credentials)
        let native = NativeAPI(
            configuration: RegistryServerConfiguration(host: "", port: 0, apps: [], accessKeys: []), gate: gate)
        let events = EventsAPI(gate: gate, service: nil, keepsHistory: false)
        let opens = OpensAPI(receipts: .ofServers(with: .random()), credentials: credentials) { 0 }
        // The question of a browser or a sender of webhooks is no operation of the document.
        return native.routes + (opens.routes + events.routes).filter { $0.method != "OPTIONS" }
    }

    @Test("It tells of every route, by name, method, path and parameters, and of no other")
    func routesAgree() throws {
        let document = try document()
        let told = document.operations.map { operation in
            "\(operation.value["operationId"]?.string ?? "") \(operation.method) \(operation.path) "
                + operation.pathParameters.sorted().joined(separator: ",")
        }
        // HEAD goes with GET, as the document says once for all of them.
        let served = routes.filter { $0.method != "HEAD" }.map { route in
            let parameters = route.path.segments.compactMap { segment in
                if case .parameter(let name) = segment { name } else { nil }
            }
            return "\(route.name) \(route.method) \(route.path.text) \(parameters.sorted().joined(separator: ","))"
        }
        #expect(told.sorted() == served.sorted())
    }

    @Test("Every reference in it leads somewhere, and every operation has a summary and its errors")
    func isWhole() throws {
        let document = try document()
        #expect(document.root["openapi"]?.string == "3.1.0")
        var references: [String] = []
        Self.collect(document.root, into: &references)
        #expect(references.count > 50)
        for reference in references { #expect(document.schema.resolve(reference) != nil, "\(reference)") }
        for operation in document.operations { #expect(operation.value["summary"]?.string?.isEmpty == false) }
    }

    @Test("Each operation tells of exactly the refusals that its route can answer with")
    func statusesAgree() throws {
        let document = try document()
        let conflicting = ["putDevice", "putToken", "subscribeDeviceToDataset", "publishEvents"]
        for operation in document.operations where operation.value["security"] == nil {
            var expected = ["400", "401", "403", "429", "500", "503"]
            if operation.method != "GET" { expected.append("412") }
            // Three things can be missing: an app that is named, a device, a subscription. And a server may take no
            // events, or keep nothing of them.
            let names = document.parameterNames(of: operation)
            let isOptional = operation.path.hasPrefix("/v1/events")
            if isOptional || !names.isDisjoint(with: ["app", "deviceId", "subscriptionId"]) { expected.append("404") }
            if conflicting.contains(operation.value["operationId"]?.string ?? "") { expected.append("409") }
            if operation.value["requestBody"] != nil { expected += ["413", "415"] }
            let told = operation.value["responses"]?.object?.map(\.key).filter { !$0.hasPrefix("2") } ?? []
            #expect(told.sorted() == expected.sorted(), "\(operation.method) \(operation.path)")
        }
    }

    @Test("Each code of a problem is told of, with its status", arguments: NativeProblem.Code.allCases)
    func codesAgree(code: NativeProblem.Code) throws {
        let document = try document()
        let schemas = try #require(document.schema.resolve("#/components/schemas"))
        let codes = schemas["Problem"]?["properties"]?["code"]?["enum"]?.array?.compactMap(\.string) ?? []
        #expect(codes.sorted() == NativeProblem.Code.allCases.map(\.rawValue).sorted())
        // 405 is no answer of an operation.
        guard code != .methodNotAllowed else { return }
        let responses = document.schema.resolve("#/components/responses")?.object.map(Array.init) ?? []
        let problem = NativeProblem(code, "")
        let fields = Set(problem.response.fields.map(\.name))
        let statuses = responses.compactMap { response -> Int64? in
            let parts = response.value["content"]?["application/problem+json"]?["schema"]?["allOf"]?.array
            let properties = parts?.compactMap { $0["properties"] }.first
            let told = properties?["code"]?["enum"]?.array?.compactMap(\.string) ?? []
            guard told.contains(code.rawValue) else { return nil }
            let headers = response.value["headers"]?.object?.map(\.key) ?? []
            #expect(fields == Set(headers + ["Content-Type"]))
            return properties?["status"]?["const"]?.int64
        }
        #expect(statuses == [Int64(problem.status)])
    }

    @Test("A request that is no proper HTTP is told its own status, whether it has a code or not")
    func refusals() {
        for (status, code) in [(413, "too-large"), (431, "invalid"), (400, "invalid"), (503, "busy")] {
            let response = NativeProblem(status: status, "what").response
            let body = String(decoding: response.body, as: UTF8.self)
            #expect(response.status == status)
            #expect(body == #"{"status":\#(status),"code":"\#(code)","detail":"what"}"#)
        }
    }

    @Test("The items of a query that an operation reads are those that the document has, and no others are taken")
    func queriesAgree() throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let (client, publisher) = (try NativeClient(fixture), try NativeClient.token(fixture, permission: .publish))
        for operation in try document().operations where operation.value["security"] == nil {
            let sender = operation.path.hasPrefix("/v1/events") ? client.with(token: publisher) : client
            let path = operation.path.replacing("{app}", with: "chat").replacing("{kind}", with: "voip")
                .replacing("{identityId}", with: "i:0").replacing(#/{[a-zA-Z]+}/#, with: "x")
            let refused = sender.send(operation.method, "\(path)?what=1", "{}").body
            #expect(refused.contains("\\\"what\\\" is not known"), "\(path): \(refused)")
            let told = try document().queryNames(of: operation)
            for name in told { #expect(refused.contains(name), "\(path): \(refused)") }
        }
    }

    @Test("It is served without a token")
    func served() throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let answer = PlainHTTP.request("GET", "/openapi.json", port: fixture.server.port)
        #expect(answer.status == 200 && answer.headers["content-type"] == "application/json")
        #expect(Array(answer.body.utf8) == PackageResources.openapi_json)
    }

    private static func collect(_ value: JSONValue, into references: inout [String]) {
        for member in value.object.map(Array.init) ?? [] {
            if member.key == "$ref", let text = member.value.string { references.append(text) }
            collect(member.value, into: &references)
        }
        for element in value.array.map(Array.init) ?? [] { collect(element, into: &references) }
    }
}
