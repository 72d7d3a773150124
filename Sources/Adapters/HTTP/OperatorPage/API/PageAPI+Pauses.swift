import Essentials
import HTTPServer
import JSON
import RegistryCore

/// Pauses of apps, which the workers read from the registry.
extension PageAPI {
    /// `GET pauses`.
    func listPauses() async throws -> HTTPResponse {
        let pauses = try await store.run { try $0.pauses() }
        return PageResponse.object { pauses.write(to: &$0) }
    }

    /// `POST pauses`.
    func pause(_ call: PageCall) async throws -> HTTPResponse {
        let (app, reason) = try call.body(["app", "reason"]) { (body) throws(PageProblem) in
            (try Self.app(of: body), try body.text("reason") ?? "")
        }
        try check(app)
        let pause = AppPause(app: app, reason: reason, user: call.user.name, atMilliseconds: nowMilliseconds)
        do throws(RegistryError) {
            try pause.check()
        } catch {
            throw PageProblem(.invalid, error.message)
        }
        try await actions.perform(.pause, call.user, target: AppPause.auditTarget(of: app)) { try $0.setPause(pause) }
        return try await listPauses()
    }

    /// `POST pauses/resume`.
    func resume(_ call: PageCall) async throws -> HTTPResponse {
        let app = try call.body(["app"]) { (body) throws(PageProblem) in try Self.app(of: body) }
        let isPaused = try await store.run { try $0.pauses() }.contains { $0.app == app }
        guard isPaused else {
            throw PageProblem(.conflict, "\(app.map { "The app \($0)" } ?? "Everything") is not paused.")
        }
        try await actions.perform(.resume, call.user, target: AppPause.auditTarget(of: app)) {
            _ = try $0.removePause(app: app)
        }
        return try await listPauses()
    }

    /// The app that is meant, or nil for all, which has to be said: what was forgotten must not stop everything.
    private static func app(of body: JSONObject) throws(PageProblem) -> String? {
        guard let value = body["app"] else {
            throw PageProblem(.invalid, "app is missing: expected the name of an app, or null for all apps.")
        }
        return value.isNull ? nil : try body.requiredText("app")
    }

    private func check(_ app: String?) throws(PageProblem) {
        guard let app, !configuration.appNames.contains(where: { $0.hasBytes(of: app) }) else { return }
        throw PageProblem(
            .invalid,
            "There is no app \"\(app.shortened(bytesMaximum: 80))\": expected one of "
                + "\(configuration.appNames.joined(separator: ", ")), or null for all.")
    }
}

extension [AppPause] {
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
    func includes(_ app: String) -> Bool { contains { $0.app == nil || $0.app == app } }
}
