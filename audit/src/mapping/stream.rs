//! The events of a stream, as a log lists them.
//! Knows how an element becomes an event; data that the log leaves out stays out.

use super::MappingError;
use super::field::{Compiler, Row, Value};
use super::file::Field;
use super::json::{self, Broken};
use super::marks::Script;
use super::message;
use super::slot::{Slots, Tree};
use super::trail::{self, Trail};
use crate::adapter::rpc::{self, Keep};
use crate::event::{Message, RpcId, RpcOutcome, RpcResponse, SseEvent, Text};
use std::ops::Range;
use std::sync::OnceLock;

/// A compiled `[response] events`.
#[derive(Debug)]
pub(super) struct EventParts {
    pub(super) list: Value,
    tree: Tree,
    /// The orders of names that were seen in elements.
    trails: OnceLock<Vec<Trail>>,
    pub(super) id: Value,
    pub(super) data: Value,
    pub(super) rpc_id: Value,
    pub(super) kind: Value,
    pub(super) response: String,
}

pub(super) fn compile(e: &super::file::Events, c: &mut Compiler<'_>) -> Result<EventParts, MappingError> {
    let mut tree = Tree::default();
    Ok(EventParts {
        list: c.value(Some(&Field::Key(e.at.clone())))?,
        id: within(&mut tree, e.id.as_ref())?,
        data: within(&mut tree, e.data.as_ref())?,
        rpc_id: within(&mut tree, e.rpc_id.as_ref())?,
        kind: within(&mut tree, e.kind.as_ref())?,
        response: e.response.clone().unwrap_or_default(),
        tree,
        trails: OnceLock::new(),
    })
}

/// A field within an element of a list.
pub(super) fn within(tree: &mut Tree, key: Option<&String>) -> Result<Value, MappingError> {
    let none = super::file::Headers::default();
    let mut c = Compiler { tree: std::mem::take(tree), headers: &none, absent: Vec::new() };
    let value = c.value(key.map(|k| Field::Key(k.clone())).as_ref());
    *tree = c.tree;
    value
}

impl EventParts {
    /// The events of a record; `None`: it lists none.
    pub(super) fn read(&self, row: &Row<'_>, absent: &[String], keep: Keep) -> Option<Vec<SseEvent>> {
        let json = self.list.json(row, absent)?;
        let mut events = Vec::new();
        self.each(&json, |row, element| events.extend(row.map(|row| self.event(row, element, keep)))).ok()?;
        Some(events)
    }

    /// The messages of a record that lists events but is no stream; none: there is none.
    pub(super) fn messages(&self, row: &Row<'_>, absent: &[String], keep: Keep) -> Option<Vec<Message>> {
        let json = self.list.json(row, absent)?;
        let mut messages = Vec::new();
        self.each(&json, |row, _| {
            let message = row.and_then(|row| self.message(row, self.data.json(row, &[]).as_deref(), keep));
            // Mostly there is one.
            if messages.is_empty() && message.is_some() {
                messages.reserve_exact(1);
            }
            messages.extend(message);
        })
        .ok()?;
        Some(messages).filter(|messages| !messages.is_empty())
    }

    /// Hands each element of a list to `each`, with its values; none: it is no object.
    ///
    /// # Errors
    /// The text is no list.
    pub(super) fn each<'a>(
        &self,
        list: &'a str,
        each: impl FnMut(Option<&Row<'a>>, &'a str),
    ) -> Result<(), Broken> {
        self.each_of(list, 0..list.len(), &mut Slots::new(), each)
    }

    /// The same for the list that a part of a text is; the values of its elements are put into `slots`.
    ///
    /// # Errors
    /// As [`EventParts::each`].
    pub(super) fn each_of<'a>(
        &self,
        script: impl Script<'a>,
        list: Range<usize>,
        slots: &mut Slots<'a>,
        mut each: impl FnMut(Option<&Row<'a>>, &'a str),
    ) -> Result<(), Broken> {
        let mut row = Row { slots: std::mem::take(slots), texts: Vec::new(), groups: None };
        let read = json::whole_list(script.text(), list, &mut |at| {
            if let Some(end) = trail::along(self.trails.get(), &self.tree, script, at, &mut row.slots) {
                each(Some(&row), &script.text()[at..end]);
                return Ok(end);
            }
            let (raw, end) = json::value_at(script, at)?;
            let is_object = self.tree.collect_text(raw.get(), &mut row.slots).is_ok();
            each(is_object.then_some(&row), raw.get());
            Ok(end)
        });
        *slots = row.slots;
        read
    }

    /// Learns how elements are written, out of the records that show it.
    pub(super) fn learn<'r, 'p: 'r>(&'p self, rows: impl Iterator<Item = Row<'r>>, absent: &[String]) {
        self.trails.get_or_init(|| {
            let lists: Vec<_> =
                rows.filter_map(|row| Some(self.list.json(&row, absent)?.into_owned())).collect();
            let mut elements = Vec::new();
            for list in &lists {
                // A list that is none shows nothing.
                _ = json::elements(list, |element| elements.push(element.get().as_bytes()));
            }
            trail::learn(&self.tree, elements.into_iter())
        });
    }

    fn message(&self, row: &Row<'_>, data: Option<&str>, keep: Keep) -> Option<Message> {
        if let Some(data) = data {
            return rpc::read_message(data.as_bytes(), keep).ok();
        }
        // The log keeps no data, but says which request the event answers.
        if self.kind.text(row, &[]).is_none_or(|kind| kind != self.response.as_str()) {
            return None;
        }
        let id = if self.rpc_id.is_bare(row) {
            self.rpc_id.json(row, &[]).map(|id| message::id_of(&id, false))
        } else {
            self.rpc_id.text(row, &[]).map(|t| RpcId::String(t.into()))
        };
        Some(Message::Response(RpcResponse { id, outcome: RpcOutcome::Result }))
    }

    fn event(&self, row: &Row<'_>, element: &str, keep: Keep) -> SseEvent {
        let data = self.data.json(row, &[]);
        let message = self.message(row, data.as_deref(), keep);
        let hashed = data.as_deref().unwrap_or(element);
        SseEvent {
            id: self.id.text(row, &[]).map(|t| Text::from(&*t)),
            retry: None,
            at: None,
            message,
            has_data: data.as_deref().map_or(self.kind.is_given(), |d| !d.is_empty()),
            data_hash: rapidhash::v3::rapidhash_v3(hashed.as_bytes()),
        }
    }
}
