import Crypto
import HTTPServer
import JSON
import Notifications
import RegistryCore

/// A device's report of opened pushes: who it says that it is, and the receipts of the pushes.
struct OpenReport: Sendable {
    /// The result for one receipt, for the client.
    private enum Result: String {
        case counted
        case repeated
        case unknownDevice = "unknown-device"
        case expired
        case invalid
    }

    /// The identifier that the device was registered with.
    let deviceID: String
    private let tokenText: String
    /// The receipts that are right, and what is wrong with the others, in their order.
    private let receipts: [(receipt: OpenReceipt?, problem: Result)]

    /// Reads a report and checks its receipts.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - authentication: the servers' own secret.
    ///   - keptHours: how long reports are kept, in hours.
    ///   - nowMilliseconds: the time.
    /// - Throws: `NativeProblem` if the body is not as it has to be; a wrong receipt is no such error.
    init(
        _ request: HTTPRequest, _ authentication: ReceiptAuthentication, keptHours: Int64, nowMilliseconds: Int64
    ) throws(NativeProblem) {
        try NativeParameters.check(PathValues(values: [:]), request, queryNames: [])
        try NativeBody.requireJSON(request)
        let parser = JSONParser(depthMaximum: 8, bytesMaximum: Route.smallBodyBytes)
        let body = try NativeBody(request.body, names: ["deviceId", "token", "receipts"], parser: parser)
        deviceID = try body.required("deviceId")
        try NativeParameters.check("deviceId", deviceID)
        tokenText = try body.required("token")
        guard (1...DeviceToken.textBytesMaximum).contains(tokenText.unicodeScalars.count) else {
            throw NativeProblem(
                .invalid, "\"token\" has to be 1 to \(DeviceToken.textBytesMaximum) characters long.")
        }
        let texts = try body.strings("receipts", countMaximum: OpensAPI.receiptsMaximum)
        guard !texts.isEmpty else {
            throw NativeProblem(.invalid, "\"receipts\" has to have 1 to \(OpensAPI.receiptsMaximum) entries.")
        }
        receipts = texts.map { text in
            guard let receipt = OpenReceipt(text: text, mac: authentication) else { return (nil, .invalid) }
            return receipt.isExpired(nowMilliseconds: nowMilliseconds, keptHours: keptHours)
                ? (nil, .expired) : (receipt, .unknownDevice)
        }
    }

    /// Whether there is nothing to ask of the registry.
    var isVoid: Bool { receipts.allSatisfy { $0.receipt == nil } }

    /// The token, if it is one of the device's; nil if not, or if there is no such device.
    func provenToken(in registry: any ServedRegistry) throws(RegistryError) -> DeviceToken? {
        guard let device = try registry.device(deviceID),
            let token = device.platform.hasTextTokens
                ? DeviceToken(text: Array(tokenText.utf8)) : DeviceToken(hexadecimal: tokenText)
        else { return nil }
        if MessageAuthentication.isEqual(token.bytes, device.token.bytes) { return token }
        let others = device.platform.isAPNs ? try registry.tokens(of: [deviceID]).flatMap(\.self) : []
        return others.contains { MessageAuthentication.isEqual(token.bytes, $0.token.bytes) } ? token : nil
    }

    /// The opens of the receipts that are right.
    func opens(token: DeviceToken) -> [CampaignOpen] {
        receipts.compactMap(\.receipt).map { receipt in
            CampaignOpen(campaign: receipt.campaign, event: receipt.event, deviceID: deviceID, token: token)
        }
    }

    /// The answer: a result for each receipt.
    ///
    /// - Parameter counted: the results of the valid receipts; none if the device is unknown.
    /// - Returns: the response.
    func response(ofRight counted: [CampaignOpenResult]) -> HTTPResponse {
        var remaining = counted[...]
        let results = receipts.map { receipt, problem in
            guard receipt != nil, let result = remaining.popFirst() else { return problem }
            return switch result {
            case .counted: Result.counted
            case .repeated: .repeated
            case .unknownDevice: .unknownDevice
            }
        }
        return NativeHandler.json { writer in
            writer.array("results") { writer in for result in results { writer.string(result.rawValue) } }
        }
    }
}
