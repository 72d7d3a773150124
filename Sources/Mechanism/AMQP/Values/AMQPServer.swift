import Messages

/// The product and the version that a broker names when a connection begins.
public struct AMQPServer: Hashable, Sendable {
    /// The product, for example `RabbitMQ`.
    public let product: String
    /// The version as text, for example `3.10.8`; only that of the connected node.
    public let versionText: String
    /// Its version, as far as it can be read.
    public let version: Version?

    /// A version of three numbers.
    public struct Version: Hashable, Comparable, Sendable, CustomStringConvertible {
        /// The numbers, the most important first.
        public let major, minor, patch: Int

        /// The numbers with dots between them.
        public var description: String { "\(major).\(minor).\(patch)" }

        /// A version whose numbers are known.
        public init(_ major: Int, _ minor: Int, _ patch: Int) {
            self.major = major
            self.minor = minor
            self.patch = patch
        }

        /// Reads `4.1.0`, `4.1`, and with a suffix `4.0.0+2` or `4.3.0-rc.1`; nil for text without a number.
        public init?(_ text: String) {
            var numbers: [Int] = []
            for part in text.split(separator: ".", omittingEmptySubsequences: false).prefix(3) {
                let digits = part.prefix { $0.isASCII && $0.isNumber }
                guard digits.count <= 9, let number = Int(digits) else { break }
                numbers.append(number)
                // The first character that is no digit ends the version.
                guard digits.count == part.count else { break }
            }
            guard let major = numbers.first else { return nil }
            self.init(major, numbers.count > 1 ? numbers[1] : 0, numbers.count > 2 ? numbers[2] : 0)
        }

        /// Whether one version came before another.
        public static func < (left: Version, right: Version) -> Bool {
            (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
        }
    }

    /// Creates the identity of a broker with this product and version.
    public init(product: String, version: String) {
        self.product = product
        versionText = version
        self.version = Version(version)
    }

    init(properties: [MessageHeader]) {
        func text(_ name: String) -> String {
            for property in properties where property.name == name {
                if case .string(let text) = property.value { return String(text.prefix(64)) }
            }
            return ""
        }
        self.init(product: text("product"), version: text("version"))
    }

    /// Whether the broker is RabbitMQ; other brokers that speak AMQP have other queues.
    public var isRabbitMQ: Bool { product == "RabbitMQ" }
}
