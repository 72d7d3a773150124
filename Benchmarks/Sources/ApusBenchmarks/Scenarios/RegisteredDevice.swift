import Notifications

/// The devices of the benchmarks: number n belongs to identity n.
enum RegisteredDevice {
    static func name(_ index: Int) -> String { "device-\(index)" }

    static func identity(_ index: Int) -> String {
        let digits = String(index, radix: 16)
        return "us-east-1:00000000-0000-0000-0000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    static func dataset(_ index: Int) -> DatasetKey {
        DatasetKey(identityPoolID: Workbench.pool, identityID: identity(index), datasetName: "notes")
    }

    /// A line for `apus device import`.
    static func line(_ index: Int, identity: Int) -> String {
        let digits = String(index, radix: 16)
        let token = String(repeating: "a", count: 56) + String(repeating: "0", count: 8 - digits.count) + digits
        return #"{"deviceId":"\#(name(index))","platform":"APNS","token":"\#(token)","app":"chat","#
            + #""identityPoolId":"\#(Workbench.pool)","identityId":"\#(Self.identity(identity))","datasets":["notes"]}"#
    }

    /// An event for `apus publish --file`.
    static func event(_ index: Int, syncCount: Int) -> String {
        #"{"specversion":"1.0","id":"\#(index)-\#(syncCount)","source":"/benchmark","type":"dataset.changed","data":{"#
            + #""identityPoolId":"\#(Workbench.pool)","identityId":"\#(identity(index))","datasetName":"notes","#
            + #""syncCount":\#(syncCount)}}"#
    }

    /// A request for a push to the devices of an identity, for `apus publish --file`.
    static func request(_ identifier: String, identity: String) -> String {
        #"{"specversion":"1.0","id":"\#(identifier)","source":"/benchmark","type":"push.requested","data":{"#
            + #""app":"chat","identityIds":["\#(identity)"],"notification":{"body":"hello"}}}"#
    }
}
