import HTTPServer
import JSON
import RegistryCore

extension NativeHandler {
    // MARK: Datasets

    /// `subscribeDeviceToDataset`.
    func subscribeDeviceToDataset() throws(NativeProblem) -> HTTPResponse {
        let device = try device()
        guard device.identityID != nil else {
            throw NativeProblem(.conflict, RegistryError.withoutIdentity(device.deviceID).message)
        }
        try using { (registry) throws(RegistryError) in
            try registry.subscribe(device.deviceID, toDataset: values["datasetName"])
        }
        return Self.done
    }

    /// `unsubscribeDeviceFromDataset`.
    func unsubscribeDeviceFromDataset() throws(NativeProblem) -> HTTPResponse {
        let device = try device()
        _ = try using { (registry) throws(RegistryError) in
            try registry.unsubscribe(device.deviceID, fromDataset: values["datasetName"])
        }
        return Self.done
    }

    // MARK: Topics

    /// `subscribeDeviceToTopic`.
    func subscribeDeviceToTopic() throws(NativeProblem) -> HTTPResponse {
        let device = try device()
        try using { (registry) throws(RegistryError) in
            try registry.subscribe(device.deviceID, toTopic: values["topic"])
        }
        return Self.done
    }

    /// `unsubscribeDeviceFromTopic`.
    func unsubscribeDeviceFromTopic() throws(NativeProblem) -> HTTPResponse {
        let device = try device()
        _ = try using { (registry) throws(RegistryError) in
            try registry.unsubscribe(device.deviceID, fromTopic: values["topic"])
        }
        return Self.done
    }

    /// `subscribeUserToTopic`.
    func subscribeUserToTopic() throws(NativeProblem) -> HTTPResponse {
        let app = try requireApp(values["app"])
        try using { (registry) throws(RegistryError) in
            try registry.subscribeUser(values["userId"], app: app.name, toTopic: values["topic"])
        }
        return Self.done
    }

    /// `unsubscribeUserFromTopic`.
    func unsubscribeUserFromTopic() throws(NativeProblem) -> HTTPResponse {
        let app = try requireApp(values["app"])
        _ = try using { (registry) throws(RegistryError) in
            try registry.unsubscribeUser(values["userId"], app: app.name, fromTopic: values["topic"])
        }
        return Self.done
    }

    /// `listTopics`.
    func listTopics() throws(NativeProblem) -> HTTPResponse {
        let app = try requireApp(values["app"])
        let (limit, last) = (try limit(), try nameAfter())
        let found = try using { (registry) throws(RegistryError) in
            try registry.topics(app: app.name, after: last, limit: limit + 1)
        }
        return Self.page("topics", found, limit: limit, next: \.topic) { count, writer in
            writer.beginObject()
            writer.member("topic", count.topic)
            writer.member("devices", count.devices)
            writer.member("users", count.users)
            writer.endObject()
        }
    }

    // MARK: Erasing

    /// `eraseIdentity`.
    func eraseIdentity() throws(NativeProblem) -> HTTPResponse {
        try requireAllApps()
        return try erased { (registry) throws(RegistryError) in try registry.eraseIdentity(values["identityId"]) }
    }

    /// `eraseUser`.
    func eraseUser() throws(NativeProblem) -> HTTPResponse {
        try requireAllApps()
        return try erased { (registry) throws(RegistryError) in try registry.eraseUser(values["userId"]) }
    }

    private func erased(
        _ erase: (any ServedRegistry) throws(RegistryError) -> Int
    ) throws(NativeProblem) -> HTTPResponse {
        let count = try using(erase)
        return Self.json { writer in
            writer.member("removedDevices", count)
        }
    }
}
