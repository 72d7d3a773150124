import HTTPServer
import Testing

@Suite("The header Accept")
struct AcceptHeaderTests {
    private func weight(_ header: String, _ type: String = "text/plain", _ parameters: [String: String] = [:]) -> Int {
        AcceptHeader([header]).weightThousandths(of: type, parameters: parameters)
    }

    @Test("Without the header, or with an empty one, everything is accepted", arguments: [[], [""], [" , ,"]])
    func missing(values: [String]) {
        #expect(AcceptHeader(values).weightThousandths(of: "text/plain") == 1_000)
    }

    @Test(
        "Weights have up to three decimals, between 0 and 1",
        arguments: [
            ("text/plain", 1_000), ("text/plain;q=1", 1_000), ("text/plain;q=1.000", 1_000), ("text/plain;q=0.5", 500),
            ("text/plain; Q=0.125", 125), ("text/plain;q=0.", 0), ("TEXT/Plain ; q=0", 0),
        ])
    func weights(header: String, expected: Int) { #expect(weight(header) == expected) }

    @Test("The most specific range counts, whatever the order")
    func specificity() {
        let header = "text/*;q=0.3, */*;q=0.1, text/plain;q=0.7, text/plain;version=0.0.4;q=0.9"
        #expect(weight(header, "text/plain", ["version": "0.0.4"]) == 900)
        #expect(weight(header, "text/plain", ["version": "1"]) == 700)
        #expect(weight(header, "text/html") == 300)
        #expect(weight(header, "image/png") == 100)
        #expect(weight("text/plain;q=0, */*", "text/plain") == 0)
    }

    @Test("Values of parameters may be quoted, with separators in them, and unknown parameters do not count")
    func quoted() {
        #expect(weight(#"text/plain;a="x,;\"y";version="1";q=0.4, */*;q=0"#, "text/plain", ["version": "1"]) == 400)
        #expect(weight("text/plain;escaping=allow-utf-8;version=1;q=0.4", "text/plain", ["version": "1"]) == 400)
    }

    @Test("Members of several fields count together")
    func severalFields() {
        let header = AcceptHeader(["text/html", "text/plain;q=0.2"])
        #expect(header.weightThousandths(of: "text/plain") == 200 && header.names("text/html"))
        #expect(!header.names("text/*"))
    }

    @Test(
        "A member that is not well-formed accepts nothing, and the others still count",
        arguments: [
            "text/plain;q=2", "text/plain;q=0.1234", "text/plain;q=-1", "text/plain;q=1.5", "text/plain;q=",
            "text", "/plain", "text/", "*/plain", "te xt/plain", "text/plain;version", "text/plain;=1", "\"text/plain",
        ])
    func malformed(member: String) {
        #expect(weight(member) == 0)
        #expect(weight("text/html, \(member)", "text/html") == 1_000 || member.hasPrefix("\""))
    }

    @Test("Only so many members are read")
    func limit() {
        let many = Array(repeating: "a/b", count: 40).joined(separator: ",")
        #expect(weight("\(many),text/plain") == 0)
        #expect(weight("text/plain,\(many)") == 1_000)
    }
}
