import Notifications

/// The addresses of devices in bodies: tokens, and subscriptions of browsers.
extension NativeHandler {
    /// Reads the address of a device: `token` and `target`, or `subscription` and `applicationServerKey`.
    func address(
        from body: NativeBody, _ platform: Platform, app: RegistryAPIApp
    ) throws(NativeProblem) -> DeviceToken {
        let others = platform == .webPush ? ["token", "target"] : ["subscription", "applicationServerKey"]
        for name in others where body.has(name) {
            throw NativeProblem(
                .invalid,
                "\"\(name)\" is not for \(platform.rawValue): devices of WEB_PUSH have a \"subscription\", all others "
                    + "a \"token\".")
        }
        guard platform == .webPush else {
            return try deviceToken(try body.required("token"), platform, target: try body.string("target"))
        }
        if let key = try body.string("applicationServerKey") {
            try naming("applicationServerKey") { () throws(PlatformTokenError) in
                try PushSubscription.checkApplicationServerKey(key, known: app.applicationServerKeys)
            }
        }
        guard let value = body.value("subscription") else {
            throw NativeProblem(.invalid, "\"subscription\" is missing.")
        }
        let now = context.nowMilliseconds
        return try naming("subscription") { () throws(PlatformTokenError) in
            try PushSubscription(value).token(nowMilliseconds: now, hosts: app.pushHosts)
        }
    }

    /// Reads a token of a member.
    func deviceToken(
        _ text: String, _ platform: Platform, target: String? = nil, member: String = "token"
    ) throws(NativeProblem) -> DeviceToken {
        let courier = context.courierTokens
        return try naming(member) { () throws(PlatformTokenError) in
            try PlatformToken.read(text, platform: platform, target: target, courier)
        }
    }

    private func naming<Value>(
        _ member: String, _ body: () throws(PlatformTokenError) -> Value
    ) throws(NativeProblem) -> Value {
        do throws(PlatformTokenError) {
            return try body()
        } catch {
            throw NativeProblem(.invalid, "\"\(member)\": \(error.message)")
        }
    }
}
