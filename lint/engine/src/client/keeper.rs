//! Fields that keep whole sessions: a map, a list or an option of the type that holds the id, or of a trait that it implements.
//! Knows types by name; what is done with the fields is another matter.

use super::{Client, Slot};
use crate::facts::TypeText;
use crate::facts::ir::Name;
use std::collections::BTreeSet;

impl Client<'_> {
    /// Takes the fields that keep sessions for such that keep handles: with the value goes the id in it.
    pub(super) fn find_keepers(&mut self) {
        let of_slot = |slot: &Slot| match slot {
            Slot::Field(owner, _) => Some(owner.clone()),
            _ => None,
        };
        let mut owners: BTreeSet<Name> = self.sessions.iter().filter_map(of_slot).collect();
        owners.extend(self.traits_of(&owners));
        let keeps = |ty: &TypeText| {
            may_be_empty(ty) && self.scope.core(ty, None).is_some_and(|name| owners.contains(name))
        };
        let types = self.scope.all_types().filter(|(_, def)| !def.test);
        let fields = types.flat_map(|(_, def)| def.fields.iter().map(move |field| (def, field)));
        let found = fields.filter(|(_, field)| !field.name.is_empty() && keeps(&field.ty));
        let found: Vec<Slot> =
            found.map(|(def, field)| Slot::Field(def.name.clone(), field.name.clone())).collect();
        self.handles.extend(found);
    }

    /// The traits of the crate's own that one of the types implements.
    pub(super) fn traits_of(&self, types: &BTreeSet<Name>) -> BTreeSet<Name> {
        let own =
            |name: &Name| self.scope.files.iter().any(|file| file.traits.iter().any(|(of, _)| of == name));
        let live = self.scope.all().map(|fx| self.scope.function(fx)).filter(|function| !function.test);
        let of_types =
            live.filter(|function| function.owner.as_ref().is_some_and(|owner| types.contains(owner)));
        let traits: BTreeSet<Name> = of_types.filter_map(|function| function.of_trait.clone()).collect();
        traits.into_iter().filter(own).collect()
    }
}

/// Whether a value of the type can be without what it is made to hold.
fn may_be_empty(ty: &TypeText) -> bool {
    let containers = [
        "Option",
        "HashMap",
        "BTreeMap",
        "DashMap",
        "IndexMap",
        "Vec",
        "VecDeque",
        "ArcSwapOption",
        "LruCache",
    ];
    containers.iter().any(|name| ty.has(name))
}
