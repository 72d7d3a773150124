import Essentials
import HTTPServer
import JSON
import PushCore

/// Pauses of apps, where this process can ask for them.
extension PageAPI {
    private static let reasonBytesMaximum = 500

    /// `GET pauses`.
    func listPauses() async throws -> HTTPResponse {
        let pauses = try await requiredPauses().pauses()
        return PageResponse.object { pauses.write(to: &$0) }
    }

    /// `POST pauses`.
    func pause(_ call: PageCall) async throws -> HTTPResponse {
        let keeper = try requiredPauses()
        let (app, reason) = try call.body(["app", "reason"]) { (body) throws(PageProblem) in
            (try body.text("app"), try body.text("reason") ?? "")
        }
        try check(app)
        guard reason.utf8.count <= Self.reasonBytesMaximum else {
            throw PageProblem(
                .invalid,
                "reason has \(reason.utf8.count) bytes: expected at most \(Self.reasonBytesMaximum).")
        }
        let pause = PagePause(app: app, reason: reason, user: call.user.name, atMilliseconds: nowMilliseconds)
        try await actions.performAway(.pause, call.user, target: app.map { "app \($0)" } ?? "all apps") {
            try await keeper.pause(pause)
        }
        return try await listPauses()
    }

    /// `POST pauses/resume`.
    func resume(_ call: PageCall) async throws -> HTTPResponse {
        let keeper = try requiredPauses()
        let app = try call.body(["app"]) { (body) throws(PageProblem) in try body.text("app") }
        let isPaused = try await keeper.pauses().contains { $0.app == app }
        guard isPaused else {
            throw PageProblem(.conflict, "\(app.map { "The app \($0)" } ?? "Everything") is not paused.")
        }
        try await actions.performAway(.resume, call.user, target: app.map { "app \($0)" } ?? "all apps") {
            _ = try await keeper.resume(app: app)
        }
        return try await listPauses()
    }

    private func requiredPauses() throws(PageProblem) -> any PagePauses {
        guard let pauses else { throw PageProblem(.notFound, "This process cannot pause apps.") }
        return pauses
    }

    private func check(_ app: String?) throws(PageProblem) {
        guard let app, !configuration.appNames.contains(where: { $0.hasBytes(of: app) }) else { return }
        throw PageProblem(
            .invalid,
            "There is no app \"\(app.shortened(bytesMaximum: 80))\": expected one of "
                + "\(configuration.appNames.joined(separator: ", ")), or none for all.")
    }
}

extension [PagePause] {
    /// Writes the member `pauses`.
    func write(to writer: inout JSONWriter) {
        writer.array("pauses", self) { writer, pause in
            writer.member("app", pause.app)
            writer.member("reason", pause.reason)
            writer.member("user", pause.user)
            writer.member("atMilliseconds", pause.atMilliseconds)
        }
    }

    /// Whether the pushes of an app wait.
    func pauses(_ app: String) -> Bool { contains { $0.app == nil || $0.app == app } }
}
