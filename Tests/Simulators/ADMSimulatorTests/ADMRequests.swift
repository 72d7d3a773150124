import HTTPServer
import PushServiceSimulator
import Testing

@testable import ADMSimulator

/// Requests to a simulator of ADM, without a connection.
enum ADMRequests {
    static let registration = "amzn1.adm-registration.v3.abc"
    private static let fields = [
        HTTPField("content-type", "application/json"), HTTPField("accept", "application/json"),
        HTTPField("x-amzn-type-version", "com.amazon.device.messaging.ADMMessage@1.0"),
        HTTPField("x-amzn-accept-type", "com.amazon.device.messaging.ADMSendResult@1.0"),
    ]

    static func handler(
        recordFile: RecordFile? = nil, _ change: (inout ADMSimulatorConfiguration) -> Void = { _ in }
    ) -> ADMHandler {
        var configuration = ADMSimulatorConfiguration()
        configuration.clients = ["client": "secret+&="]
        configuration.recordsInMemoryMaximum = 100
        change(&configuration)
        return ADMHandler(configuration, recordFile: recordFile)
    }

    static func request(
        _ path: String, method: String = "POST", fields: [HTTPField], body: String
    ) throws -> HTTPRequest {
        HTTPRequest(
            method: method, target: try #require(HTTPTarget(path)), fields: fields, body: Array(body.utf8))
    }

    static func tokenAnswer(
        _ handler: ADMHandler,
        _ form: String = "grant_type=client_credentials&scope=messaging%3Apush&client_id=client"
            + "&client_secret=secret%2B%26%3D"
    ) throws -> HTTPResponse {
        let type = HTTPField("content-type", "application/x-www-form-urlencoded;charset=UTF-8")
        return try response(handler, try request("/auth/O2/token", fields: [type], body: form))
    }

    static func response(_ handler: ADMHandler, _ request: HTTPRequest) throws -> HTTPResponse {
        guard case .now(let response) = handler.answer(request) else { throw Unanswered() }
        return response
    }

    private struct Unanswered: Error {}

    static func token(_ handler: ADMHandler) throws -> String {
        let body = String(decoding: try tokenAnswer(handler).body, as: UTF8.self)
        return try #require(body.split(separator: "\"").first { $0.hasPrefix("Atc|") }.map(String.init))
    }

    static func send(
        _ handler: ADMHandler, to registration: String = registration, token: String? = nil,
        without field: String? = nil, body: String = #"{"data":{"a":"b"}}"#
    ) throws -> HTTPResponse {
        let authorization = HTTPField("authorization", "Bearer \(try token ?? Self.token(handler))")
        return try response(
            handler,
            try request(
                "/messaging/registrations/\(registration)/messages",
                fields: (fields + [authorization]).filter { $0.name != field }, body: body))
    }

    static func text(_ response: HTTPResponse) -> String { String(decoding: response.body, as: UTF8.self) }
}
