import Glibc
import PushTestKit
import Testing

@testable import Notifications

@Suite("Hosts that pushes to browsers go to")
struct PushHostRuleTests {
    @Test(
        "An address behind the firewall is refused in every form in which a program reads it",
        arguments: [
            "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0x7F.1", "017700000001",
            "0177.0.0.01", "0177.1", "127.0.0.1.", "127.0.0.1..", "0", "0.0.0.0", "0x0", "0x", "10.1", "0xa000001",
            "012.1.2.3", "169.254.169.254", "0xa9fea9fe", "2852039166", "0251.0376.0251.0376", "169.254.43518",
            "192.168.257", "[::1]", "::1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::a9fe:a9fe]",
            "[64:ff9b::10.0.0.1]", "[fd00::1]", "[fe80::1]", "[0:0:0:0:0:0:0:1]", "[::127.0.0.1]", "[2002:7f00:1::]",
            "localhost", "LOCALHOST", "localhost.", "a.b.localhost", "x.localhost.", "printer.local", "db.internal",
            "router.home.arpa", "localhost.localdomain", "intranet", "kubernetes.default.svc.cluster.local",
        ])
    func refused(host: String) {
        #expect(PushHostRule().problem(ofHost: host.lowercased(), port: 443) != nil)
        #expect(PushHostRule().problem(ofEndpoint: Array("https://\(host)/x".utf8)) != nil)
    }

    @Test(
        "What looks like an address and is none is no host",
        arguments: [
            "256.1.1.1", "1.1.1.1.1", "08.8.8.8", "4294967296", "0x100000000", "1.1.1.0x1ffff", "0xg.1", "1..1", ".",
            "", "a..b", "[::1", "[:::1]", "[1:2]", "[1:2:3:4:5:6:7:8:9]", "[::1.2.3]", "[::12345]", "[fe80::1%eth0]",
            "18446744073709551616", "push.example.0x1",
        ])
    func malformed(host: String) {
        #expect(LiteralHost(host) == .malformed)
        #expect(PushHostRule().problem(ofHost: host, port: 443) != nil)
    }

    @Test(
        "Public addresses and names are allowed on port 443",
        arguments: [
            "push.example.com", "fcm.googleapis.com", "1.1.1.1", "0x08080808", "2001:4860:4860::8888",
            "127.0.0.1.nip.io",
            "push.example.com.", "xn--bcher-kva.example", "localhost.example.com", "1.2.3.com", "10.0x.de",
        ])
    func allowed(host: String) {
        #expect(PushHostRule().problem(ofHost: host, port: 443) == nil)
        #expect(PushHostRule().problem(ofHost: host, port: 8443) != nil)
        let written = host.contains(":") ? "[\(host)]" : host
        #expect(PushHostRule().problem(ofEndpoint: Array("https://\(written)/x?y".utf8)) == nil)
        #expect(PushHostRule().problem(ofEndpoint: Array("https://\(written):443#z".utf8)) == nil)
        #expect(PushHostRule().problem(ofEndpoint: Array("https://\(written):8443".utf8)) != nil)
    }

    @Test("Whatever the system's reader takes for an address has the same bytes here")
    func equalsSystem() {
        var random = SeededGenerator(seed: 38)
        var addressCount = 0
        for _ in 0..<20_000 {
            let count = Int.random(in: 1...4, using: &random)
            let parts = (0..<count).map { _ -> String in
                let number = UInt64.random(in: 0...(Bool.random(using: &random) ? 300 : 1 << 33), using: &random)
                return [String(number), "0x" + String(number, radix: 16), "0" + String(number, radix: 8)]
                    .randomElement(using: &random) ?? ""
            }
            let text = parts.joined(separator: ".")
            var four = in_addr()
            if inet_aton(text, &four) == 1 {
                addressCount += 1
                #expect(LiteralHost(text) == .address(withUnsafeBytes(of: four) { Array($0) }), "\(text)")
            } else {
                #expect(LiteralHost(text) == .malformed, "\(text)")
            }
        }
        #expect(addressCount > 1_000)
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 2...20, using: &random)).map { _ in
                ["0", "1", "f", ":", ":", "::", ".", "ffff", "127.0.0.1", "10"].randomElement(using: &random) ?? ""
            }.joined()
            var sixteen = in6_addr()
            guard text.contains(":") else { continue }
            let isAddress = inet_pton(AF_INET6, text, &sixteen) == 1
            let bytes = withUnsafeBytes(of: sixteen) { Array($0) }
            #expect(LiteralHost(text) == (isAddress ? .address(bytes) : .malformed), "\(text)")
        }
    }

    @Test("A trusted host is allowed as it is written, at its port if it has one, and nothing like it is")
    func trusted() {
        var rule = PushHostRule()
        rule.trustedHosts = ["localhost:8443", "10.0.0.7", "ntfy"]
        #expect(rule.problem(ofHost: "localhost", port: 8443) == nil)
        #expect(rule.problem(ofHost: "localhost", port: 443) != nil)
        #expect(rule.problem(ofEndpoint: Array("https://10.0.0.7:9/x".utf8)) == nil)
        #expect(rule.problem(ofHost: "0xa000007", port: 443) != nil)
        #expect(rule.problem(ofHost: "ntfy", port: 80) == nil && rule.problem(ofHost: "ntfy.", port: 443) != nil)
    }

    @Test("A host is known by its whole name or by a suffix, and only those are allowed if the operator says so")
    func standing() {
        var rule = PushHostRule()
        rule.knownHosts += ["push.example.org", ".example.net"]
        #expect(rule.standing(ofHost: "fcm.googleapis.com", port: 443) == .named)
        #expect(rule.standing(ofHost: "push.example.org", port: 443) == .named)
        #expect(rule.standing(ofHost: "a.push.example.org", port: 443) == .stranger)
        #expect(rule.standing(ofHost: "a.example.net", port: 443) == .below(suffix: ".example.net"))
        #expect(rule.standing(ofHost: "web.push.apple.com", port: 443) == .named)
        #expect(rule.standing(ofHost: "eu.push.apple.com", port: 443) == .below(suffix: ".push.apple.com"))
        #expect(rule.standing(ofHost: "evilpush.apple.com", port: 443) == .stranger)
        #expect(rule.problem(ofHost: "evil.example", port: 443) == nil)
        rule.knownHosts.append(".push.corp.internal")
        #expect(rule.problem(ofHost: "a.push.corp.internal", port: 443) == nil, "an operator named it")
        #expect(rule.problem(ofHost: "a.corp.internal", port: 443) != nil)
        rule.refusesUnknownHosts = true
        #expect(rule.problem(ofHost: "evil.example", port: 443) != nil)
        #expect(rule.problem(ofHost: "a.example.net", port: 443) == nil)
    }
}
