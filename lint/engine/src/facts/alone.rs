//! What an item that is seen alone says of the type it belongs to, whose definition is elsewhere.
//! Knows which fields are used, not their types.

use super::ir::{Body, Kind, Name, Sort};
use super::{FieldDef, FileFacts, TypeDef, TypeText};
use std::collections::BTreeMap;

/// Adds a definition for every type that functions of the item belong to and that the item does not define: with the
/// fields that they use. A method under an attribute of its own belongs to a type called `Self`.
pub fn supply_types(facts: &mut FileFacts) {
    let mut used: BTreeMap<Name, BTreeMap<Name, FieldDef>> = BTreeMap::new();
    for function in &mut facts.functions {
        if function.takes_self && function.owner.is_none() {
            function.owner = Some("Self".into());
        }
        if let Some(owner) = &function.owner {
            fields(&function.body, used.entry(owner.clone()).or_default());
        }
    }
    for (name, fields) in used {
        if !facts.types.iter().any(|known| known.name == name) {
            let fields = fields.into_values().collect();
            facts.types.push(TypeDef { name, fields, range: crate::finding::Range::default(), test: false });
        }
    }
}

fn fields(body: &Body, used: &mut BTreeMap<Name, FieldDef>) {
    for id in body.of(Sort::Field) {
        if let Kind::Field(base, name) = body.kind(*id)
            && matches!(body.kind(*base), Kind::Path(path) if path.len() == 1 && &*path[0] == "self")
        {
            let field = || FieldDef { name: name.clone(), ty: TypeText::default(), range: body.range(*id) };
            used.entry(name.clone()).or_insert_with(field);
        }
    }
}

#[cfg(test)]
mod tests {
    use unbroken_contract::Breach;

    fn found(item: &str) -> Vec<Breach> {
        let item = syn::parse_str(item).expect("an item");
        crate::check_item(&item, &crate::Settings::default())
            .findings
            .iter()
            .map(|finding| finding.breach)
            .collect()
    }

    const METHOD: &str = r#"async fn post(&mut self) -> Result<Response, Error> {
        let mut request = self.http.post("/mcp");
        if let Some(id) = &self.session_id {
            request = request.header("Mcp-Session-Id", id);
        }
        match request.send().await {
            Ok(response) => Ok(response),
            Err(error) => {
                self.session_id = None;
                Err(error)
            }
        }
    }"#;

    #[test]
    fn an_impl_or_a_method_alone_is_judged_without_its_type() {
        assert!(found(&format!("impl Client {{ {METHOD} }}")).contains(&Breach::SessionDiscarded));
        assert!(found(METHOD).contains(&Breach::SessionDiscarded));
    }
}
