//! Clients: which contacts are held to come from the same one, and by what.
//! Knows identities alone; two people behind one address with one program look like one client, and findings say so.

use super::kin::Kin;
use crate::event::{ClientInfo, Text};
use crate::finding::SameBy;
use crate::join::Contact;
use crate::quick::HashMap;
use std::collections::BTreeSet;

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
pub(super) struct Print {
    pub(super) subject: Option<Text>,
    pub(super) address: Option<Text>,
    pub(super) user_agent: Option<Text>,
    /// Name, and version where no user agent tells it.
    pub(super) info: Option<(Text, Text)>,
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
    pub(super) fn key(&self) -> Print {
        let address = self.address.clone().filter(|_| self.subject.is_none());
        Print { address, ..self.clone() }
    }

    /// Whether both may be one client: nothing that both tell differs. [`Kin`] finds the same without comparing each with all.
    #[cfg(test)]
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
    let mut of_session: HashMap<&str, usize> = HashMap::default();
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
    let mut kin = Kin::of(distinct.iter().copied());
    let resolved: HashMap<&Print, Print> =
        distinct.iter().map(|print| (*print, resolve(print, &mut kin))).collect();
    let mut order: HashMap<&Print, usize> = HashMap::default();
    let mut groups: Vec<(&Print, usize)> = Vec::new();
    let mut of_print: Vec<Option<usize>> = vec![None; prints.len()];
    drop(of_session);
    // Which group each contact is of, and how many each has: contacts are moved once, and not at all if all are of one.
    for of in &mut of_contact {
        let print = *of;
        *of = *of_print[print].get_or_insert_with(|| {
            let print = &resolved[&prints[print]];
            *order.entry(print).or_insert_with(|| {
                groups.push((print, 0));
                groups.len() - 1
            })
        });
        groups[*of].1 += 1;
    }
    let mut parted: Vec<Vec<Contact>> = match &groups[..] {
        [_] => vec![contacts],
        _ => {
            let mut parted: Vec<Vec<Contact>> =
                groups.iter().map(|(_, count)| Vec::with_capacity(*count)).collect();
            contacts.into_iter().zip(of_contact).for_each(|(contact, group)| parted[group].push(contact));
            parted
        }
    };
    let groups = groups.iter().map(|(print, _)| (*print).clone()).zip(parted.drain(..)).collect::<Vec<_>>();
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
fn resolve<'p>(print: &'p Print, kin: &mut Kin<'p>) -> Print {
    // A subject or an address with a program is as much as logs tell; what a session's `initialize` would add is missing
    // from every log that starts in its middle, and tells no clients apart.
    if print.info.is_some() && (print.subject.is_some() || print.address.is_some()) {
        return print.key();
    }
    kin.only(print).unwrap_or_else(|| print.key())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The same one by one.
    fn slowly(print: &Print, all: &BTreeSet<&Print>) -> Print {
        if print.info.is_some() && (print.subject.is_some() || print.address.is_some()) {
            return print.key();
        }
        let told = |p: &Print| {
            let told = [p.subject.is_some(), p.address.is_some(), p.user_agent.is_some(), p.info.is_some()];
            told.iter().filter(|told| **told).count()
        };
        let fuller = all.iter().filter(|other| told(other) > told(print) && print.compatible(other));
        let keys: BTreeSet<Print> = fuller.map(|other| other.key()).collect();
        match keys.into_iter().collect::<Vec<_>>().as_slice() {
            [only] => only.clone(),
            _ => print.key(),
        }
    }

    fn every_print() -> Vec<Print> {
        let texts = |all: &[&str]| -> Vec<Option<Text>> {
            std::iter::once(None).chain(all.iter().map(|text| Some(Text::from(*text)))).collect()
        };
        let infos = [("p", ""), ("p", "1"), ("p", "2"), ("q", "1")];
        let infos = infos.map(|(name, version)| Some((Text::from(name), Text::from(version))));
        let infos: Vec<_> = std::iter::once(None).chain(infos).collect();
        let mut all = Vec::new();
        for subject in texts(&["s", "t"]) {
            for address in texts(&["a", "b"]) {
                for user_agent in texts(&["u"]) {
                    for info in &infos {
                        let (subject, address) = (subject.clone(), address.clone());
                        all.push(Print {
                            subject,
                            address,
                            user_agent: user_agent.clone(),
                            info: info.clone(),
                        });
                    }
                }
            }
        }
        all
    }

    #[test]
    fn a_print_goes_by_the_one_that_tells_more_as_if_compared_with_all() {
        let all = every_print();
        let mut seed = 7_u64;
        for _ in 0..3000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let some: BTreeSet<&Print> =
                (0..1 + seed % 6).map(|n| &all[(seed >> (n * 9 + 8)) as usize % all.len()]).collect();
            let mut kin = Kin::of(some.iter().copied());
            for print in &some {
                assert_eq!(resolve(print, &mut kin), slowly(print, &some), "{print:?} among {some:?}");
            }
        }
    }

    #[test]
    fn many_prints_are_not_compared_each_with_all() {
        let looks = |count: u32| {
            let of = |n: u32| Print { address: Some(format!("192.0.2.{n}").into()), ..Print::default() };
            let fuller =
                |n| Print { user_agent: Some("u".into()), info: Some(("p".into(), "".into())), ..of(n) };
            let all: Vec<Print> = (0..count).flat_map(|n| [of(n), fuller(n)]).collect();
            let mut kin = Kin::of(&all);
            all.iter().for_each(|print| _ = resolve(print, &mut kin));
            kin.looks
        };
        assert!(looks(4000) <= looks(1000) * 5, "{} {}", looks(1000), looks(4000));
    }
}
