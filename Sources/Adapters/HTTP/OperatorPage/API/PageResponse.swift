import HTTPServer
import JSON
import RegistryCore

/// The answers of the page's API, and the header fields of all answers.
enum PageResponse {
    /// The content security policy: a browser loads only the page's own files, and no inline script or style.
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    /// Without its own referrer a browser on plain http would send `Origin: null` with each POST.
    private static let fields = [
        HTTPField("Content-Security-Policy", policy), HTTPField("X-Content-Type-Options", "nosniff"),
        HTTPField("Referrer-Policy", "same-origin"), HTTPField("Cross-Origin-Opener-Policy", "same-origin"),
        HTTPField("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    /// Adds the fields that each answer has.
    static func completed(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.fields += fields
        return response
    }

    /// An object of JSON.
    ///
    /// - Parameters:
    ///   - status: the HTTP status.
    ///   - write: writes the members.
    /// - Returns: the answer.
    static func object(_ status: Int = 200, _ write: (inout JSONWriter) throws -> Void) rethrows -> HTTPResponse {
        var writer = JSONWriter(capacityBytes: 2_048)
        writer.beginObject()
        try write(&writer)
        writer.endObject()
        return .content(status, type: "application/json", writer.bytes)
    }

    /// The answer to a request that is not served.
    static func problem(_ problem: PageProblem) -> HTTPResponse {
        var response = object(problem.code.status) { writer in
            writer.object("error") { writer in
                writer.member("code", problem.code.rawValue)
                writer.member("message", problem.message)
            }
        }
        response.fields += problem.fields
        return response
    }
}

extension PageProblem {
    /// Explains a failure of the registry, the broker or the page itself.
    init(_ error: any Error) {
        switch error {
        case let error as PageProblem: self = error
        case let error as RegistryError:
            switch error.code {
            case .notFound: self.init(.notFound, error.message)
            case .invalid: self.init(.invalid, error.message)
            default: self.init(.unavailable, "The registry cannot be used: \(error.message)")
            }
        case let error as PageBrokerError: self.init(.unavailable, "RabbitMQ cannot be used: \(error.message)")
        default: self.init(.unavailable, "This process cannot do it now: \(error)")
        }
    }
}

extension JSONWriter {
    /// Writes a member if it has a value, with four digits after the point at most.
    mutating func member(_ key: StaticString, rounded number: Double?) {
        guard let number, number.isFinite else { return }
        self.key(key)
        double((number * 10_000).rounded() / 10_000)
    }
}
