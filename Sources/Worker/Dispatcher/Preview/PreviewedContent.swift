public import Notifications
public import RegistryCore

/// What a push service would get, and the devices that it would be for.
public struct PreviewedContent: Sendable {
    let content: PushContent
    /// The push service.
    public let service: PushService
    /// The devices, each with one push.
    public internal(set) var devices: [Recipient]
    /// The header fields that the push decides (`PushService.shown`).
    public let fields: [(name: String, value: String)]
    /// The body, JSON.
    public let body: [UInt8]

    init(_ content: PushContent, for service: PushService, device: Recipient, nowSeconds: Int64) {
        self.content = content
        self.service = service
        devices = [device]
        (fields, body) = service.shown(content, nowSeconds: nowSeconds)
    }
}
