//! Holds that what is read straight from a text is what is lowered from the parser's tree of it.

use super::super::{FileFacts, Marks, lower_item};
use std::path::{Path, PathBuf};
use syn::spanned::Spanned;
use syn::{ImplItem, Item};

/// What differs, or that the reader leaves the text to the parser.
#[derive(Debug, PartialEq)]
enum Said {
    Same,
    Unread,
    Differs(String),
}

fn compared(text: &str) -> Said {
    let Some(read) = super::read(text, &Marks::default()) else { return Said::Unread };
    let mut lowered = FileFacts { parsed: true, ..FileFacts::default() };
    match syn::parse_str::<Item>(text) {
        Ok(item) => lower_item(&item, &mut lowered),
        Err(error) => return Said::Differs(format!("no Rust to the parser: {error}\n{text}")),
    }
    proc_macro2::extra::invalidate_current_thread_spans();
    if format!("{read:?}") == format!("{lowered:?}") {
        return Said::Same;
    }
    let (read, lowered) = (format!("{read:#?}"), format!("{lowered:#?}"));
    let at = read.lines().zip(lowered.lines()).take_while(|(one, other)| one == other).count();
    let near = |all: &str| all.lines().skip(at.saturating_sub(8)).take(16).collect::<Vec<_>>().join("\n");
    Said::Differs(format!("{text}\nread:\n{}\nlowered:\n{}", near(&read), near(&lowered)))
}

/// The texts of all functions and impls, those of methods by themselves too.
fn texts(items: &[Item], out: &mut Vec<String>) {
    for item in items {
        match item {
            Item::Fn(_) => out.extend(item.span().source_text()),
            Item::Impl(inner) => {
                out.extend(item.span().source_text());
                let methods = inner.items.iter().filter(|item| matches!(item, ImplItem::Fn(_)));
                out.extend(methods.filter_map(|method| method.span().source_text()));
            }
            Item::Mod(inner) => texts(inner.content.as_ref().map_or(&[], |(_, items)| items), out),
            _ => {}
        }
    }
}

fn gather(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            gather(&path, out);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            out.push(path);
        }
    }
}

/// Own sources and clients, or what the folders of `UNBROKEN_SOURCES` hold.
#[test]
fn whole_files_say_the_same_either_way() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = match std::env::var_os("UNBROKEN_SOURCES") {
        Some(folders) => std::env::split_paths(&folders).collect(),
        None => vec![here.join("src"), here.join("../../fixtures/clients")],
    };
    let mut paths = Vec::new();
    folders.iter().for_each(|folder| gather(folder, &mut paths));
    let (mut same, mut unread, mut wrong) = (0, 0, 0);
    for path in paths {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let mut all = Vec::new();
        if let Ok(file) = syn::parse_file(&text) {
            texts(&file.items, &mut all);
        }
        proc_macro2::extra::invalidate_current_thread_spans();
        for text in all {
            match compared(&text) {
                Said::Same => same += 1,
                Said::Unread => unread += 1,
                Said::Differs(said) => {
                    wrong += 1;
                    eprintln!("{}: {said}", path.display());
                }
            }
        }
    }
    eprintln!("{same} the same, {unread} left to the parser");
    assert!(wrong == 0 && same > 3 * unread, "{wrong} differ, {same} are the same, {unread} are unread");
}

