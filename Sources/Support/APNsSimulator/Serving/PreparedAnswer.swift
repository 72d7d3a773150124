/// An answer in the form in which it is sent; a class, so that taking one up counts one reference and not four.
final class PreparedAnswer {
    let answer: ScriptedAnswer
    let status: [UInt8]
    let body: [UInt8]

    init(_ answer: ScriptedAnswer) {
        self.answer = answer
        status = Array(String(answer.status).utf8)
        body = answer.body
    }
}
