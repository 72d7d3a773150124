import Glibc

/// What threads have and get; Swift's Glibc module is built without these functions of glibc.
enum ThreadAttributes {
    private typealias OfThread = @convention(c) (pthread_t, UnsafeMutablePointer<pthread_attr_t>) -> Int32
    private typealias OfDefault = @convention(c) (UnsafeMutablePointer<pthread_attr_t>) -> Int32

    private static func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        dlsym(nil, name).map { unsafeBitCast($0, to: type) }
    }

    /// Reads what a thread has.
    static func read(_ thread: pthread_t, _ attributes: inout pthread_attr_t) -> Int32 {
        function("pthread_getattr_np", as: OfThread.self)?(thread, &attributes) ?? ENOSYS
    }

    /// Reads what a thread gets that is created without attributes.
    static func readDefault(_ attributes: inout pthread_attr_t) -> Int32 {
        function("pthread_getattr_default_np", as: OfDefault.self)?(&attributes) ?? ENOSYS
    }

    /// Changes what a thread gets that is created without attributes.
    static func setDefault(_ attributes: inout pthread_attr_t) -> Int32 {
        function("pthread_setattr_default_np", as: OfDefault.self)?(&attributes) ?? ENOSYS
    }
}
