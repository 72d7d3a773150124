import ChangeEvents

/// The patterns and limits of Cognito Sync's API reference (2014-06-30).
enum CognitoRules {
    /// Checks an `IdentityPoolId` or `IdentityId`: 1 to 55 of `[\w-]+:[0-9a-f-]+`.
    static func checkIdentifier(_ text: String, _ member: String) throws(CognitoError) {
        guard TextRule.identity.isFollowed(by: text) else {
            throw failure(text, member, "[\\w-]+:[0-9a-f-]+, of at most 55 characters")
        }
    }

    /// Checks a `DatasetName`.
    static func checkDatasetName(_ text: String) throws(CognitoError) {
        guard TextRule.datasetName.isFollowed(by: text) else {
            throw failure(text, "datasetName", "[a-zA-Z0-9_.:-]+, of at most 128 characters")
        }
    }

    /// Checks a `DeviceId`.
    static func checkDeviceID(_ text: String) throws(CognitoError) {
        // A signature of DeleteDataset would be one of UnsubscribeFromDataset for a device that is called so.
        guard TextRule.name.isFollowed(by: text), text != ".", text != ".." else {
            throw failure(text, "deviceId", "1 to 256 bytes without control characters, and not . or ..")
        }
    }

    /// Checks an `ApplicationArn`: `arn:aws:sns:[-0-9a-z]+:\d+:app/[A-Z_]+/[a-zA-Z0-9_.-]+`.
    static func checkApplicationArn(_ text: String) throws(CognitoError) {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let path = parts.last?.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) ?? []
        let isRight =
            text.utf8.count <= 2_048 && text.hasPrefix("arn:aws:sns:") && parts.count == 6 && path.count == 3
            && !parts[3].isEmpty && parts[3].allSatisfy { isDigit($0) || (97...122).contains($0) || $0 == 45 }
            && !parts[4].isEmpty && parts[4].allSatisfy(isDigit) && path[0].elementsEqual("app".utf8)
            && !path[1].isEmpty && path[1].allSatisfy { (65...90).contains($0) || $0 == 95 }
            && !path[2].isEmpty && path[2].allSatisfy { isWord($0) || $0 == 45 || $0 == 46 }
        guard isRight else {
            throw failure(text, "applicationArn", "arn:aws:sns:[-0-9a-z]+:\\d+:app/[A-Z_]+/[a-zA-Z0-9_.-]+")
        }
    }

    /// Checks a `RoleArn`: 20 to 2048 of `arn:aws:iam::\d+:role/.*`.
    static func checkRoleArn(_ text: String) throws(CognitoError) {
        let prefix = "arn:aws:iam::"
        let account = text.dropFirst(prefix.count).prefix { $0 != ":" }
        let isRight =
            (20...2_048).contains(text.utf8.count) && text.hasPrefix(prefix) && !account.isEmpty
            && account.utf8.allSatisfy(isDigit)
            && text.dropFirst(prefix.count + account.count).hasPrefix(":role/")
        guard isRight else { throw failure(text, "roleArn", "arn:aws:iam::\\d+:role/.*, of 20 to 2048 characters") }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    private static func isWord(_ byte: UInt8) -> Bool {
        isDigit(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 95
    }

    private static func failure(_ text: String, _ member: String, _ pattern: String) -> CognitoError {
        .invalidParameter(
            "1 validation error detected: Value '\(text.prefix(300))' at '\(member)' failed to satisfy constraint: "
                + "Member must satisfy \(pattern)")
    }
}
