extension ConfigurationReader {
    /// Whether the app says how it reaches ADM.
    func usesADM(app index: Int) -> Bool { isGiven(.admClientID, app: index) }

    /// Reads `[app.adm]`; nil if the app does not use ADM.
    mutating func readADM(app index: Int) -> Configuration.ADM? {
        let clientID = text(.admClientID, app: index)
        let secret = text(.admClientSecret, app: index)
        let adm = Configuration.ADM(
            clientID: clientID, clientSecret: Secret(secret), endpoint: readEndpoint(.admEndpoint, app: index),
            tokenURL: readTokenURL(.admTokenURL, app: index), proxy: readProxy(.admProxy, app: index),
            caFile: readCertificateFile(.admCAFile, app: index))
        guard !clientID.isEmpty else { return nil }
        for (key, value) in [(ConfigurationKey.admClientID, clientID), (.admClientSecret, secret)] {
            guard !value.isEmpty, value.utf8.count <= 512, value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
                fail(
                    key, app: index, value.isEmpty ? "missing" : "the value is invalid",
                    "give it as Amazon's developer console shows it, in the security profile of the app")
                continue
            }
        }
        return adm
    }
}
