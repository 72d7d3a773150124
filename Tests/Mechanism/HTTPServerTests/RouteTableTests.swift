import Testing

@testable import HTTPServer

@Suite("Routes: methods, paths and parameters")
struct RouteTableTests {
    private static let table = RouteTable([
        ("GET", PathPattern("/devices/{id}"), "read"), ("DELETE", PathPattern("/devices/{id}"), "delete"),
        ("GET", PathPattern("/devices/all"), "list"),
    ])

    private static func found(_ method: String, _ path: String...) -> String {
        switch table.find(method, path) {
        case .found(let served, let values): "\(served) \(values["id"])"
        case .otherMethods(let methods): methods.joined(separator: ",")
        case .unknownPath: "unknown"
        }
    }

    @Test("Of two routes that fit, the earlier one serves the request")
    func earlierWins() {
        #expect(Self.found("GET", "devices", "7") == "read 7")
        #expect(Self.found("GET", "devices", "all") == "read all")
    }

    @Test("A path with other methods names them, and an empty parameter or another path is unknown")
    func othersAreTold() {
        #expect(Self.found("PUT", "devices", "7") == "GET,DELETE")
        #expect(Self.found("GET", "devices", "") == "unknown")
        #expect(Self.found("GET", "users", "7") == "unknown")
        #expect(Self.found("GET") == "unknown")
    }

    @Test("A route that begins with a parameter ends the process instead of never matching")
    func trapsWithoutLiteral() async {
        await #expect(processExitsWith: .failure) {
            _ = RouteTable([("GET", PathPattern("/{anything}"), 1)])
        }
    }
}
