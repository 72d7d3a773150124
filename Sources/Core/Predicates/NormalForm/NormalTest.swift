/// What a test comes to when it is brought into normal form.
enum NormalTest {
    /// It can be passed and failed.
    case test(FieldTest)
    /// No value passes it.
    case never
}
