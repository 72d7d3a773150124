import ChangeEvents
import Testing

@Suite("Did you mean")
struct SpellingSuggestionTests {
    @Test(
        "Missing, wrong, additional and swapped letters are seen through",
        arguments: ["prefech", "prefetsh", "prefettch", "prefecth"])
    func typingErrors(text: String) {
        #expect(SpellingSuggestion.nearest(to: text, among: ["url", "prefetch", "namespace"]) == "prefetch")
    }

    @Test("What is like nothing gets no suggestion", arguments: ["", "x", "heartbeat", "namespaceprefetch"])
    func noSuggestion(text: String) {
        #expect(SpellingSuggestion.nearest(to: text, among: ["url", "prefetch", "namespace"]) == nil)
    }

    @Test(
        "Another way to write the same words is seen through", arguments: ["thread-id", "THREAD_ID", "apns-thread-id"])
    func otherCase(text: String) {
        #expect(SpellingSuggestion.nearest(to: text, among: ["title", "threadId"]) == "threadId")
    }

    @Test("Without names there is no suggestion")
    func noNames() { #expect(SpellingSuggestion.nearest(to: "a", among: []) == nil) }
}
