import Notifications
import PushCore

/// What every implementation of `CourierRegistry` must do.
enum CourierConformance {
    /// All checks.
    static let all: [RegistryConformance] = waitingChecks + endingChecks

    // MARK: Values and steps that the checks share

    static let now: Int64 = 1_700_000_000_000

    static func register(_ names: String..., app: String = "chat", in registry: any RegistryConformance.Store) throws {
        try registry.upsert(
            try names.map { name in
                var device = try RegistryConformance.device(name, app: app, identity: nil, registeredAt: now)
                device.platform = .web
                return device
            })
    }

    static func message(
        _ text: String, to name: String, app: String = "chat", push: UInt64, collapse: String? = nil,
        expiresAfter milliseconds: Int64 = 60_000
    ) throws -> CourierMessage {
        CourierMessage(
            token: try token(name), app: app, pushID: APNsIdentifier(high: .max, low: push), collapseID: collapse,
            expiresAtMilliseconds: now + milliseconds, payload: Array(text.utf8))
    }

    static func token(_ name: String) throws -> DeviceToken { try RegistryConformance.device(name).token }

    /// What one request for some devices answers: a text for each.
    static func collected(
        _ names: String..., from registry: any RegistryConformance.Store, after milliseconds: Int64 = 0
    ) throws -> [String] {
        let tokens = try names.map { try token($0) }
        return try registry.collect(tokens, nowMilliseconds: now + milliseconds).map { mail in
            switch mail {
            case .unknown: "unknown"
            case .nothing: "nothing"
            case .payload(let payload): String(decoding: payload, as: UTF8.self)
            }
        }
    }

    /// Everything that waits for a device, which is empty afterwards.
    static func everything(for name: String, in registry: any RegistryConformance.Store) throws -> [String] {
        var texts: [String] = []
        while let text = try collected(name, from: registry).first, text != "nothing" { texts.append(text) }
        return texts
    }
}
