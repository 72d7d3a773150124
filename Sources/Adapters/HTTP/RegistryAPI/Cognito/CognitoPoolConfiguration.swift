import JSON

/// The settings of `SetIdentityPoolConfiguration`.
///
/// It is kept and given back, and decides nothing: the app of a pool, and the key of the app, are in the configuration
/// of Apus.
struct CognitoPoolConfiguration {
    private static let applicationsMaximum = 100

    /// The members of `PushSync`, or nil if it was not given.
    let applicationArns: [String]?
    let roleArn: String?

    init(applicationArns: [String]?, roleArn: String?) {
        self.applicationArns = applicationArns
        self.roleArn = roleArn
    }

    /// Reads the body of a request.
    init(_ members: JSONObject) throws(CognitoError) {
        if let streams = members["CognitoStreams"], !streams.isNull {
            throw .invalidParameter("CognitoStreams is not supported: Apus keeps no datasets. Give PushSync alone.")
        }
        guard let pushSync = members["PushSync"], !pushSync.isNull else {
            self.init(applicationArns: nil, roleArn: nil)
            return
        }
        guard let pushSync = pushSync.object else { throw .invalidParameter("PushSync is not an object.") }
        var arns: [String] = []
        if let value = pushSync["ApplicationArns"], !value.isNull {
            guard let array = value.array else { throw .invalidParameter("ApplicationArns is not an array.") }
            for element in array {
                guard let arn = element.string, arns.count < Self.applicationsMaximum else {
                    throw .invalidParameter(
                        "ApplicationArns is not an array of at most \(Self.applicationsMaximum) strings.")
                }
                try CognitoRules.checkApplicationArn(arn)
                arns.append(arn)
            }
        }
        var role: String?
        if let value = pushSync["RoleArn"], !value.isNull {
            guard let text = value.string else { throw .invalidParameter("RoleArn is not a string.") }
            try CognitoRules.checkRoleArn(text)
            role = text
        }
        self.init(applicationArns: arns, roleArn: role)
    }

    /// The body of the answers.
    func json(identityPoolID: String) -> [UInt8] {
        JSONWriter.object { writer in
            writer.member("IdentityPoolId", identityPoolID)
            if let applicationArns {
                writer.object("PushSync") { writer in
                    writer.array("ApplicationArns", texts: applicationArns)
                    writer.member("RoleArn", roleArn)
                }
            }
        }
    }
}
