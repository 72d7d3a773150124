// Nothing to call: what is in this target stands in front of functions of the Swift runtime.
