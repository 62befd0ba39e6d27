//! Values that programs print in their own language's syntax, turned into JSON: Rust's `Debug`, Python's `repr`.
//! Knows the syntax of data; anything else (an object without a literal form) makes the whole value unreadable.

/// Nesting beyond which a value is given up.
const MOST_DEPTH: u32 = 100;

/// A Rust `Debug` value (`Some({"a": String("x"), "n": Number(4)})`) at the start of `text`, as JSON.
pub(super) fn rust(text: &str) -> Option<String> {
    let mut reader = Reader::new(text);
    reader.rust(0)?;
    Some(reader.out)
}

/// A Python literal at the start of `text`, as JSON.
pub(super) fn python(text: &str) -> Option<String> {
    let mut reader = Reader::new(text);
    reader.python(0)?;
    Some(reader.out)
}

/// What pydantic prints of a model: `jsonrpc='2.0' id=2 method='tools/call'`, or `root=JSONRPCRequest(method='…', …)`.
pub(super) fn pydantic(text: &str) -> Option<String> {
    let text = text.strip_prefix("root=").unwrap_or(text);
    let mut reader = Reader::new(text);
    match reader.name() {
        Some(_) if reader.peek() == Some('(') => reader.python_call(0)?,
        _ => {
            reader = Reader::new(text);
            reader.keywords(None, 0)?;
        }
    }
    Some(reader.out)
}

