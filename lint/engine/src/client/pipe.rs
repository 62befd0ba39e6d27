//! Whether an SDK's handles are those of child processes alone: there is no session over HTTP to lose (contract 5: stdio).
//! Knows transports by the names that code gives them.

use super::Client;
use crate::facts::ir::{Kind, Name};
use crate::sdk::{Role, Sdk};

impl Client<'_> {
    /// Whether the code names a transport over pipes, and none over HTTP.
    pub(super) fn pipes_only(&self, sdks: &[&'static Sdk]) -> bool {
        let transports =
            || sdks.iter().flat_map(|sdk| sdk.types).filter(|ty| matches!(ty.is, Role::Transport));
        if self.uses_headers() {
            return false;
        }
        // HTTP clients alone say nothing: an agent over pipes has one for its model.
        let over_http = |name: &Name| {
            transports().any(|ty| ty.name == &**name && !piped(name))
                || ["Streamable", "streamable", "Sse", "sse_", "_sse"].iter().any(|word| name.contains(word))
                || name.contains("Http") && (name.contains("Transport") || name.contains("Mcp"))
                || matches!(&**name, "Http" | "http_transport" | "sse" | "from_uri" | "with_uri")
        };
        let mut pipes = false;
        for name in self.names() {
            if over_http(name) {
                return false;
            }
            pipes |= piped(name);
        }
        pipes
    }

    /// The names that imports, types, paths, calls and fields use; of code that is no test.
    fn names(&self) -> impl Iterator<Item = &Name> {
        let imports =
            self.scope.files.iter().flat_map(|file| file.imports.iter().flat_map(|(new, root)| [new, root]));
        let crates = self.scope.files.iter().flat_map(|file| &file.crates);
        let fields = self.scope.all_types().filter(|(_, def)| !def.test).flat_map(|(_, def)| &def.fields);
        let fields = fields.flat_map(|field| field.ty.0.iter().chain([&field.name]));
        let live = self.scope.all().filter(|fx| !self.scope.function(*fx).test);
        let used = live.flat_map(|fx| {
            let body = self.scope.body(fx);
            let function = self.scope.function(fx);
            let types = function.params.iter().flat_map(|param| &param.ty.0).chain(&function.ret.0);
            types.chain(body.ids().flat_map(|id| match body.kind(id) {
                Kind::Path(path) | Kind::Struct(path, ..) => path.as_slice(),
                Kind::Method(_, name, _) | Kind::Field(_, name) => std::slice::from_ref(name),
                _ => &[],
            }))
        });
        imports.chain(crates).chain(fields).chain(used)
    }
}

/// Names of transports over pipes.
pub(super) fn piped(name: &str) -> bool {
    let lower = name.to_lowercase();
    ["childprocess", "child_process", "stdio", "asyncrw", "async_rw"].iter().any(|word| lower.contains(word))
}
