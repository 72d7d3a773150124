import PushServiceSimulator

/// Reads the parts of a payload that the rules need, in one pass and without keeping anything.
enum PushPayload {
    /// Finds the telling keys of `aps`.
    ///
    /// - Parameter bytes: the body of the request.
    /// - Returns: nil unless the bytes are UTF-8, JSON (RFC 8259), an object, and `aps` an object too if it is there.
    static func keys(in bytes: [UInt8]) -> APSKeys? {
        bytes.withUnsafeBufferPointer { bytes in try? read(bytes) }
    }

    private static func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONReader.Malformed) -> APSKeys {
        var reader = try JSONReader(bytes)
        var keys: APSKeys = []
        try reader.enterObject()
        while let key = try reader.nextKey() {
            if key.matches("aps") {
                keys = try readAPS(&reader)
            } else {
                try reader.skipValue()
            }
        }
        try reader.readEnd()
        return keys
    }

    private static func readAPS(_ reader: inout JSONReader) throws(JSONReader.Malformed) -> APSKeys {
        var keys: APSKeys = []
        try reader.enterObject()
        while let key = try reader.nextKey() {
            if key.matches("content-available") {
                // Only the number 1 is the documented value.
                if reader.nextByte == UInt8(ascii: "1") { keys.insert(.contentAvailable) }
            } else if key.matches("event") {
                keys.insert(.event)
                guard reader.nextByte == UInt8(ascii: "\"") else { throw JSONReader.Malformed() }
                let event = try reader.readRawString()
                if event.matches("start") { keys.insert(.startEvent) }
                if event.matches("end") { keys.insert(.endEvent) }
                continue
            } else {
                keys.formUnion(self.key(named: key))
            }
            try reader.skipValue()
        }
        return keys
    }

    private static func key(named name: UnsafeBufferPointer<UInt8>) -> APSKeys {
        switch name.count {
        case 5: name.matches("alert") ? .alert : name.matches("badge") ? .badge : name.matches("sound") ? .sound : []
        case 9: name.matches("timestamp") ? .timestamp : []
        case 10: name.matches("attributes") ? .attributes : name.matches("stale-date") ? .staleDate : []
        case 13: name.matches("content-state") ? .contentState : []
        case 14: name.matches("dismissal-date") ? .dismissalDate : []
        case 15:
            name.matches("content-changed") ? .contentChanged : name.matches("attributes-type") ? .attributesType : []
        case 16: name.matches("input-push-token") ? .inputPushToken : []
        case 18: name.matches("input-push-channel") ? .inputPushChannel : []
        default: []
        }
    }
}