/// Each in the body of a function.
const PLAIN: &[&str] = &[
    "let x: ::std::vec::Vec<(u8, [u8; 4])> = Default::default(); let Some(y) = x.first() else { return };",
    "a = b = c; a += 1; a -= 2; a <<= 3; a |= b || c && d; x = !y; *p = -1;",
    "let r = 1 + 2 * 3 - a as u64 % 5 << 2 & m ^ n | o; let c = a < b && (a < b) == (c >= d); f!(a < b > c)",
    "for i in 0..n {} for i in 1..=3 {} let all = &v[..]; let tail = v[2..].len(); let r = ..x; (0..5).map(f);",
    "match x { 0 | 1 => a, 2..=5 => b, 500.. => c, Ok(ref mut y) if y.z => {} Err(Error::Http { status: 404, .. }) => {} [a, .., b] => {} (x, _) | (_, x) => {} name @ Some(_) => {} CONST => {} &(p, q) => {} _ => return, }",
    "if let Some(a) = f() && let Ok(b) = a.g() && b > 2 { h() } else if x { } else { }",
    "while let Some(x) = it.next().await? { if x { break; } else { continue } } loop {} 'a: loop { break 'a }",
    "let f = |x: u8, &(a, b)| -> u8 { x }; let g = move || async move { x.await }; let h = async |y| y; v.iter().map(|x| x.0.1.z)",
    "let s = S { a, b: c.d(), ..Default::default() }; let t = T {}; if x == y { } let u = m::U::<u8>(1);",
    "tracing::info!(session = %id, error = ?e, \"lost {id} of {0} and {name:?}\"); format!(\"{x}\", x = 1)",
    "let body = json!({ \"id\": 1, \"params\": { \"name\": name, \"list\": [1, 2] }, \"n\": null, key: f(x)? }); vec![0u8; 4]; vec![a, b]",
    "assert!(matches!(x, A | B { .. } if y.z(1, 2)), \"said\"); println!(); bail!(\"no\"); unreachable!()",
    "\"a\\n\\\"b\\u{e9}\\\n   c\"; r#\"raw \"x\"\"#; b\"bytes\"; 'c'; '\\''; 1_000u64; 2.5; true; b\"a\\0\"",
    "x.collect::<Result<Vec<_>, _>>()?; <_>::default;",
    "x.collect::<Result<Vec<_>, _>>()?; Vec::<u8>::new(); HashMap::<K, V>::with(|x| x)",
    "unsafe { f() }; { g() } match x {}.y()?; if a { b } else { c }.d(); return Err(e); return",
    "let x = if a { 1 } else { 2 } + 3; let y = match z { _ => 1 } - 1; &mut *x; &&x; --y; !(0..1).is_empty()",
    "#[allow(unused)] let x = 1; #[cfg(unix)] { y() } match z { #[cfg(a)] A => {} B => {} }",
    "let f: Box<dyn Fn(&str) -> Result<(), E> + Send + 'static> = g; let p = x as *const u8; let q: fn(u8) -> u8 = h;",
    "if e.is::<m::E>() || e.downcast_ref::<Box<E>>().is_some() {} let e = x.collect::<Vec<u8>>().downcast::<super::E>()?;",
    "let x = a.b.0 .1; let y = crate::f(self::g, super::h, Self::K); é()",
];

#[test]
fn plain_syntax_says_the_same_either_way() {
    let mut unread = Vec::new();
    for body in PLAIN {
        let text = format!(
            "pub(crate) async fn f<'a, T: Fn(u8) -> u8>(&mut self, mut x: &'a [T], (y, _): (u8, reqwest::Client)) -> Result<Vec<T>, Error> where T: Send {{ {body} }}"
        );
        match compared(&text) {
            Said::Same => {}
            Said::Unread => unread.push(*body),
            Said::Differs(said) => panic!("{said}"),
        }
    }
    // A type in front of a path, and letters beyond ASCII.
    assert_eq!(unread, [PLAIN[13], PLAIN[20]]);
}

#[test]
fn heads_say_the_same_either_way() {
    for text in [
        "impl<T> Client<T> where T: Into<String> { pub fn a(self) {} #[inline] async fn b(self: Arc<Self>, x: impl Into<Option<String>>) {} }",
        "unsafe impl<'a> m::Trait<&'a str> for &'a crate::Client { fn c(&'a mut self) -> impl Future<Output = io::Result<()>> + Send + 'a { x } }",
        "impl Iterator for A { type Item = Result<[u8; 3], E>; fn next(&mut self) -> Option<Self::Item> { None } }",
        "/// Said.\n#[must_use]\npub const unsafe fn d(_: [u8; 3], cb: &mut dyn FnMut(u8, &str) -> Option<X>) -> ! { loop {} }",
        "fn e(x: *const u8, f: fn(Y) -> Z, value: ::alloc::string::String) -> (A, std::b::B<C>) { }",
    ] {
        assert_eq!(compared(text), Said::Same);
    }
}

#[test]
fn what_is_not_plain_is_left_to_the_parser() {
    for text in [
        "fn f() { #[cfg_attr(any(), unbroken::allow(blind_retry, reason = \"x\"))] { g() } }",
        "fn f() { fn g() {} }",
        "fn f() { tokio::select! { x = y => {} } }",
        "impl A { #[unbroken::check(session = s)] fn f() {} }",
        "fn f() { macro_rules! m { () => {} } m!() }",
        "mod m { }",
        "struct S;",
        "fn f() { \"unclosed }",
        "fn f() { ( }",
        "fn f() ",
        "fn f() { quote! { #a /// said\n fn g() {} } }",
        "",
    ] {
        assert_eq!(compared(text), Said::Unread, "{text}");
    }
    let deep = |times: usize| format!("fn f() {{ {}x{} }}", "(".repeat(times), ")".repeat(times));
    assert_eq!(compared(&deep(20)), Said::Same);
    assert_eq!(compared(&deep(100_000)), Said::Unread);
    assert_eq!(compared(&format!("fn f() {{ {}x }}", "!".repeat(100_000))), Said::Unread);
    assert_eq!(compared(&format!("fn f() -> {}x {{ }}", "&".repeat(100_000))), Said::Unread);
}
