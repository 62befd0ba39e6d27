//! What a user of the attribute sees: items that build, and the compiler's words where they do not.
//! Knows the compiler's output as recorded beside each case (`TRYBUILD=overwrite cargo test -p unbroken` renews it).

#[test]
fn the_compiler_says_it_at_the_place() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}
