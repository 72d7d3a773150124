/// What becomes of bytes in a direction in which nothing arrives any more; the connections stay open.
public enum ProxySilence: Hashable, Sendable {
    /// They wait, and arrive when it is over: a long pause.
    case held
    /// They are gone, though the sender's kernel was told that they arrived; when it is over, the connection is reset.
    case swallowed
}
