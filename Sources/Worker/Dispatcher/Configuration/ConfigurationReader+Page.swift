import OperatorPage

extension ConfigurationReader {
    /// The paths of the admin server itself.
    private static let ownPaths: Set<String> = ["livez", "readyz", "metrics", "version"]

    /// Reads the operator's page; nil if there is to be none.
    mutating func readPage(listen: HostPort?) -> Configuration.Page? {
        let path = text(.adminPagePath)
        guard !path.isEmpty else { return nil }
        let names = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        let isPath = path.hasPrefix("/") && names.allSatisfy { Self.isName(String($0), allowing: "-_.") }
        if !isPath || Self.ownPaths.contains(String(names.first ?? "")) {
            fail(
                .adminPagePath, "\(path.quoted) is invalid",
                "write a path such as /ui that begins with a slash and does not end with one, or \"\" for no page")
        }
        let page = Configuration.Page(
            path: path, usersFile: readUsersFile(listen: listen), userHeader: readUserHeader(),
            trustedProxies: readTrustedProxies(.adminTrustedProxies), operators: texts(.adminOperators),
            allowedOrigins: readAllowedOrigins(.adminAllowedOrigins), showsPayloads: boolean(.adminPageShowsPayloads))
        if page.allowedOrigins.contains("*") {
            fail(.adminAllowedOrigins, "\"*\" would let every page of the web act", "name the origins one by one")
        }
        if !page.userHeader.isEmpty, page.trustedProxies.isEmpty {
            fail(.adminTrustedProxies, "missing", "set user_header and trusted_proxies together")
        }
        if page.userHeader.isEmpty, page.usersFile == nil, !page.trustedProxies.isEmpty {
            fail(.adminUserHeader, "missing", "set trusted_proxies together with user_header or users_file")
        }
        if page.userHeader.isEmpty, !page.operators.isEmpty {
            fail(.adminOperators, "nobody is named by a header", "set user_header, or give roles in users_file")
        }
        return page
    }

    private mutating func readUsersFile(listen: HostPort?) -> String? {
        guard let path = resolved(text(.adminUsersFile), of: .adminUsersFile) else { return nil }
        if let listen, !listen.isLoopback {
            warn(
                .adminUsersFile, "passwords of the page cross the network in the clear",
                "listen on 127.0.0.1 and put a proxy with TLS in front")
        }
        guard checksFile(of: .adminUsersFile) else { return path }
        do {
            let users = try PageUsers(try ConfigurationFile.read(path))
            if users.entries.isEmpty {
                warn(.adminUsersFile, "\(path) names no user", "run 'apus page user add NAME --role operator'")
            }
        } catch let error as ConfigurationFile.Failure {
            // 'apus page user add' makes the file.
            guard !error.isMissingFile else {
                warn(.adminUsersFile, "there is no file \(path)", "run 'apus page user add NAME --role operator'")
                return path
            }
            fail(
                .adminUsersFile, "cannot read \(path): \(error.message)", error.remedy,
                isTransient: error.isTransient)
        } catch {
            fail(.adminUsersFile, "\(path): \(error)", "correct the line, or remove it")
        }
        if ConfigurationFile.isReadableByOthers(path) {
            warn(.adminUsersFile, "other users can read \(path)", "run 'chmod 600 \(path)'")
        }
        return path
    }

    private mutating func readUserHeader() -> String {
        let header = text(.adminUserHeader)
        if !header.isEmpty, !Self.isName(header, allowing: "-_", countMaximum: 128) {
            fail(.adminUserHeader, "\(header.quoted) is no name of a header", "write a name such as X-Forwarded-User")
        }
        return header
    }
}
