//! Clients: which contacts are held to come from the same one, and by what.
//! Knows identities alone; two people behind one address with one program look like one client, and findings say so.

use crate::event::{ClientInfo, Text};
use crate::finding::SameBy;
use crate::join::Contact;
use crate::verdict::BuildRapid;
use std::collections::{BTreeSet, HashMap};

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

    /// Whether nothing names it.
    #[must_use]
    pub fn is_nobody(&self) -> bool {
        self.subject.is_none() && self.address.is_none() && self.program().is_none()
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
    /// Takes over what a contact tells in addition.
    fn widen(&mut self, contact: &Contact) {
        let identity = &contact.identity;
        let fill = |slot: &mut Option<Text>, from: &Option<Text>| {
            if slot.is_none() {
                slot.clone_from(from);
            }
        };
        fill(&mut self.subject, &identity.subject);
        if self.address.is_none() {
            self.address = address(contact);
        }
        fill(&mut self.user_agent, &identity.user_agent);
        if self.info.is_none() {
            self.info = identity.client.as_ref().map(|info| (info.name.clone(), info.version.clone()));
        }
    }

    /// Beside a user agent the version in `clientInfo` tells no programs apart: hosts count it up per window or session.
    fn settle(mut self) -> Print {
        if let (Some(_), Some((_, version))) = (&self.user_agent, &mut self.info) {
            *version = Text::default();
        }
        self
    }

    /// What a group goes by: a subject is the same wherever it comes from.
    fn key(&self) -> Print {
        let address = self.address.clone().filter(|_| self.subject.is_none());
        Print { address, ..self.clone() }
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
    // A print per session, not per contact: most contacts have nothing to add to it.
    let mut prints: Vec<Print> = Vec::new();
    let mut of_session: HashMap<&str, usize, BuildRapid> = HashMap::default();
    let mut of_contact: Vec<usize> = Vec::with_capacity(contacts.len());
    for contact in &contacts {
        let at = match contact.session() {
            Some(session) => *of_session.entry(session).or_insert_with(|| {
                prints.push(Print::default());
                prints.len() - 1
            }),
            None => {
                prints.push(Print::default());
                prints.len() - 1
            }
        };
        prints[at].widen(contact);
        of_contact.push(at);
    }
    let prints: Vec<Print> = prints.into_iter().map(Print::settle).collect();
    let distinct: BTreeSet<&Print> = prints.iter().collect();
    let resolved: HashMap<&Print, Print, BuildRapid> =
        distinct.iter().map(|print| (*print, resolve(print, &distinct))).collect();
    let mut order: HashMap<&Print, usize, BuildRapid> = HashMap::default();
    let mut of_print: Vec<Option<usize>> = vec![None; prints.len()];
    let mut groups: Vec<(Print, Vec<Contact>)> = Vec::new();
    drop(of_session);
    for (contact, print) in contacts.into_iter().zip(of_contact) {
        let at = *of_print[print].get_or_insert_with(|| {
            let print = &resolved[&prints[print]];
            *order.entry(print).or_insert_with(|| {
                groups.push((print.clone(), Vec::new()));
                groups.len() - 1
            })
        });
        groups[at].1.push(contact);
    }
    let alone = groups.len() == 1 && !others;
    groups.into_iter().map(|(print, contacts)| (client(print, &contacts, alone), contacts)).collect()
}

/// The address: the first forwarded one, else the peer's.
fn address(contact: &Contact) -> Option<Text> {
    let identity = &contact.identity;
    let forwarded = identity.forwarded_for.as_deref().and_then(|list| list.split(',').next()).map(str::trim);
    forwarded.filter(|first| !first.is_empty()).map(Text::from).or_else(|| identity.remote_addr.clone())
}

/// The print that a contact goes by: its own, or the only one that is compatible and tells more.
fn resolve(print: &Print, all: &BTreeSet<&Print>) -> Print {
    // A subject or an address with a program is as much as logs tell; what a session's `initialize` would add is missing
    // from every log that starts in its middle, and tells no clients apart.
    if print.info.is_some() && (print.subject.is_some() || print.address.is_some()) {
        return print.key();
    }
    let told = |p: &Print| {
        [p.subject.is_some(), p.address.is_some(), p.user_agent.is_some(), p.info.is_some()]
            .iter()
            .filter(|x| **x)
            .count()
    };
    let fuller = all.iter().filter(|other| told(other) > told(print) && print.compatible(other));
    let mut keys: Vec<Print> = fuller.map(|other| other.key()).collect();
    keys.sort_unstable();
    keys.dedup();
    match keys.as_slice() {
        [only] => only.clone(),
        _ => print.key(),
    }
}

fn client(print: Print, contacts: &[Contact], alone: bool) -> Client {
    let named = contacts.iter().find_map(|contact| contact.identity.client.clone());
    Client {
        subject: print.subject,
        address: print.address.or_else(|| contacts.first().and_then(address)),
        user_agent: print.user_agent,
        info: named.or_else(|| print.info.map(|(name, version)| ClientInfo { name, version })),
        alone,
    }
}
