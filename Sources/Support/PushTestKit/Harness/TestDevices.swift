/// Devices by their numbers, for all tests, loads and benchmarks that register many.
public enum TestDevices {
    /// How a device is called in the registry.
    public static func name(_ index: Int) -> String { "device-\(index)" }

    /// How an identity is called.
    public static func identity(_ index: Int) -> String {
        "us-east-1:00000000-0000-0000-0000-" + digits(index, count: 12)
    }

    /// The digits of a device token, 64 of them.
    ///
    /// - Parameters:
    ///   - index: the number that they end with.
    ///   - filler: the digit that stands before it.
    /// - Returns: the digits.
    public static func token(_ index: Int, filler: Character = "a") -> String {
        String(repeating: filler, count: 56) + digits(index, count: 8)
    }

    /// A line for `apus device import`, of the app `chat`.
    ///
    /// - Parameters:
    ///   - index: the number of the device.
    ///   - token: the digits of its token.
    ///   - members: further members, in JSON.
    /// - Returns: a line of JSON.
    public static func importLine(_ index: Int, token: String, _ members: String) -> String {
        #"{"deviceId":"\#(name(index))","platform":"APNS","token":"\#(token)","app":"chat",\#(members)}"#
    }

    /// The members of a device of an identity, for `importLine`.
    ///
    /// - Parameters:
    ///   - identity: the number of the identity.
    ///   - datasets: the datasets that the device follows.
    /// - Returns: members in JSON.
    public static func membership(_ identity: Int, datasets: [String] = ["notes"]) -> String {
        let names = datasets.map { "\"\($0)\"" }.joined(separator: ",")
        return #""identityPoolId":"\#(TestEvents.pool)","identityId":"\#(Self.identity(identity))","#
            + #""datasets":[\#(names)]"#
    }

    private static func digits(_ number: Int, count: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
