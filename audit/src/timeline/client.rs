//! Clients: which contacts are held to come from the same one, and by what.
//! Knows identities alone; two people behind one address with one program look like one client, and findings say so.

use crate::event::{ClientInfo, Text};
use crate::finding::SameBy;
use crate::join::Contact;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A client, as far as logs tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Client {
    /// Authenticated subject.
    pub subject: Option<Text>,
    /// Address: the first forwarded one, else the peer's.
    pub address: Option<Text>,
    /// `User-Agent`.
    pub user_agent: Option<Text>,
    /// `clientInfo`.
    pub info: Option<ClientInfo>,
    /// It is the only client in the input.
    pub alone: bool,
}

impl Client {
    /// The program: `clientInfo`, else the user agent.
    #[must_use]
    pub fn program(&self) -> Option<String> {
        let named =
            self.info.as_ref().map(|info| format!("{} {}", info.name, info.version).trim_end().to_owned());
        named.or_else(|| self.user_agent.as_deref().map(str::to_owned))
    }

    /// What two of its sessions are held to be of one client by.
    #[must_use]
    pub fn same_by(&self) -> SameBy {
        if self.subject.is_some() {
            SameBy::Subject
        } else if self.address.is_some() && self.info.is_some() {
            SameBy::Client
        } else if self.address.is_some() {
            SameBy::Address
        } else if self.alone {
            SameBy::OnlyClient
        } else {
            SameBy::Client
        }
    }
}

/// What tells one client from another. Weaker facts are kept beside stronger ones: one subject with two programs is two.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Print {
    subject: Option<Text>,
    address: Option<Text>,
    user_agent: Option<Text>,
    /// Name, and version where no user agent tells it.
    info: Option<(Text, Text)>,
}

impl Print {
    fn of(contact: &Contact) -> Print {
        let identity = &contact.identity;
        let forwarded =
            identity.forwarded_for.as_deref().and_then(|list| list.split(',').next()).map(str::trim);
        Print {
            subject: identity.subject.clone(),
            address: forwarded
                .filter(|first| !first.is_empty())
                .map(Text::from)
                .or_else(|| identity.remote_addr.clone()),
            user_agent: identity.user_agent.clone(),
            info: identity.client.as_ref().map(|info| (info.name.clone(), info.version.clone())),
        }
    }

    /// Takes over what the other tells in addition.
    fn widen(&mut self, other: &Print) {
        let fill = |slot: &mut Option<Text>, from: &Option<Text>| {
            if slot.is_none() {
                slot.clone_from(from);
            }
        };
        fill(&mut self.subject, &other.subject);
        fill(&mut self.address, &other.address);
        fill(&mut self.user_agent, &other.user_agent);
        if self.info.is_none() {
            self.info.clone_from(&other.info);
        }
    }

    /// Beside a user agent the version in `clientInfo` tells no programs apart: hosts count it up per window or session.
    fn settle(mut self) -> Print {
        if let (Some(_), Some((_, version))) = (&self.user_agent, &mut self.info) {
            *version = Text::default();
        }
        self
    }

    /// Whether both may be one client: nothing that both tell differs.
    fn compatible(&self, other: &Print) -> bool {
        fn agree<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> bool {
            a.is_none() || b.is_none() || a == b
        }
        // An authenticated subject outlives addresses (a phone changes networks); without one the address decides.
        let subject = self.subject.is_some() && self.subject == other.subject;
        agree(&self.subject, &other.subject)
            && (subject || agree(&self.address, &other.address))
            && agree(&self.user_agent, &other.user_agent)
            && match (&self.info, &other.info) {
                (Some((a, old)), Some((b, new))) => {
                    a == b && (old == new || old.is_empty() || new.is_empty())
                }
                _ => true,
            }
    }
}

/// Groups contacts by client, in the order of the first contact of each.
///
/// A session has one client, so all its contacts share what any of them tells. A print that lacks facts joins the one
/// fuller print that it is compatible with; if there are several, it stays alone, since any choice would be a guess.
/// `others`: the input holds contacts of more clients than these.
pub(super) fn group(contacts: Vec<Contact>, others: bool) -> Vec<(Client, Vec<Contact>)> {
    let mut of_session: HashMap<Text, Print> = HashMap::new();
    for contact in &contacts {
        if let Some(session) = contact.session() {
            of_session.entry(session.into()).or_default().widen(&Print::of(contact));
        }
    }
    let prints: Vec<Print> = contacts
        .iter()
        .map(|contact| {
            let shared = contact.session().and_then(|s| of_session.get(s)).cloned();
            shared.unwrap_or_else(|| Print::of(contact)).settle()
        })
        .collect();
    let distinct: BTreeSet<Print> = prints.iter().cloned().collect();
    let resolved: BTreeMap<&Print, Print> =
        distinct.iter().map(|print| (print, resolve(print, &distinct))).collect();
    let mut order: BTreeMap<Print, usize> = BTreeMap::new();
    let mut groups: Vec<(Print, Vec<Contact>)> = Vec::new();
    for (contact, print) in contacts.into_iter().zip(&prints) {
        let print = &resolved[print];
        let at = *order.entry(print.clone()).or_insert_with(|| {
            groups.push((print.clone(), Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push(contact);
    }
    let alone = groups.len() == 1 && !others;
    groups.into_iter().map(|(print, contacts)| (client(print, &contacts, alone), contacts)).collect()
}

fn resolve(print: &Print, all: &BTreeSet<Print>) -> Print {
    let full = |p: &Print| p.subject.is_some() || p.address.is_some() && p.info.is_some();
    if full(print) {
        return print.clone();
    }
    let told = |p: &Print| {
        [p.subject.is_some(), p.address.is_some(), p.user_agent.is_some(), p.info.is_some()]
            .iter()
            .filter(|x| **x)
            .count()
    };
    let mut fuller = all.iter().filter(|other| told(other) > told(print) && print.compatible(other));
    match (fuller.next(), fuller.next()) {
        (Some(only), None) => only.clone(),
        _ => print.clone(),
    }
}

fn client(print: Print, contacts: &[Contact], alone: bool) -> Client {
    let named = contacts.iter().find_map(|contact| contact.identity.client.clone());
    Client {
        subject: print.subject,
        address: print.address,
        user_agent: print.user_agent,
        info: named.or_else(|| print.info.map(|(name, version)| ClientInfo { name, version })),
        alone,
    }
}
