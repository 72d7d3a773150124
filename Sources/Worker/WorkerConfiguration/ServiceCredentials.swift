import Glibc

/// The files that systemd hands to a service: `LoadCredential=`, or a mounted folder that looks the same.
///
/// A file `APUS_RABBITMQ_URL` in the folder `$CREDENTIALS_DIRECTORY` is what the variable `APUS_RABBITMQ_URL_FILE`
/// names, and `APUS_APP_0_APNS_KEY` that of `APUS_APP_0_APNS_KEY_FILE`. So a unit loads a whole folder of them, and an
/// operator only adds files.
enum ServiceCredentials {
    /// Returns an environment together with the variables that name the credentials; a variable that is set wins.
    static func added(to environment: [String: String]) -> [String: String] {
        guard let folder = environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty else { return environment }
        var result = environment
        for name in names(in: folder) where name.hasPrefix("APUS_") && environment[name] == nil {
            let variable = name + "_FILE"
            if environment[variable] == nil { result[variable] = folder + "/" + name }
        }
        return result
    }

    private static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }
}
