import HTTPServer
import JSON
import Metrics
import PushCore
import PushTestKit
import Testing

@testable import RegistryAPI

@Suite("The OpenAPI document")
struct OpenAPITests {
    private func document() throws -> APIDocument {
        try APIDocument(String(decoding: PackageResources.openapi_json, as: UTF8.self))
    }

    private var routes: [Route] {
        NativeDialect(
            configuration: RegistryServerConfiguration(host: "", port: 0, apps: [], accessKeys: []),
            credentials: CredentialGuard(requestsPerSecondMaximum: 1, logger: .silent)
        ).routes
    }

    @Test("It tells of every route, by name, method, path and parameters, and of no other")
    func routesAgree() throws {
        let document = try document()
        let told = document.operations.map { operation in
            "\(operation.value["operationId"]?.string ?? "") \(operation.method) \(operation.path) "
                + operation.pathParameters.sorted().joined(separator: ",")
        }
        let served = routes.map { route in
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
        for operation in document.operations where operation.value["security"] == nil {
            let statuses = operation.value["responses"]?.object?.map(\.key) ?? []
            for status in ["401", "429", "500", "503"] { #expect(statuses.contains(status), "\(operation.path)") }
            #expect(operation.method == "GET" || statuses.contains("403"), "\(operation.path)")
            #expect(operation.value["summary"]?.string?.isEmpty == false)
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
