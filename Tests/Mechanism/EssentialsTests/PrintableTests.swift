import Essentials
import JSON
import Testing

@Suite("What a terminal is shown")
struct PrintableTests {
    @Test("Whatever could steer a terminal is escaped, in every plane and in C1, too")
    func escapes() {
        #expect("a\u{1B}[2Jb\u{7F}".printable() == "a\\u001b[2Jb\\u007f")
        #expect("\u{9B}31m".printable() == "\\u009b31m")
        #expect("\u{202E}txt\u{2066}\u{FEFF}".printable() == "\\u202etxt\\u2066\\ufeff")
        #expect("\u{E0041}".printable() == "\\udb40\\udc41")
        #expect("a\r\nb\tc\u{2028}".printable() == "a\\r\\nb\\tc\\u2028")
        #expect("a\nb\tc\r".printable(keepsLayout: true) == "a\nb\tc\\r")
    }

    @Test("Letters of all scripts and emoji stay as they are")
    func letters() {
        for text in ["", "plain", "Grüße \u{4F60}\u{597D}", "\u{1F468}\u{200D}\u{1F469}", "\u{645}\u{6CC}\u{200C}"] {
            #expect(text.printable() == text)
        }
    }

    @Test("A document of JSON says the same when it is made printable")
    func documents() throws {
        let hostile = "\u{1B}]0;x\u{7}\u{9B}\u{202E}\u{E0041}\u{2028} ü"
        var writer = JSONWriter()
        writer.string(hostile)
        let shown = String(decoding: writer.bytes, as: UTF8.self).printable()
        #expect(shown.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        #expect(try JSONParser().parse(shown).string == hostile)
    }

    @Test("A text is shortened between characters")
    func shortens() {
        #expect("aüb".shortened(bytesMaximum: 4) == "aüb")
        #expect("aüb".shortened(bytesMaximum: 2) == "a…")
        #expect("aüb".shortened(bytesMaximum: 0) == "…")
    }
}
