"""Recording calls and compiling them."""
