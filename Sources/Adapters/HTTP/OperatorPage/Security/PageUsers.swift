public import Crypto

/// The users of the page and the hashes of their passwords, as their file has them.
///
/// A line is `NAME ROLE HASH`, for example `maria operator $scrypt$ln=15,r=8,p=1$…$…`. Empty lines and lines that
/// begin with `#` say nothing.
public struct PageUsers: Hashable, Sendable {
    /// A user of the file.
    public struct Entry: Hashable, Sendable {
        /// The name, which is given at the login.
        public let name: String
        /// The rights of the user.
        public let role: PageRole
        /// The stored form of the password.
        public let hash: PasswordHash

        /// Creates an entry; nil if the name cannot be one: 1 to 128 printable characters of ASCII, no blank, `:`, `"`
        /// or `#`.
        public init?(name: String, role: PageRole, hash: PasswordHash) {
            guard PageUser.isName(name) else { return nil }
            self.name = name
            self.role = role
            self.hash = hash
        }

        /// The line of the file, without its end.
        public var line: String { "\(name) \(role.rawValue) \(hash.text)" }
    }

    /// The file cannot be understood.
    public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// The line, what is wrong with it, and the rule; no part of a hash.
        public let description: String
    }

    /// The users in the order of the file.
    public private(set) var entries: [Entry] = []

    /// No users.
    public init() {}

    /// Reads the file.
    ///
    /// - Throws: `Problem` for the first line that is no user, or names one a second time.
    public init(_ file: [UInt8]) throws(Problem) {
        let lines = String(decoding: file, as: UTF8.self).split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let words = line.split { $0 == " " || $0 == "\t" }
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            guard words.count == 3, let role = PageRole(rawValue: String(words[1])),
                let hash = PasswordHash(words[2]), let entry = Entry(name: String(first), role: role, hash: hash)
            else {
                throw Problem(
                    description: "line \(index + 1) is no user: expected NAME, viewer or operator, and a hash of "
                        + "scrypt, as 'apus page user add' writes them")
            }
            guard self[entry.name] == nil else {
                throw Problem(
                    description: "line \(index + 1) names \(entry.name) a second time; remove one of the lines")
            }
            entries.append(entry)
        }
    }

    /// The user of a name, compared byte by byte.
    public subscript(name: String) -> Entry? { entries.first { $0.name.utf8.elementsEqual(name.utf8) } }

    /// The same users with one more, in the place of an earlier one of that name.
    public func adding(_ entry: Entry) -> PageUsers {
        var users = self
        if let index = entries.firstIndex(where: { $0.name == entry.name }) {
            users.entries[index] = entry
        } else {
            users.entries.append(entry)
        }
        return users
    }

    /// The same users without those of some names.
    public func removing(_ names: [String]) -> PageUsers {
        var users = self
        users.entries.removeAll { entry in names.contains { $0.utf8.elementsEqual(entry.name.utf8) } }
        return users
    }
}
