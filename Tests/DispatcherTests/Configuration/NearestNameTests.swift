import Dispatcher
import Testing

@Suite("Did you mean")
struct NearestNameTests {
    @Test(
        "Missing, wrong, additional and swapped letters are seen through",
        arguments: ["prefech", "prefetsh", "prefettch", "prefecth"])
    func typingErrors(text: String) {
        #expect(NearestName.find(text, among: ["url", "prefetch", "namespace"]) == "prefetch")
    }

    @Test("What is like nothing gets no suggestion", arguments: ["", "x", "heartbeat", "namespaceprefetch"])
    func noSuggestion(text: String) { #expect(NearestName.find(text, among: ["url", "prefetch", "namespace"]) == nil) }

    @Test("Without names there is no suggestion")
    func noNames() { #expect(NearestName.find("a", among: []) == nil) }
}
