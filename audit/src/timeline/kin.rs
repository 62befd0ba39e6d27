//! Which fuller prints a print may belong to, found by what both tell instead of one by one.
//! Knows prints; what follows from several of them being possible is for [`super::client`].

use super::client::Print;
use crate::quick::HashMap;

/// Which facts a print tells, a bit each.
type Mask = u8;
const SUBJECT: Mask = 1;
const ADDRESS: Mask = 2;
const AGENT: Mask = 4;
const INFO: Mask = 8;
const MASKS: usize = 16;

/// What several prints have in common; a version only where it is compared.
type Shared<'p> = [Option<&'p str>; 5];

/// The different keys of some prints, as far as it matters how many there are.
#[derive(Clone, Debug, Default)]
enum Few {
    #[default]
    None,
    One(Print),
    Several,
}

impl Few {
    fn add(&mut self, key: &Print) {
        match self {
            Few::None => *self = Few::One(key.clone()),
            Few::One(known) if known != key => *self = Few::Several,
            _ => {}
        }
    }

    fn join(&mut self, other: &Few) {
        match other {
            Few::None => {}
            Few::One(key) => self.add(key),
            Few::Several => *self = Few::Several,
        }
    }
}

/// Prints by what they tell.
pub(super) struct Kin<'p> {
    prints: [Vec<&'p Print>; MASKS],
    /// By the masks of a print and of fuller ones: their keys, by what they share.
    tables: HashMap<(Mask, Mask), HashMap<Shared<'p>, Few>>,
    #[cfg(test)]
    pub(super) looks: u64,
}

impl<'p> Kin<'p> {
    pub(super) fn of(prints: impl IntoIterator<Item = &'p Print>) -> Self {
        let mut by_mask: [Vec<&Print>; MASKS] = Default::default();
        prints.into_iter().for_each(|print| by_mask[usize::from(mask(print))].push(print));
        Kin {
            prints: by_mask,
            tables: HashMap::default(),
            #[cfg(test)]
            looks: 0,
        }
    }

    /// The one key of all prints that tell more than `print` and nothing else than it does.
    pub(super) fn only(&mut self, print: &'p Print) -> Option<Print> {
        let own = mask(print);
        let mut found = Few::None;
        for fuller in (0..MASKS as Mask).filter(|fuller| fuller.count_ones() > own.count_ones()) {
            if self.prints[usize::from(fuller)].is_empty() {
                continue;
            }
            let looks = &mut 0;
            let prints = &self.prints;
            let table = self.tables.entry((own, fuller)).or_insert_with(|| {
                let mut table: HashMap<Shared<'p>, Few> = HashMap::default();
                for other in &prints[usize::from(fuller)] {
                    *looks += 1;
                    let key = other.key();
                    // Once with its version and once for prints that name none.
                    for shared in [shared(other, own, fuller, true), shared(other, own, fuller, false)] {
                        table.entry(shared).or_default().add(&key);
                    }
                }
                table
            });
            let version = print.info.as_ref().map_or("", |(_, version)| version);
            let wanted = if own & fuller & INFO != 0 && !version.is_empty() {
                let mut without = shared(print, own, fuller, true);
                without[4] = Some("");
                vec![shared(print, own, fuller, true), without]
            } else {
                vec![shared(print, own, fuller, false)]
            };
            for shared in wanted {
                *looks += 1;
                table.get(&shared).into_iter().for_each(|few| found.join(few));
            }
            #[cfg(test)]
            {
                self.looks += *looks;
            }
        }
        match found {
            Few::One(key) => Some(key),
            _ => None,
        }
    }
}

fn mask(print: &Print) -> Mask {
    let bit = |told: bool, bit: Mask| if told { bit } else { 0 };
    bit(print.subject.is_some(), SUBJECT)
        | bit(print.address.is_some(), ADDRESS)
        | bit(print.user_agent.is_some(), AGENT)
        | bit(print.info.is_some(), INFO)
}

/// What a print tells of what two masks share. An authenticated subject outlives addresses.
fn shared(print: &Print, own: Mask, other: Mask, version: bool) -> Shared<'_> {
    let both = own & other;
    let address = both & ADDRESS != 0 && both & SUBJECT == 0;
    let info = print.info.as_ref().filter(|_| both & INFO != 0);
    [
        print.subject.as_deref().filter(|_| both & SUBJECT != 0),
        print.address.as_deref().filter(|_| address),
        print.user_agent.as_deref().filter(|_| both & AGENT != 0),
        info.map(|(name, _)| &**name),
        info.filter(|_| version).map(|(_, version)| &**version),
    ]
}
