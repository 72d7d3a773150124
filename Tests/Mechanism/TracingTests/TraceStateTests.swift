import Testing
import Tracing

@Suite("The state of a trace, which vendors add")
struct TraceStateTests {
    @Test(
        "A list is kept as it came",
        arguments: [
            "rojo=00f067aa0ba902b7", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "a=1, b=2\t,\tc=3", "a=1,,b=2,",
            "tenant@system=value", "0a=1", "a_-*/@0=!~", "a=b c", "ot=th:fd70a4;rv:00000000000001",
        ])
    func good(_ text: String) {
        #expect(TraceState(text)?.text == text)
    }

    @Test(
        "What is malformed, or names a key twice, is dropped",
        arguments: [
            "", " ", ",", ",\t,", "a", "a=", "=1", "A=1", "a=1=2", "a=1,b", "a =1", "a=\u{7f}", "a=ä", "ä=1", "a=1\n",
            "a=1,a=2", "a=1,b=2,a=1", "_a=1", "@a=1", "a=1;b,c",
        ])
    func bad(_ text: String) {
        #expect(TraceState(text) == nil)
    }

    @Test("A list has 32 members and 512 bytes at most, a key and a value 256 each")
    func bounds() {
        let members = (0..<32).map { "k\($0)=v" }
        #expect(TraceState(members.joined(separator: ",")) != nil)
        #expect(TraceState((members + ["z=v"]).joined(separator: ",")) == nil)
        let key = String(repeating: "k", count: 256)
        #expect(TraceState("\(key)=v") != nil)
        #expect(TraceState("k\(key)=v") == nil)
        let value = String(repeating: "v", count: 256)
        #expect(TraceState("k=\(value)") != nil)
        #expect(TraceState("k=v\(value)") == nil)
        let longest = "a=\(value),b=" + String(repeating: "v", count: 512 - 261)
        #expect(longest.utf8.count == 512)
        #expect(TraceState(longest) != nil)
        #expect(TraceState(longest + "v") == nil)
    }
}