struct Reader<'a> {
    rest: &'a str,
    out: String,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Reader { rest: text, out: String::new() }
    }

    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.rest = &self.rest[c.len_utf8()..];
        }
        found
    }

    fn name(&mut self) -> Option<&'a str> {
        self.peek()?;
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
    }

    fn number(&mut self) -> Option<()> {
        let end =
            self.rest.find(|c: char| !c.is_ascii_digit() && !"+-.eE".contains(c)).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        serde_json::from_str::<serde_json::Number>(number).ok()?;
        self.rest = rest;
        self.out.push_str(number);
        Some(())
    }

    fn quoted(&mut self) -> Option<()> {
        let quote = self.peek().filter(|c| "'\"".contains(*c))?;
        self.rest = &self.rest[1..];
        let mut text = String::new();
        loop {
            let c = self.next()?;
            match c {
                _ if c == quote => break,
                '\\' => text.push(self.escape()?),
                c => text.push(c),
            }
        }
        self.out.push_str(&serde_json::to_string(&text).ok()?);
        Some(())
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn escape(&mut self) -> Option<char> {
        Some(match self.next()? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '0' => '\0',
            'x' => self.hex(2)?,
            'u' if self.rest.starts_with('{') => {
                let end = self.rest.find('}')?;
                let code = u32::from_str_radix(&self.rest[1..end], 16).ok()?;
                self.rest = &self.rest[end + 1..];
                char::from_u32(code)?
            }
            'u' => self.hex(4)?,
            'U' => self.hex(8)?,
            c @ ('\\' | '\'' | '"') => c,
            _ => return None,
        })
    }

    fn hex(&mut self, digits: usize) -> Option<char> {
        let code = u32::from_str_radix(self.rest.get(..digits)?, 16).ok()?;
        self.rest = &self.rest[digits..];
        char::from_u32(code)
    }

    fn rust(&mut self, depth: u32) -> Option<()> {
        if depth > MOST_DEPTH {
            return None;
        }
        match self.peek()? {
            '{' => self.map(depth, Self::rust),
            '[' => self.list('[', ']', depth, Self::rust),
            '"' => self.quoted(),
            '-' | '0'..='9' => self.number(),
            _ => match self.name()? {
                "None" | "Null" => self.word("null"),
                "true" => self.word("true"),
                "false" => self.word("false"),
                "Some" | "String" | "Number" | "Bool" => {
                    self.eat('(').then_some(())?;
                    self.rust(depth + 1)?;
                    self.eat(')').then_some(())
                }
                "Array" => self.list('[', ']', depth, Self::rust),
                "Object" => self.map(depth, Self::rust),
                _ => None,
            },
        }
    }

    fn python(&mut self, depth: u32) -> Option<()> {
        if depth > MOST_DEPTH {
            return None;
        }
        match self.peek()? {
            '{' => self.map(depth, Self::python),
            '[' => self.list('[', ']', depth, Self::python),
            '(' => self.list('(', ')', depth, Self::python),
            '\'' | '"' => self.quoted(),
            '-' | '0'..='9' => self.number(),
            _ => match self.name()? {
                "None" => self.word("null"),
                "True" => self.word("true"),
                "False" => self.word("false"),
                _ => self.python_call(depth + 1),
            },
        }
    }

    /// The arguments of `Name(key=value, …)`.
    fn python_call(&mut self, depth: u32) -> Option<()> {
        self.eat('(').then_some(())?;
        self.keywords(Some(')'), depth)
    }

    fn keywords(&mut self, close: Option<char>, depth: u32) -> Option<()> {
        self.out.push('{');
        let mut first = true;
        loop {
            match (self.peek(), close) {
                (None, None) => break,
                (Some(c), Some(close)) if c == close => {
                    self.eat(close);
                    break;
                }
                (None, Some(_)) => return None,
                _ => {}
            }
            if !first {
                self.out.push(',');
            }
            first = false;
            let key = self.name()?;
            self.eat('=').then_some(())?;
            self.out.push_str(&serde_json::to_string(key).ok()?);
            self.out.push(':');
            self.python(depth + 1)?;
            self.eat(',');
        }
        self.out.push('}');
        Some(())
    }

    fn map(&mut self, depth: u32, value: fn(&mut Self, u32) -> Option<()>) -> Option<()> {
        self.eat('{').then_some(())?;
        self.out.push('{');
        let mut first = true;
        while !self.eat('}') {
            if !first {
                self.out.push(',');
            }
            first = false;
            self.quoted()?;
            self.eat(':').then_some(())?;
            self.out.push(':');
            value(self, depth + 1)?;
            self.eat(',');
        }
        self.out.push('}');
        Some(())
    }

    fn list(
        &mut self,
        open: char,
        close: char,
        depth: u32,
        value: fn(&mut Self, u32) -> Option<()>,
    ) -> Option<()> {
        self.eat(open).then_some(())?;
        self.out.push('[');
        let mut first = true;
        while !self.eat(close) {
            if !first {
                self.out.push(',');
            }
            first = false;
            value(self, depth + 1)?;
            self.eat(',');
        }
        self.out.push(']');
        Some(())
    }

    fn word(&mut self, word: &str) -> Option<()> {
        self.out.push_str(word);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_debug_becomes_json() {
        let text = r#"Some({"customer": String("cus \"E\" \u{e9}"), "n": Number(-4.5), "l": Array [Bool(true), Null], "o": Object {}}), input_responses: None"#;
        assert_eq!(
            rust(text).as_deref(),
            Some(r#"{"customer":"cus \"E\" é","n":-4.5,"l":[true,null],"o":{}}"#)
        );
        assert_eq!(rust("CallToolRequest(..)"), None);
        assert_eq!(rust(&"[".repeat(100_000)), None);
    }

    #[test]
    fn python_models_become_json() {
        let plain = r#"jsonrpc='2.0' id=2 method='tools/call' params={'name': "it's", 'a': [1, None, True], 't': (1,)}"#;
        let json = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"it's","a":[1,null,true],"t":[1]}}"#;
        assert_eq!(pydantic(plain).as_deref(), Some(json));
        let root = "root=JSONRPCRequest(method='initialize', params={'x': Meta(y=1)}, id=0)";
        assert_eq!(
            pydantic(root).as_deref(),
            Some(r#"{"method":"initialize","params":{"x":{"y":1}},"id":0}"#)
        );
        assert_eq!(pydantic("root=JSONRPCResponse(id=0, result={'a"), None);
    }
}
